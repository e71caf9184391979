"""The two commands that README promises, as far as they can be tried within themselves."""

import os
import signal
import subprocess
import sys

import pytest

from tests.meta.repository import ROOT

TASKS = str(ROOT / "tasks.py")
DEMO = "python3 tasks.py demo"
CHECK = "python3 tasks.py check"


# The Python that the test environment was made from: nothing of ours is installed in it.
BARE = f"{sys.base_prefix}/bin/python3.{sys.version_info.minor}"


def tasks(*arguments, **options):
    return subprocess.run([BARE, TASKS, *arguments], capture_output=True, text=True, **options)


def test_help_names_every_verb():
    """Whoever types --help sees what there is."""
    answer = tasks("--help")

    assert answer.returncode == 0
    assert {"demo", "check", "format"} <= set(answer.stdout.split())


@pytest.mark.parametrize("arguments", [(), ("chekc",), ("check", "--fats"), ("demo", "loudly")])
def test_a_wrong_command_is_refused_with_a_hint(arguments):
    """Exit code 2, and the right words on the screen; nothing has been done."""
    answer = tasks(*arguments)

    assert answer.returncode == 2
    assert "demo | check | format" in answer.stderr


def test_the_demo_runs_from_the_checkout_with_nothing_installed(tmp_path):
    """As on a new machine: a bare Python, an empty home, a folder that is not the checkout."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}

    answer = tasks("demo", cwd=tmp_path, env=environment)

    assert answer.returncode == 0, answer.stderr
    assert "Welcome back. You left off at:" in answer.stdout


def test_ctrl_c_ends_with_130(tmp_path):
    """The shell's own convention, without a traceback."""
    # The demo is replaced by a program that says when it is ready and then waits for the signal.
    package = tmp_path / "src" / "holdfast"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        "import signal, sys\n"
        "try:\n    print('ready', flush=True)\n    signal.pause()\n"
        "except KeyboardInterrupt:\n    sys.exit(1)\n"
    )
    copy = tmp_path / "tasks.py"
    copy.write_text((ROOT / "tasks.py").read_text())
    command = [sys.executable, str(copy), "demo"]

    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:
        assert running.stdout.readline() == "ready\n"
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=30)

    assert (running.returncode, said) == (130, "tasks.py: interrupted\n")


def test_ci_runs_what_the_readme_says():
    """Green in CI means what it means on the reader's machine."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")

    assert DEMO in readme
    assert CHECK in readme
    assert script.splitlines()[-1] == f"exec {CHECK}"


def test_development_tools_are_pinned_exactly():
    """The same tools everywhere, from wherever the reader's pip gets its packages."""
    lines = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8").splitlines()

    requirements = [line for line in lines if line and not line.startswith("#")]

    assert [line for line in requirements if line.count("==") != 1 or " " in line] == []
