"""Cuts the power at random moments of a recorded run and has a fresh process check each image.

A writer runs once under record.c; disk.py rebuilds the files as they could be after a cut. Half of
the cuts fall right after an acknowledgement, an effect or a sync, the others anywhere.
"""

import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from . import preload
from .disk import SYNCED, WRITE, Call, Disk, is_durable_state, recorded
from .kill import PATIENCE_S, Crew, environment
from .questions import Answer, Request
from .servers import Checkers

LOG, EFFECTS = "outside/agent.log", "outside/agent.effects"
LOSES_A_SUFFIX = ("synced", "reordered")


@dataclass(frozen=True)
class Recording:
    """A recorded run: who wrote, and the calls."""

    crew: Crew
    calls: list[Call]


@dataclass
class Images:
    """What the images of one kind came to."""

    images: int = 0
    violated: int = 0
    turns: int = 0
    in_doubt: int = 0
    worst_loss: int = 0
    violations: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def take(self, other: "Images") -> None:
        """Add the figures of another."""
        for name in ("images", "violated", "turns", "in_doubt"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.worst_loss = max(self.worst_loss, other.worst_loss)
        self.violations += other.violations
        self.examples = (self.examples + other.examples)[:10]

    def add(self, found: Answer, where: str) -> None:
        """Count one image; the first few violations are kept as they were seen."""
        self.images += 1
        self.violated += bool(found.violations)
        self.turns += found.turns
        self.in_doubt += found.in_doubt
        self.worst_loss = max(self.worst_loss, found.missing)
        self.violations.update({violation.name for violation in found.violations})
        for violation in found.violations[: max(0, 10 - len(self.examples))]:
            self.examples.append(f"{where}: {violation.name}: {violation.what}")


def record(
    crew: Crew, folder: Path, *, turns: int, sittings: int = 3, checkpoint_pages: int | None = None
) -> Recording:
    """Run a writer to its end under the recorder, in several sittings with a close in between."""
    place = folder / "recorded"
    workers = ",".join(f"p0t{thread}=0" for thread in range(crew.threads))
    command = ["tests.crash.writers", "--store", crew.store, "--habit", crew.habit]
    command += ["--path", str(place / "agent.db"), "--workers", workers]
    command += ["--effects", str(place / EFFECTS), "--log", str(place / LOG)]
    command += ["--turns", str(turns), "--sittings", str(sittings)]
    if checkpoint_pages is not None:
        command += ["--checkpoint-pages", str(checkpoint_pages)]
    return Recording(crew, run_recorded(command, place))


def record_fault(crew: Crew, folder: Path, *, after: int) -> Recording:
    """The same for a writer that goes on after one of its syncs has failed."""
    place = folder / "recorded"
    command = ["tests.crash.faulty", "badsync", "--habit", crew.habit, "--after", str(after)]
    command += ["--place", str(place), "--outside", str(place / "outside")]
    return Recording(crew, run_recorded(command, place))


def run_recorded(module: list[str], place: Path) -> list[Call]:
    """The calls of a child that works on this folder."""
    log = place.with_suffix(".calls")
    shutil.rmtree(place, ignore_errors=True)
    log.unlink(missing_ok=True)
    (place / "outside").mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-m", *module],
        env=environment(preload.environment(place, log=log)),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the recorded writer failed: {done.stderr[-2000:]}")
    calls = recorded(log)
    confirm(calls, place)
    return calls


def confirm(calls: list[Call], place: Path) -> None:
    """All calls together must give the files that are there: else a call went by unrecorded."""
    disk = Disk(random.Random(0))
    for call in calls:
        disk.take(call)
    modelled = disk.image("killed")
    real = {p.name: p.read_bytes() for p in place.iterdir() if p.is_file()}
    real = {name: content for name, content in real.items() if is_durable_state(name)}
    if modelled != real:
        wrong = [name for name in modelled | real if modelled.get(name) != real.get(name)]
        raise RuntimeError(f"the recorded calls do not add up to {wrong}: one went by unseen")


def cuts(recording: Recording, kind: str, count: int, chance: random.Random) -> Counter[int]:
    """After which calls to cut, and how often."""
    disk, stored, told = Disk(random.Random(0)), [], []
    for number, call in enumerate(recording.calls):
        disk.take(call)
        if disk.wrote_to_the_store():
            stored.append(number)
        elif call.what in (WRITE, SYNCED) and not call.data.startswith(b"begin"):
            told.append(number)
    if kind == "torn":
        return Counter(chance.choices(stored, k=count))
    somewhere = chance.choices(range(len(recording.calls)), k=count - count // 2)
    return Counter(chance.choices(told, k=count // 2) + somewhere)


def images(recording: Recording, kind: str, count: int, seed: int) -> Iterator[tuple[int, Disk]]:
    """The disk at each cut, in order; it must be read before the next one is asked for."""
    chance = random.Random(seed)
    wanted = cuts(recording, kind, count, chance)
    disk = Disk(chance)
    for number, call in enumerate(recording.calls):
        disk.take(call)
        for _ in range(wanted[number]):
            yield number, disk


def examine(recording: Recording, kind: str, count: int, folder: Path, *, seed: int) -> Images:
    """Check so many images of that kind against what the writer promises."""
    result, crew = Images(), recording.crew
    # The plain writers all claim to be full: what they are in truth is for the checks to find.
    may_miss = crew == Crew("holdfast", "normal", threads=crew.threads) and kind in LOSES_A_SUFFIX
    with Checkers() as checkers:
        for image, (number, disk) in enumerate(images(recording, kind, count, seed)):
            place = folder / f"image-{image}"
            lay_out(disk.image(kind), disk.told(EFFECTS), place)
            paths = (str(place / "agent.db"), str(place / "effects"))
            log = disk.told(LOG).decode().splitlines(keepends=True)
            where = f"{crew} {kind}, seed {seed}, cut after call {number}"
            request = Request(crew.store, crew.habit, *paths, log, suffix=may_miss)
            checkers.submit(request, where, remove=place)
        for where, found in checkers.answers():
            result.add(found, where)
    return result


def lay_out(files: dict[str, bytes], effects: bytes, place: Path) -> None:
    """Write an image into a folder of its own."""
    place.mkdir(parents=True)
    for name, content in files.items():
        (place / name).write_bytes(content)
    (place / "effects").write_bytes(effects)
