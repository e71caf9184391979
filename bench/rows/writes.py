"""What one acknowledged write costs: on disk as a ratio to the floor, on a RAM disk as CPU time.

On disk system and floor write in turn in one process, so that the ratio is of neighbouring syncs.
"""

from __future__ import annotations

from bench.launch import ask
from bench.measure import spread
from bench.plan import Plan
from bench.readings import Bar, Readings, at_most
from bench.systems import LABELS

NAME = "writes"
CONTENDERS = (
    "holdfast:message",
    "floor:message",
    "holdfast:fact",
    "floor:fact",
    "holdfast:turn",
    "floor:turn",
    "holdfast-normal:message",
    "session:message",
    "session:turn",
    "saver:message",
    "saver:turn",
    "store:fact",
    "mem0:fact",
)

_COUNT = 1_000
_SLOW_PEERS = {"mem0": 300}
_CALLS = {
    "holdfast:message": "`thread.add`",
    "holdfast-normal:message": "`thread.add`",
    "holdfast:fact": "`remember`",
    "floor:message": "insert and commit, a message",
    "holdfast:turn": "`batch()`: 3 messages, state, fact",
    "floor:fact": "insert and commit, a fact",
    "floor:turn": "5 inserts and a commit",
    "session:message": "`add_items`, one item",
    "session:turn": "`add_items`, 2 items",
    "saver:message": "`put`, 5 KB state",
    "saver:turn": "`put` and `put_writes`",
    "store:fact": "`put`",
    "mem0:fact": "`add`, no embedding",
}


def measure(contender: str, plan: Plan) -> dict[str, float]:
    system, operation = contender.split(":")
    count = plan.scaled(_SLOW_PEERS.get(system, _COUNT))
    job = {"system": system, "operation": operation, "count": count}
    with plan.disk() as folder:
        disk = ask({"job": "duel", "folder": str(folder), **job})
    with plan.ram() as folder:
        ram = ask({"job": "write", "folder": str(folder), **job})
    return {
        "disk_p50_us": disk["p50_us"],
        "disk_p99_us": disk["p99_us"],
        "floor_p50_us": disk["floor_p50_us"],
        "over_floor": disk["over_floor"],
        "ram_p50_us": ram["p50_us"],
        "ram_cpu_us": ram["cpu_us"],
        "late_over_early": ram["late_over_early"],
    }


def bars(readings: Readings) -> list[Bar]:
    return [
        bar
        for verb, operation, peer in (
            ("thread.add", "message", "session"),
            ("remember", "fact", "store"),
        )
        for bar in _bars(readings, verb, operation, peer)
    ]


def _bars(readings: Readings, verb: str, operation: str, peer: str) -> list[Bar]:
    ours, floor, best = f"holdfast:{operation}", f"floor:{operation}", f"{peer}:{operation}"

    def cell(contender: str, metric: str) -> str:
        return f"{spread(readings.series(NAME, contender, metric), 0)} µs"

    return [
        at_most(
            f"{verb} acknowledged on disk, over a raw insert and commit (p50)",
            2.5,
            readings.series(NAME, ours, "over_floor"),
            unit="×",
            floor=cell(ours, "floor_p50_us"),
            peer=f"{cell(best, 'disk_p50_us')} {LABELS[peer]}",
        ),
        at_most(
            f"{verb} on a RAM disk, CPU",
            150,
            readings.series(NAME, ours, "ram_cpu_us"),
            unit=" µs",
            floor=cell(floor, "ram_cpu_us"),
            peer=f"{cell(best, 'ram_cpu_us')} {LABELS[peer]}",
        ),
    ]


def table(readings: Readings) -> list[str]:
    lines = [
        "| System | Call | Disk p50, µs | Disk p99, µs | Over the floor | RAM disk p50, µs | "
        "RAM disk CPU, µs | Last tenth over first |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return lines + [_line(readings, contender) for contender in readings.contenders(NAME)]


def _line(readings: Readings, contender: str) -> str:
    system = contender.split(":")[0]
    p50 = readings.series(NAME, contender, "disk_p50_us")
    over = readings.series(NAME, contender, "over_floor")
    cells = {
        metric: spread(readings.series(NAME, contender, metric), 0)
        for metric in ("disk_p99_us", "ram_p50_us", "ram_cpu_us")
    }
    grows = spread(readings.series(NAME, contender, "late_over_early"), 2)
    return (
        f"| {LABELS[system]} | {_CALLS[contender]} | {spread(p50, 0)} | {cells['disk_p99_us']} | "
        f"{spread(over, 2)} | {cells['ram_p50_us']} | {cells['ram_cpu_us']} | {grows} |"
    )
