"""Goal: a damaged file never shows other content than was written.

Method: a writer is killed or ends well; its file or its log is cut, flipped in one bit, or
overwritten page by page, in many copies; a fresh process reads each. It may be refused as Corrupt.
A damaged log may show a clean prefix, a damaged file may hide records that nothing leads to any
more; what is shown is what was written. The control is a plain file, which shows a changed letter
without a word.
"""

import random
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.crash.kill import Child, Crew, Site
from tests.crash.questions import Request
from tests.crash.servers import Checkers
from tests.crash.story import Log

COPIES = 40
PAGE = 4096
HOLDFAST = Crew("holdfast", "full")
# What a prefix of the log lacks is lost, and effects that it no longer knows of would run again.
CLEAN_PREFIX = {"lost", "twice"}


def cut(data: bytearray, chance: random.Random) -> None:
    """Everything after a random byte is gone."""
    del data[chance.randrange(len(data)) :]


def flip(data: bytearray, chance: random.Random) -> None:
    """One bit has changed."""
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def noise(data: bytearray, chance: random.Random) -> None:
    """A page holds anything."""
    start = chance.randrange(len(data) // PAGE) * PAGE
    data[start : start + PAGE] = chance.randbytes(PAGE)


def zeros(data: bytearray, chance: random.Random) -> None:
    """A page was never written."""
    start = chance.randrange(len(data) // PAGE) * PAGE
    data[start : start + PAGE] = bytes(PAGE)


Damage = Callable[[bytearray, random.Random], None]


def written(folder: Path, crew: Crew, *options: str) -> Site:
    """The file that a writer with these options leaves."""
    site = Site(folder)
    folder.mkdir()
    child = Child(site, crew, 0, list(options))
    child.hear_out()
    site.log.events += Log.read(child.said.decode().splitlines(keepends=True)).events
    return site


@dataclass
class Seen:
    """What all damaged copies came to."""

    outcomes: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    altered: int = 0
    examples: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes.most_common())


def damaged(site: Site, suffix: str, damage: Damage, folder: Path, crew: Crew = HOLDFAST) -> Seen:
    """Damage many copies of the file (or its log) and have each read by a fresh process."""
    chance, seen = random.Random(4), Seen()
    with Checkers() as checkers:
        for number in range(COPIES):
            place = folder / f"copy-{number}"
            shutil.copytree(site.folder, place, ignore=shutil.ignore_patterns("*-shm"))
            target = place / f"agent.db{suffix}"
            data = bytearray(target.read_bytes())
            damage(data, chance)
            target.write_bytes(data)
            paths = (str(place / "agent.db"), str(place / "effects"))
            request = Request(crew.store, crew.habit, *paths, site.log.lines(), damaged=True)
            checkers.submit(request, f"copy {number}", remove=place)
        for where, answer in checkers.answers():
            shown = "whole" if not answer.violations else "incomplete"
            seen.outcomes[answer.error or shown] += 1
            seen.violations.update({violation.name for violation in answer.violations})
            seen.altered += answer.altered
            seen.examples += [f"{where}: {v.name}: {v.what}" for v in answer.violations]
    return seen


LOGS = {
    "never folded": ("--kill-at", "commit.after:60"),
    "folded and begun anew": ("--checkpoint-pages", "300", "--kill-at", "commit.after:110"),
    "just folded": ("--checkpoint-pages", "300", "--kill-at", "checkpoint.after:3"),
}


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("damage", [cut, flip])
def test_a_damaged_log_shows_a_clean_prefix_or_is_refused(
    log: str, damage: Damage, tmp_path: Path, record_property
) -> None:
    """Turns from the first to some last one, each whole; wherever the folding of the log stood."""
    site = written(tmp_path / "site", HOLDFAST, *LOGS[log])

    seen = damaged(site, "-wal", damage, tmp_path)

    record_property("figure", f"log {log}, {damage.__name__}: {seen}")
    assert set(seen.violations) <= CLEAN_PREFIX, seen.examples
    assert seen.altered == 0
    assert set(seen.outcomes) <= {"whole", "incomplete", "Corrupt"}


@pytest.mark.parametrize("damage", [cut, flip, noise, zeros])
def test_a_damaged_file_is_refused_or_shows_what_was_written(
    damage: Damage, tmp_path: Path, record_property
) -> None:
    """Content is bound to its checksum, so that whatever is shown is what was written."""
    site = written(tmp_path / "site", HOLDFAST, "--turns", "40")

    seen = damaged(site, "", damage, tmp_path)

    record_property("figure", f"file, {damage.__name__}: {seen}")
    assert seen.altered == 0, seen.examples
    assert "noopen" not in seen.violations, seen.examples
    assert seen.outcomes["Corrupt"] > 0


def test_a_plain_file_shows_changed_letters(tmp_path: Path) -> None:
    """Control: SQLite alone notices nothing when a letter changes, and the check does."""
    crew = Crew("plain", "whole")
    site = written(tmp_path / "site", crew, "--turns", "40")

    seen = damaged(site, "", flip, tmp_path, crew)

    assert seen.altered > 0
