"""The bench's own virtual environment: made by the command itself, kept out of git.

The package is installed into it from the repository as any user would install it, so that what
is measured is the installed package and not the source tree that happens to lie beside the bench.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / ".bench"
VENV = CACHE / "venv"
PYTHON = VENV / "bin" / "python"
REQUIREMENTS = ROOT / "bench" / "requirements.txt"


def enter(arguments: list[str]) -> None:
    """Return if this process runs in the bench's environment; else become one that does."""
    if Path(sys.prefix).resolve() == VENV.resolve():
        return
    _make_sure_the_peers_are_there()
    _install_holdfast()
    script = str(ROOT / "bench" / "run.py")
    os.execv(PYTHON, [str(PYTHON), script, *arguments])


def _make_sure_the_peers_are_there() -> None:
    """Build the environment anew whenever the pinned peers or the interpreter have changed."""
    wanted = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    stamp = VENV / "peers.sha256"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print("bench: installing the peers into .bench/venv (once)", file=sys.stderr)
    shutil.rmtree(VENV, ignore_errors=True)
    venv.create(VENV, with_pip=True)
    _pip("install", "--quiet", "-r", str(REQUIREMENTS))
    stamp.write_text(wanted)


def _install_holdfast() -> None:
    """Install the working tree as a wheel: an editable install would measure the source tree."""
    if not (ROOT / "pyproject.toml").exists():
        print("bench: there is no package to install yet, peers only", file=sys.stderr)
        return
    _pip("install", "--quiet", str(ROOT))


def _pip(*arguments: str) -> None:
    command = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", *arguments]
    # pip's notes about unreachable mirrors are no concern of the reader; its failures are.
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"bench: pip failed.\n{done.stdout}{done.stderr}")
