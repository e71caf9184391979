"""Syncs, write calls and bytes of one writer, counted by strace: hardly touched by the neighbours.

Our own writes and the floor's are counted over 5,000, as the bar says; the peers' over 1,000.
"""

from __future__ import annotations

from bench.measure import spread
from bench.plan import Plan, size_bytes
from bench.readings import Bar, Readings, at_most
from bench.systems import LABELS
from bench.tracing import counted

NAME = "syncs"
CONTENDERS = (
    "holdfast:message",
    "holdfast:fact",
    "holdfast:turn",
    "holdfast-normal:message",
    "floor:message",
    "floor:turn",
    "session:message",
    "session:turn",
    "saver:message",
    "saver:turn",
    "store:fact",
    "mem0:fact",
)

_OURS, _PEERS = 5_000, 1_000
_SLOW_PEERS = {"mem0": 300}
_WRITTEN = {
    "message": "a message",
    "fact": "a fact",
    "turn": "a turn of several messages",
    "holdfast:turn": "`batch()`: 3 messages, state, fact",
    "floor:turn": "5 rows of the same bytes",
    "session:turn": "a turn of 2 items",
    "saver:message": "`put` of a 5 KB state",
    "saver:turn": "a step: `put` and `put_writes`",
}


def measure(contender: str, plan: Plan) -> dict[str, float]:
    system, operation = contender.split(":")
    counts_for_the_bar = system.startswith(("holdfast", "floor"))
    count = plan.scaled(_OURS if counts_for_the_bar else _SLOW_PEERS.get(system, _PEERS))
    with plan.disk() as folder:
        files = folder / "files"
        files.mkdir()
        job = {"job": "write", "system": system, "operation": operation, "folder": str(files)}
        _, tally = counted({**job, "count": count, "warm": 0}, folder / "strace.log")
        left = size_bytes(files)
    return {
        "syncs": tally["syncs"] / count,
        "calls": tally["writes"] / count,
        "written_kb": tally["bytes"] / count / 1000,
        "kept_kb": left / count / 1000,
    }


def bars(readings: Readings) -> list[Bar]:
    found = []
    asked = (("thread.add", "message"), ("remember", "fact"), ("a whole batch", "turn"))
    for verb, operation in asked:
        peers = {"message": "session:message", "fact": "store:fact", "turn": "saver:turn"}
        floor = "floor:turn" if operation == "turn" else "floor:message"
        found.append(
            at_most(
                f"syncs for {verb}, one writer",
                1.03,
                readings.series(NAME, f"holdfast:{operation}", "syncs"),
                floor=spread(readings.series(NAME, floor, "syncs"), 2),
                peer=_named(readings, peers[operation]),
            )
        )
    return found


def table(readings: Readings) -> list[str]:
    lines = [
        "| System | One write | Syncs | Write calls | KB written | KB kept |",
        "|---|---|---|---|---|---|",
    ]
    for contender in readings.contenders(NAME):
        system, operation = contender.split(":")
        what = _WRITTEN.get(contender, _WRITTEN[operation])
        cells = [
            spread(readings.series(NAME, contender, metric), 2)
            for metric in ("syncs", "calls", "written_kb", "kept_kb")
        ]
        lines.append(f"| {LABELS[system]} | {what} | {' | '.join(cells)} |")
    return lines


def _named(readings: Readings, contender: str) -> str:
    label = LABELS[contender.split(":")[0]]
    return f"{spread(readings.series(NAME, contender, 'syncs'), 2)} {label}"
