"""The project's commands. Nothing to install first: any Python 3.11 or newer runs them.

python3 tasks.py demo      watch memory survive a kill, straight from this checkout, offline
python3 tasks.py check     format, lint, types, tidiness and all tests, in an environment of its own
python3 tasks.py format    put the code into the project's form
"""

import argparse
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

# Before anything that an older Python cannot run; the syntax above and below is readable to it.
if sys.version_info < (3, 11):
    sys.exit("tasks.py needs Python 3.11 or newer; this is " + sys.version.split()[0] + ".")

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
PYTHON = ENVIRONMENT / "bin" / "python"
REQUIREMENTS = ROOT / "requirements-dev.txt"
SLOW = ("tests/crash", "tests/simulate")

# Fetched only where Python comes without ensurepip (Debian parts them); checked before it is run.
PIP_WHEEL = "pip-26.3-py3-none-any.whl"
PIP_SHA256 = "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"
NO_PIP = "Install ensurepip (Debian, Ubuntu: apt install python3-venv) and repeat the command."


class Failed(Exception):
    """A stage ended badly; the message is for the person at the terminal."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


def main(argv: list[str]) -> int:
    own, extra = split_at_dashes(argv)
    arguments = parse(own)
    try:
        if arguments.verb == "demo":
            return demo(extra)
        if arguments.verb == "format":
            return format_code()
        return check(extra, fast=arguments.fast)
    except Failed as failure:
        print(f"tasks.py: {failure}", file=sys.stderr)
        return failure.code
    except KeyboardInterrupt:
        print("tasks.py: interrupted", file=sys.stderr)
        return 130


def split_at_dashes(argv: list[str]) -> tuple[list[str], list[str]]:
    """What stands after `--` belongs to the program that is called."""
    if "--" not in argv:
        return argv, []
    place = argv.index("--")
    return argv[:place], argv[place + 1 :]


def parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="tasks.py",
        description=__doc__,
        epilog="What follows `--` goes to the demo or to pytest: tasks.py check -- -k forget",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verbs = parser.add_subparsers(dest="verb", metavar="demo | check | format", required=True)
    verbs.add_parser("demo", help="watch memory survive a kill")
    verbs.add_parser("format", help="format the code and fix what can be fixed by machine")
    checking = verbs.add_parser("check", help="everything that must hold before a change lands")
    checking.add_argument(
        "--fast", action="store_true", help="leave out " + " and ".join(SLOW) + " (inner loop)"
    )
    return parser.parse_args(argv)


def demo(extra: list[str]) -> int:
    """Runs from the source tree, so that a fresh clone needs no installation and no network."""
    # Without the safe path a file of the folder one stands in (a json.py, say) would be imported.
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONSAFEPATH": "1"}
    return run([sys.executable, "-m", "holdfast", "demo", *extra], environment)


def format_code() -> int:
    python = ready_environment()
    stage("format", [python, "-m", "ruff", "format", "."])
    stage("lint", [python, "-m", "ruff", "check", "--fix", "."])
    return 0


def check(extra: list[str], *, fast: bool) -> int:
    started = time.monotonic()
    python = ready_environment()
    stage("format", [python, "-m", "ruff", "format", "--check", "."])
    stage("lint", [python, "-m", "ruff", "check", "."])
    stage("types", [python, "-m", "mypy", "--strict"])
    install_wheel(python)
    left_out = [f"--ignore={folder}" for folder in SLOW] if fast else []
    # One worker per core up to two: several tests start processes of their own.
    workers = ["-n", "2"] if (os.cpu_count() or 1) > 1 else []
    stage("tests", [python, "-m", "pytest", *workers, *left_out, *extra])
    print(f"check: all passed in {time.monotonic() - started:.0f} s" + (" (fast)" if fast else ""))
    return 0


def install_wheel(python: str) -> None:
    """Tests run against what a user would install: a file missing from the wheel is a failure."""
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--force-reinstall"]
    stage("wheel", [python, "-m", "pip", "install", *options, "."])


def stage(name: str, command: list[str]) -> None:
    """Run one stage; the first that fails ends everything and says how to repeat it alone."""
    print(f"== {name}", flush=True)
    code = run(command, clean_environment(), folder=ROOT)
    if code:
        again = " ".join(command).replace(str(ROOT) + os.sep, "")
        raise Failed(f"{name} failed (exit code {code}). Alone: {again}", code if code > 0 else 1)


def clean_environment() -> dict[str, str]:
    """The caller's environment without what would put other code in place of the wheel."""
    unwanted = ("PYTHONPATH", "PYTHONHOME", "PIP_USER", "PIP_TARGET", "PIP_PREFIX")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}


def run(command: list[str], environment: dict[str, str], *, folder: Path | None = None) -> int:
    with subprocess.Popen(command, cwd=folder, env=environment) as child:
        try:
            return child.wait()
        except KeyboardInterrupt:
            # A terminal sends Ctrl-C to the child as well: it gets time to end in its own way.
            try:
                child.wait(timeout=10)
            except (subprocess.TimeoutExpired, KeyboardInterrupt):
                child.terminate()
            raise


def ready_environment() -> str:
    """The path of a Python that has the pinned tools; made or renewed only when it must be."""
    if not environment_fits():
        make_environment()
    stamp = ENVIRONMENT / "requirements.sha256"
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != wanted:
        command = [str(PYTHON), "-m", "pip", "install", "--quiet", "-r", str(REQUIREMENTS)]
        stage("development tools", command)
        stamp.write_text(wanted)
    return str(PYTHON)


def environment_fits() -> bool:
    """Whether .venv works, has pip and is of the Python that runs this."""
    if not PYTHON.exists():
        return False
    asked = "import pip, sys; print(sys.version_info[:2])"
    answer = subprocess.run([str(PYTHON), "-I", "-c", asked], capture_output=True, text=True)
    return answer.stdout.strip() == str(sys.version_info[:2])


def make_environment() -> None:
    if ENVIRONMENT.exists() and not (ENVIRONMENT / "pyvenv.cfg").exists():
        raise Failed(f"{ENVIRONMENT} is not a virtual environment. Move it away and repeat.")
    print("== virtual environment (.venv)", flush=True)
    make = [sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)]
    if subprocess.run(make, env=clean_environment(), capture_output=True).returncode == 0:
        return
    made = subprocess.run([*make, "--without-pip"], capture_output=True, text=True)
    if made.returncode:
        said = (made.stderr or made.stdout).strip()
        raise Failed(f"could not make a virtual environment: {said[-300:]}\n{NO_PIP}")
    fetch_pip()


def fetch_pip() -> None:
    """Put pip into an environment whose Python has no ensurepip, with nothing but the index."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/") + "/pip/"
    try:
        with urllib.request.urlopen(index, timeout=60) as answer:
            page = answer.read().decode()
        found = re.search(rf'href="([^"#]*{re.escape(PIP_WHEEL)})', page)
        if found is None:
            raise Failed(f"{index} does not list {PIP_WHEEL}, and Python lacks ensurepip. {NO_PIP}")
        with urllib.request.urlopen(urllib.parse.urljoin(index, found[1]), timeout=60) as answer:
            content = answer.read()
    except OSError as error:
        raise Failed(
            f"Python lacks ensurepip, and pip cannot be fetched: {error}. {NO_PIP}"
        ) from error
    if hashlib.sha256(content).hexdigest() != PIP_SHA256:
        raise Failed(f"{PIP_WHEEL} from {index} is not the file expected; it was not run. {NO_PIP}")
    with tempfile.TemporaryDirectory(prefix="holdfast-pip-") as folder:
        wheel = Path(folder) / PIP_WHEEL
        wheel.write_bytes(content)
        # A wheel is a zip file, which Python can run pip from.
        install = [str(PYTHON), f"{wheel}/pip", "install", "--quiet", "--no-index", str(wheel)]
        stage("pip", install)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
