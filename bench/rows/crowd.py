"""Eight threads on one file, each waiting for its own write: with this disk, and with a slower one.

The preload layer adds a millisecond to each sync in the delayed runs and counts in both. A sync's
time is the mean of the syncs of the same run, as that layer saw them.
"""

from __future__ import annotations

from bench import delay
from bench.measure import ratios, spread
from bench.plan import Plan
from bench.readings import Bar, Readings, at_least, at_most
from bench.systems import LABELS
from bench.tracing import counted

NAME = "crowd"
_SYSTEMS = ("holdfast", "holdfast-normal", "floor", "floor-own", "session", "saver", "saver-own")
_STRACED = "holdfast:strace"
CONTENDERS = (*(f"{system}:{us}" for us in (0, 1000) for system in _SYSTEMS), _STRACED)

_THREADS = 8
_EACH = 250


def measure(contender: str, plan: Plan) -> dict[str, float]:
    system, how = contender.split(":")
    with plan.disk() as folder:
        files = folder / "files"
        files.mkdir()
        load = {"threads": _THREADS, "each": plan.scaled(_EACH)}
        job = {"job": "crowd", "system": system, "folder": str(files), **load}
        if contender == _STRACED:
            found, tally = counted(job, folder / "strace.log")
            return {"a_sync": found["acknowledged"] / tally["syncs"]}
        found = delay.run(job, int(how), folder / "syncs")
    return {
        "per_second": found["per_second"],
        "a_sync": found["acknowledged"] / max(1, found["syncs"]),
        "p50_ms": found["p50_ms"],
        "worst_ms": found["worst_ms"],
        "worst_syncs": found["worst_ms"] / found["sync_ms"] if found["sync_ms"] else 0.0,
        "sync_ms": found["sync_ms"],
        "errors": found["errors"],
    }


def bars(readings: Readings) -> list[Bar]:
    return [bar for us in (1000, 0) for bar in _bars(readings, us)] + [
        at_least(
            "batches a sync, 8 threads, counted by strace",
            3,
            readings.series(NAME, _STRACED, "a_sync"),
        ),
        at_most("lock errors, 8 threads, all runs", 0, _errors(readings)),
    ]


def _bars(readings: Readings, us: int) -> list[Bar]:
    ours, locked = f"holdfast:{us}", f"floor:{us}"
    disk = "a sync takes 1 ms more" if us else "this disk"

    def cell(contender: str, metric: str) -> str:
        return spread(readings.series(NAME, contender, metric))

    rates = [readings.series(NAME, one, "per_second") for one in (ours, locked)]
    saver_waits = f"{cell(f'saver-own:{us}', 'worst_ms')} ms SqliteSaver, own connections"
    return [
        at_least(
            f"batches a sync, 8 threads, {disk}",
            3,
            readings.series(NAME, ours, "a_sync"),
            floor=cell(locked, "a_sync"),
            peer=f"{cell(f'saver:{us}', 'a_sync')} SqliteSaver",
        ),
        at_least(
            f"rate over one locked connection, 8 threads, {disk}",
            2.5 if us else 1,
            ratios(*rates),
            unit="×",
            floor=f"{cell(locked, 'per_second')}/s",
            peer=f"{cell(f'session:{us}', 'per_second')}/s SQLiteSession",
        ),
        at_most(
            f"longest wait, 8 threads, {disk}",
            20,
            readings.series(NAME, ours, "worst_syncs"),
            unit=" syncs",
            floor=f"{cell(locked, 'worst_syncs')} syncs",
            peer=saver_waits,
        ),
    ]


def table(readings: Readings) -> list[str]:
    lines = [
        "| System | Sync | Writes/s | Batches a sync | p50 ms | Longest wait, ms | Longest wait, "
        "syncs | Mean sync, ms | Errors |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for contender in readings.contenders(NAME):
        if contender != _STRACED:
            lines.append(_line(readings, contender))
    return lines


def _line(readings: Readings, contender: str) -> str:
    system, us = contender.split(":")
    metrics = ("per_second", "a_sync", "p50_ms", "worst_ms", "worst_syncs", "sync_ms", "errors")
    cells = [spread(readings.series(NAME, contender, metric)) for metric in metrics]
    sync = "+1 ms" if int(us) else "this disk"
    return f"| {LABELS[system]} | {sync} | {' | '.join(cells)} |"


def _errors(readings: Readings) -> list[float]:
    return [one for us in (0, 1000) for one in readings.series(NAME, f"holdfast:{us}", "errors")]
