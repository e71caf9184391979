"""`python bench/campaign_kill.py --kills 2000`: SIGKILL at random, in numbers that tests cannot
afford.

The harness is that of tests/crash (kill.py says how it kills and checks). Prints a Markdown table;
ends with 1 when holdfast shows a violation, or when a broken writer is not caught.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from holdfast.store.points import POINTS
from tests.crash.kill import Crew, Tally, kill_at_point, random_kills

# Who is killed, and which share of the kills they get.
CREWS = (
    (Crew("holdfast", "full"), 0.4),
    (Crew("holdfast", "normal"), 0.2),
    (Crew("holdfast", "full", threads=4), 0.2),
    (Crew("holdfast", "full", processes=2, threads=2), 0.2),
)
BROKEN = ("lost", "half", "phantom", "twice", "noeffect", "corrupt", "noopen")
NTH = (1, 2, 5, 15)
HEAD = (
    "writer",
    "kills",
    "in a write",
    "in a step",
    "at opening",
    "turns read",
    "in doubt",
    "found",
)


def main() -> int:
    options = _options()
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder, ThreadPoolExecutor(2) as pool:
        names = [name for name, _, _ in _jobs(options, Path(folder))]
        runs = [pool.submit(run) for _, run, _ in _jobs(options, Path(folder))]
        wanted = [broken for _, _, broken in _jobs(options, Path(folder))]
        failed = 0
        for name, run, broken in zip(names, runs, wanted, strict=True):
            tally = run.result()
            print(_row(name, tally), flush=True)
            right = tally.violations[broken] > 0 if broken else not tally.violations
            failed += not right
            if not right:
                print("\n".join(tally.examples) or f"{broken} was not caught", file=sys.stderr)
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/campaign_kill.py", description=__doc__)
    parser.add_argument("--kills", type=int, default=2000, help="how many kills holdfast gets")
    parser.add_argument("--controls", type=int, default=40, help="how many each broken writer gets")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where to write; else the temporary folder")
    return parser.parse_args()


def _jobs(options: argparse.Namespace, folder: Path) -> Iterator[tuple]:
    """A name, what to run, and the invariant that it must break (None: no one)."""
    for crew, share in CREWS:
        kills = round(options.kills * share / crew.processes)
        yield str(crew), _random(crew, kills, folder, options.seed), None
    yield "holdfast full, named points", lambda: _points(folder / "points"), None
    for habit in BROKEN:
        crew = Crew("plain", habit)
        yield f"control: {habit}", _random(crew, options.controls, folder, options.seed), habit


def _random(crew: Crew, kills: int, folder: Path, seed: int):
    return lambda: random_kills(crew, kills, folder / str(crew), seed=seed)


def _points(folder: Path) -> Tally:
    """Every named commit point, alone and in a group, the n-th time that it is reached."""
    total = Tally()
    for point in POINTS:
        for nth in NTH if point.startswith("commit") else (1,):
            for threads in (1, 4):
                crew = Crew("holdfast", "full", threads=threads)
                total.take(kill_at_point(crew, point, nth, folder))
    return total


def _row(name: str, tally: Tally) -> str:
    found = ", ".join(f"{what} {count}" for what, count in tally.violations.most_common()) or "0"
    cells = (tally.kills, tally.in_write, tally.in_step, tally.in_open, tally.turns, tally.in_doubt)
    return f"| {name} | {' | '.join(f'{cell:,}' for cell in cells)} | {found} |"


if __name__ == "__main__":
    sys.exit(main())
