"""The simulator's long campaign: `python bench/campaign_simulate.py --seeds 10000`.

Each seed is one life of a memory on each store, checked against a plain model; two processes share
the seeds. Exits with 1 at any violation, whose message names the seed that replays it.
"""

import argparse
import shutil
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from holdfast.testing.simulate import Violation, simulate
from tests.simulate.places import InMemory, OnDisk

_RAM = Path("/dev/shm")


def lives(seed: int) -> list[str]:
    """One seed on each store; what went wrong."""
    folder = Path(tempfile.mkdtemp(dir=_RAM if _RAM.is_dir() else None))
    found = []
    for name, place in (("in memory", InMemory()), ("on disk", OnDisk(folder))):
        try:
            simulate(seed, place)
        except Violation as violation:
            found.append(f"{name}: {violation}")
        else:
            place.end()
    shutil.rmtree(folder, ignore_errors=True)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    violations = []
    with get_context("spawn").Pool(given.processes) as pool:
        for found in pool.imap_unordered(lives, seeds, chunksize=20):
            for line in found:
                print(line, flush=True)
                violations.append(line)
    print("\n| seeds | stores | operations | violations |\n|---|---|---|---|")
    print(f"| {len(seeds):,} | 2 | {len(seeds) * 2 * 40:,} | {len(violations)} |")
    return 1 if violations else 0


if __name__ == "__main__":
    raise SystemExit(main())
