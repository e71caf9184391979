"""Compiles record.c and names the environment that loads it into a child process.

The layer records, delays or fails a process's calls to the disk; record.c says how. Used by
tests/crash and by bench/ (the delayed sync).
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SOURCE = Path(__file__).with_name("record.c")


def compiler() -> list[str]:
    """The C compiler of the machine, or the one in the PyPI package ziglang."""
    found = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if found:
        return [found]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise RuntimeError(
        "No C compiler: tests/crash compiles record.c, the layer that records calls to the disk. "
        "Install one (Debian: apt install gcc) or run `pip install ziglang`."
    )


def library(directory: Path | None = None) -> Path:
    """The compiled layer; compiled once for each version of the source."""
    directory = directory or _own_folder()
    version = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    target = directory / f"holdfast-record-{version}.so"
    if target.exists():
        return target
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        made = Path(scratch) / target.name
        command = [
            *compiler(),
            "-O2",
            "-shared",
            "-fPIC",
            "-o",
            str(made),
            str(SOURCE),
            "-lpthread",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"record.c does not compile with {command[0]}:\n{done.stderr}")
        # Two test processes may compile at once; each finds a whole file under the name.
        made.rename(target)
    return target


def _own_folder() -> Path:
    """A folder that nobody else can write: what lies in it is loaded into our processes."""
    folder = Path(tempfile.gettempdir()) / f"holdfast-crash-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise RuntimeError(f"{folder} can be written by others; remove it and try again.")
    return folder


def environment(
    directory: Path | None = None, *, log: Path | None = None, sync_delay_us: int = 0
) -> dict[str, str]:
    """What to add to a child's environment to watch a folder, record it, delay its syncs."""
    wanted = {"LD_PRELOAD": str(library())}
    if directory is not None:
        wanted["CRASH_DIR"] = str(directory.resolve())
    if log is not None:
        wanted["CRASH_LOG"] = str(log)
    if sync_delay_us:
        wanted["CRASH_SYNC_DELAY_US"] = str(sync_delay_us)
    return wanted
