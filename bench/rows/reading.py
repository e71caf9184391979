"""The newest twenty messages of a thread of 100, 1,000 and 10,000: it must not matter which."""

from __future__ import annotations

from bench.launch import ask
from bench.measure import ratios, spread
from bench.plan import Plan
from bench.readings import Bar, Readings, at_most
from bench.systems import LABELS

NAME = "reading"
CONTENDERS = ("holdfast", "floor", "session")
LENGTHS = (100, 1_000, 10_000)

_TIMES = 300
_LONGEST = LENGTHS[-1]
# The floor hands out dictionaries as everybody does, so it parses; the bodies alone, unparsed, and
# whole rows are shown too.
FLOOR = "select + json"
# "Flat" needs a number to be checked by; this one is within what a busy machine does to a p50.
_FLAT = 1.25
READERS = {
    "holdfast": ("messages", "episodes"),
    "floor": (FLOOR, "select", "whole rows + json"),
    "session": ("get_items",),
}
_CALLS = {
    "messages": "`thread.messages()`",
    "episodes": "`thread.episodes(limit=20)`",
    "select": "indexed select of bodies",
    FLOOR: "indexed select of bodies and `json.loads`",
    "whole rows + json": "indexed select of rows of 20 columns and `json.loads`",
    "get_items": "`get_items(20)`",
}


def measure(contender: str, plan: Plan) -> dict[str, float]:
    job = {"job": "read", "system": contender, "lengths": LENGTHS, "times": plan.scaled(_TIMES)}
    with plan.disk() as folder:
        return ask({**job, "folder": str(folder)})


def bars(readings: Readings) -> list[Bar]:
    floor = readings.series(NAME, "floor", f"{FLOOR}@{_LONGEST}")
    peer = readings.series(NAME, "session", f"get_items@{_LONGEST}")
    beside = {"floor": f"{spread(floor)} µs", "peer": f"{spread(peer)} µs SQLiteSession"}
    found = []
    for reader in READERS["holdfast"]:
        ours = readings.series(NAME, "holdfast", f"{reader}@{_LONGEST}")
        short = readings.series(NAME, "holdfast", f"{reader}@{LENGTHS[0]}")
        what = f"{reader}, last 20 of 10,000, over the raw select"
        found.append(at_most(what, 4, ratios(ours, floor), unit="×", **beside))
        what = f"{reader}, last 20: a thread of 10,000 over one of 100"
        found.append(at_most(what, _FLAT, ratios(ours, short), unit="×"))
    return found


def table(readings: Readings) -> list[str]:
    lines = [
        "| System | Call | " + " | ".join(f"of {length:,}, µs" for length in LENGTHS),
        "|---|---|" + "---|" * len(LENGTHS),
    ]
    lines[0] += " | first read after opening, of 10,000, µs |"
    lines[1] += "---|"
    for system in readings.contenders(NAME):
        lines += [_line(readings, system, reader) for reader in READERS[system]]
    return lines


def _line(readings: Readings, system: str, reader: str) -> str:
    metrics = [*(f"{reader}@{length}" for length in LENGTHS), f"first {reader}@{_LONGEST}"]
    cells = [spread(readings.series(NAME, system, metric)) for metric in metrics]
    return f"| {LABELS[system]} | {_CALLS[reader]} | {' | '.join(cells)} |"
