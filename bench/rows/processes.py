"""Four processes on one file, a fixed load each; afterwards a fifth counts what is there."""

from __future__ import annotations

from bench.launch import ask, together
from bench.measure import spread
from bench.plan import Plan
from bench.readings import Bar, Readings, at_most
from bench.systems import LABELS

NAME = "processes"
CONTENDERS = ("holdfast", "floor", "session", "saver")

_EACH = 500
_NAMES = ("p0", "p1", "p2", "p3")


def measure(contender: str, plan: Plan) -> dict[str, float]:
    with plan.disk() as folder:
        shared = {"system": contender, "folder": str(folder)}
        each = plan.scaled(_EACH)
        jobs = [{"job": "share", "name": name, "each": each, **shared} for name in _NAMES]
        found = together(jobs)
        kept = ask({"job": "kept", "names": _NAMES, **shared})["kept"]
    acknowledged = sum(one["acknowledged"] for one in found)
    return {
        "errors": sum(one["errors"] for one in found),
        "lost": acknowledged - kept,
        "p50_ms": sorted(one["p50_ms"] for one in found)[len(found) // 2],
        "worst_ms": max(one["worst_ms"] for one in found),
        "per_second": sum(one["per_second"] for one in found),
    }


def bars(readings: Readings) -> list[Bar]:
    found = []
    for what, metric, limit, unit in (
        ("errors", "errors", 0, ""),
        ("acknowledged but not there afterwards", "lost", 0, ""),
        ("longest wait", "worst_ms", 1000, " ms"),
    ):
        floor, saver = (spread(readings.series(NAME, one, metric)) for one in ("floor", "saver"))
        found.append(
            at_most(
                f"{what}, 4 processes on one file",
                limit,
                readings.series(NAME, "holdfast", metric),
                unit=unit,
                floor=f"{floor}{unit}",
                peer=f"{saver}{unit} SqliteSaver",
            )
        )
    return found


def table(readings: Readings) -> list[str]:
    lines = [
        "| System | Writes/s, all four | p50 ms | Longest wait, ms | Errors | Lost |",
        "|---|---|---|---|---|---|",
    ]
    for system in readings.contenders(NAME):
        metrics = ("per_second", "p50_ms", "worst_ms", "errors", "lost")
        cells = [spread(readings.series(NAME, system, metric)) for metric in metrics]
        label = "raw SQLite, one connection a process" if system == "floor" else LABELS[system]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return lines
