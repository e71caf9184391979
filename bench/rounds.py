"""The rounds: every row asks each of its contenders once a round, in an order that rotates.

What disturbs the machine for a while then disturbs all of them, and medians and ratios stand.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Collection, Sequence

from bench import machine, rows
from bench.environment import CACHE
from bench.measure import rotated
from bench.plan import Plan
from bench.readings import Readings


def choose(names: Collection[str] | None) -> list[rows.Row]:
    """The rows of these names, or all."""
    known = [row.NAME for row in rows.ALL]
    for name in names or ():
        if name not in known:
            raise SystemExit(f"bench: no row is called {name!r}. There are: {', '.join(known)}.")
    return [row for row in rows.ALL if not names or row.NAME in names]


def run(
    chosen: Sequence[rows.Row], rounds: int, plan: Plan, systems: Collection[str] | None
) -> Readings:
    readings = Readings()
    for number in range(rounds):
        readings.note("machine", "sync", machine.measure(plan))
        for row in chosen:
            began = time.monotonic()
            for contender in rotated(row.CONTENDERS, number):
                if systems is None or contender.split(":")[0] in systems:
                    readings.note(row.NAME, contender, row.measure(contender, plan))
            took = time.monotonic() - began
            print(f"bench: round {number + 1}, {row.NAME}: {took:.0f} s", file=sys.stderr)
    (CACHE / "last.json").write_text(json.dumps(readings.as_json(), indent=1))
    return readings
