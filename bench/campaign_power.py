"""`python bench/campaign_power.py --images 1000`: power cuts, a thousand images of each kind.

The harness is that of tests/crash (power.py and disk.py say how images are made and checked).
Prints a Markdown table; ends with 1 when holdfast shows a violation, or when a broken writer is not
caught.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.crash.disk import KINDS
from tests.crash.kill import Crew
from tests.crash.power import Images, Recording, examine, record

CREWS = (
    Crew("holdfast", "full"),
    Crew("holdfast", "normal"),
    Crew("holdfast", "full", threads=4),
)
# Short sittings whose log is folded often, and a long one that folds it when holdfast itself does.
SHORT = {"turns": 20, "sittings": 3, "checkpoint_pages": 60}
LONG = {"turns": 120, "sittings": 1}
BROKEN = {
    "off": "lost",
    "normal": "lost",
    "half": "half",
    "lost": "lost",
    "twice": "twice",
    "noeffect": "noeffect",
    "noopen": "noopen",
    "renamed": "noopen",
    "nofolder": "lost",
}
RIGHT = ("whole", "folder")


def main() -> int:
    options = _options()
    print(f"| writer | {' | '.join(KINDS)} | turns read | in doubt | worst loss |")
    print(f"|{'---|' * (len(KINDS) + 4)}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        for crew in CREWS:
            made = [record(crew, Path(folder), **how) for how in (SHORT, LONG)]
            failed += _report(str(crew), made, options.images, options.seed, None)
        for habit in (*RIGHT, *BROKEN):
            made = [record(Crew("plain", habit), Path(folder), turns=20)]
            name = f"control: {habit}"
            failed += _report(name, made, options.controls, options.seed, BROKEN.get(habit))
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench/campaign_power.py", description=__doc__)
    parser.add_argument(
        "--images", type=int, default=1000, help="images of each kind, for holdfast"
    )
    parser.add_argument("--controls", type=int, default=200, help="the same for the plain writers")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where to write; else the temporary folder")
    return parser.parse_args()


def _report(name: str, made: list[Recording], count: int, seed: int, broken: str | None) -> bool:
    """Print the row of a writer; True when it is not what it must be."""
    found = {kind: _examine(made, kind, count, seed) for kind in KINDS}
    cells = [f"{images.violated}/{images.images}{_names(images)}" for images in found.values()]
    turns = sum(images.turns for images in found.values())
    doubt = sum(images.in_doubt for images in found.values())
    worst = max(images.worst_loss for images in found.values())
    print(f"| {name} | {' | '.join(cells)} | {turns:,} | {doubt:,} | {worst} |", flush=True)
    seen = sum((images.violations for images in found.values()), start=Images().violations)
    wrong = not seen[broken] if broken else bool(seen)
    if wrong:
        examples = [example for images in found.values() for example in images.examples]
        print("\n".join(examples) or f"{broken} was not caught", file=sys.stderr)
    return wrong


def _examine(made: list[Recording], kind: str, count: int, seed: int) -> Images:
    """Images of one kind, spread over the recordings."""
    total = Images()
    with tempfile.TemporaryDirectory() as folder:
        for number, recording in enumerate(made):
            share = count // len(made) + (number < count % len(made))
            where = Path(folder) / str(number)
            total.take(examine(recording, kind, share, where, seed=seed + number))
    return total


def _names(images: Images) -> str:
    names = ", ".join(f"{what} {count}" for what, count in images.violations.most_common(3))
    return f" ({names})" if names else ""


if __name__ == "__main__":
    sys.exit(main())
