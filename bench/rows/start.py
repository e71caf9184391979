"""CPU time of an import and of the command, over a bare interpreter, in fresh processes."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.measure import spread
from bench.plan import Plan
from bench.readings import Bar, Readings, at_most

NAME = "start"
_IMPORTS = {
    "import holdfast": "import holdfast",
    "import sqlite3": "import sqlite3",
    "SqliteSaver": "from langgraph.checkpoint.sqlite import SqliteSaver",
    "openai-agents": "from agents import SQLiteSession",
    "mem0": "from mem0 import Memory",
}
_COMMAND = "holdfast --version"
CONTENDERS = ("import holdfast", _COMMAND, "import sqlite3", "SqliteSaver", "openai-agents", "mem0")

_PAIRS = 3


def measure(contender: str, plan: Plan) -> dict[str, float]:
    """A bare interpreter right beside each start, so that a busy moment is in both."""
    over = []
    for _ in range(_PAIRS):
        bare = _cpu_ms([sys.executable, "-c", "pass"])
        over.append(_cpu_ms(_command(contender)) - bare)
    return {"cpu_ms": statistics.median(over)}


def bars(readings: Readings) -> list[Bar]:
    def series(contender: str) -> list[float]:
        return readings.series(NAME, contender, "cpu_ms")

    beside = {
        "floor": f"{spread(series('import sqlite3'), 0)} ms sqlite3",
        "peer": f"{spread(series('SqliteSaver'), 0)} ms SqliteSaver",
    }
    return [
        at_most(
            "`import holdfast`, CPU over a bare interpreter",
            80,
            series("import holdfast"),
            unit=" ms",
            **beside,
        ),
        at_most(
            "`holdfast --version`, CPU over a bare interpreter",
            150,
            series(_COMMAND),
            unit=" ms",
            **beside,
        ),
    ]


def table(readings: Readings) -> list[str]:
    lines = ["| Start | CPU ms over a bare interpreter |", "|---|---|"]
    for contender in readings.contenders(NAME):
        shown = _IMPORTS.get(contender, contender)
        lines.append(f"| `{shown}` | {spread(readings.series(NAME, contender, 'cpu_ms'), 0)} |")
    return lines


def _command(contender: str) -> list[str]:
    if contender == _COMMAND:
        return [str(Path(sys.executable).parent / "holdfast"), "--version"]
    return [sys.executable, "-c", _IMPORTS[contender]]


def _cpu_ms(command: Sequence[str]) -> float:
    """User and system time of the child alone, from the kernel's own account."""
    quiet = {**os.environ, "MEM0_TELEMETRY": "False"}
    child = subprocess.Popen(command, env=quiet, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"bench: {' '.join(command)} failed.")
    return (used.ru_utime + used.ru_stime) * 1000
