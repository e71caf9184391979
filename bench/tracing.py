"""Count system calls with strace: syncs, write calls and bytes, of the measured files alone."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from bench.launch import ask

_SYNCS = ("fsync", "fdatasync", "sync_file_range", "msync")
_WRITES = ("write", "pwrite64", "writev", "pwritev", "pwritev2")
_BEGIN = re.compile(r"^(?P<pid>\d+) +(?P<call>\w+)\(\d+<(?P<file>[^>]*)>")
_RESUMED = re.compile(r"^(?P<pid>\d+) +<\.\.\. \w+ resumed>")
_RESULT = re.compile(r"= (?P<bytes>\d+)$")


def counted(job: Mapping[str, Any], log: Path) -> tuple[dict[str, Any], Counter[str]]:
    """Run the job under strace; what it said, and how often which call touched its folder.

    Everything counts: opening, the writes themselves, checkpoints of the log and the last close.
    """
    if shutil.which("strace") is None:
        raise SystemExit("bench: strace is missing. Install it with your package manager.")
    calls = ",".join([*_SYNCS, *_WRITES])
    options = ["-f", "--seccomp-bpf", "-qq", "-y", "-s", "0", "-e", f"trace={calls}"]
    found = ask(job, under=["strace", *options, "-o", str(log)])
    with log.open() as lines:
        return found, _tally(lines, str(job["folder"]))


def _tally(lines: Iterable[str], folder: str) -> Counter[str]:
    """A call that another thread interrupted comes in two lines; its bytes stand in the second."""
    tally: Counter[str] = Counter()
    pending: dict[str, bool] = {}
    for line in lines:
        begun, resumed = _BEGIN.match(line), _RESUMED.match(line)
        if begun:
            kind = _kind(begun["call"]) if begun["file"].startswith(folder) else None
            tally[kind or "elsewhere"] += 1
            pending[begun["pid"]] = kind == "writes"
        result = _RESULT.search(line.rstrip())
        known = begun or resumed
        if result and known and pending.pop(known["pid"], False):
            tally["bytes"] += int(result["bytes"])
    return tally


def _kind(call: str) -> str:
    return "syncs" if call in _SYNCS else "writes"
