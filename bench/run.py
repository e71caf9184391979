"""`python bench/run.py`: measure everything in one run and write docs/benchmarks.md.

This file needs nothing but Python: it makes the bench's own environment and goes on inside it.
`--only`, `--systems` and `--quick` print their tables and leave the published page alone, because
its figures always come from one whole run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import environment


def main(arguments: Sequence[str]) -> int:
    options = _options(arguments)
    environment.enter(list(arguments))
    # What follows needs the environment that the line above has just made sure of.
    from bench import report, rounds
    from bench.plan import Plan

    chosen = rounds.choose(options.only)
    systems = options.systems.split(",") if options.systems else None
    readings = rounds.run(chosen, options.rounds, Plan(quick=options.quick), systems)
    print(report.as_text(chosen, readings))
    if not (options.only or options.systems or options.quick):
        report.publish(chosen, readings, options.rounds)
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    about = "Measure holdfast beside its floor and its peers; write docs/benchmarks.md."
    parser = argparse.ArgumentParser(prog="bench/run.py", description=about)
    parser.add_argument("--rounds", type=int, default=3, help="how often everything is asked")
    parser.add_argument("--only", action="append", metavar="ROW", help="this row alone; repeatable")
    parser.add_argument("--systems", metavar="A,B", help="these systems alone, by their names")
    parser.add_argument("--quick", action="store_true", help="a fifth of the load, for a look")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
