"""Goal: no failing call, full disk, read-only folder, Ctrl-C or damaged file costs what was
acknowledged.

Method: a child process meets the fault (faulty.py), tells which turns were refused, and writes on
after the cure; a fresh process then checks the invariants. What is refused is refused with an error
of ours. Damaged files are read by a fresh process: it may refuse, or see a clean prefix, never
other content. The broken writers beside each check must be caught.
"""

import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from tests.crash import preload
from tests.crash.kill import ask, environment
from tests.crash.questions import Answer, Request
from tests.crash.servers import Checkers

PATIENCE_S = 120


@dataclass
class Place:
    """The folder of the store, and the outside with the logs and effects."""

    folder: Path

    def __post_init__(self) -> None:
        for path in (self.store, self.outside, self.saved):
            path.mkdir(parents=True, exist_ok=True)

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def outside(self) -> Path:
        return self.folder / "outside"

    @property
    def saved(self) -> Path:
        return self.folder / "saved"

    @property
    def database(self) -> Path:
        return self.store / "agent.db"

    def run(self, case: str, *options: str, preloaded: bool = False, delay_us: int = 0) -> None:
        """Run the child to its end."""
        extra = preload.environment(self.folder, sync_delay_us=delay_us) if preloaded else {}
        done = subprocess.run(
            self.command(case, *options),
            env=environment(extra),
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]

    def command(self, case: str, *options: str) -> list[str]:
        """The command line of the child."""
        start = [sys.executable, "-m", "tests.crash.faulty", case]
        return [*start, "--place", str(self.store), "--outside", str(self.outside), *options]

    def said(self, name: str = "agent") -> list[str]:
        """The lines that the child told."""
        return (self.outside / f"{name}.log").read_text().splitlines(keepends=True)

    def request(self, name: str = "agent", store: str = "holdfast", habit: str = "full") -> Request:
        """What the checker is asked about a file."""
        paths = (str(self.store / f"{name}.db"), str(self.outside / f"{name}.effects"))
        return Request(store, habit, *paths, self.said(name))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A fresh folder for a store and its outside."""
    return Place(tmp_path)


@dataclass
class Findings:
    """What all files of a sweep came to."""

    files: int = 0
    refused: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    uncured: Counter[str] = field(default_factory=Counter)
    violations: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)


def findings(place: Place, store: str, habit: str) -> Findings:
    """Check every file that the sweep has left."""
    found = Findings()
    with Checkers() as checkers:
        for log in sorted(place.outside.glob("*.log")):
            found.files += 1
            words = [line.split() for line in place.said(log.stem)]
            found.errors.update(word[1] for word in words if word[0] == "error")
            found.uncured.update(word[1] for word in words if word[0] == "uncured")
            checkers.submit(place.request(log.stem, store, habit), log.stem)
        for where, answer in checkers.answers():
            found.refused += answer.refused
            found.violations.update({violation.name for violation in answer.violations})
            found.examples += [f"{where}: {v.name}: {v.what}" for v in answer.violations]
    return found


def sweep(place: Place, options: tuple[str, ...], store: str = "holdfast", habit: str = "full"):
    """Let every n-th call fail in turn, and check what each file has become."""
    who = ("--store", store, "--habit", habit)
    place.run("sweep", *options, *who, preloaded=True)
    return findings(place, store, habit)


ONCE_FULL = ("--what", "write", "--error", "ENOSPC", "--every", "12")
LONG_FULL = (*ONCE_FULL, "--times", "-1")
ONE_BAD_WRITE = ("--what", "write", "--error", "EIO", "--every", "12")
ONE_BAD_SYNC = ("--what", "sync", "--error", "EIO", "--every", "2")
LONG_BAD_SYNC = ("--what", "sync", "--error", "EIO", "--times", "-1", "--every", "3")
SWEEPS = {
    "disk full once": ONCE_FULL,
    "disk full until cured": LONG_FULL,
    "one write fails": ONE_BAD_WRITE,
    "one sync fails": ONE_BAD_SYNC,
    "syncs fail until cured": LONG_BAD_SYNC,
}


@pytest.mark.parametrize("fault", SWEEPS)
@pytest.mark.parametrize("habit", ["full", "normal"])
def test_a_failing_call_costs_nothing_acknowledged(fault, habit, place, record_property) -> None:
    """Whichever call fails: typed errors, nothing lost, and writing goes on after the cure."""
    found = sweep(place, SWEEPS[fault], habit=habit)

    record_property("figure", f"{fault}, {habit}: {found.files} files, errors {dict(found.errors)}")
    assert found.examples == []
    assert found.uncured == Counter()
    assert set(found.errors) <= {"Unavailable", "InDoubt"}
    assert found.errors["Unavailable"] > 0


@pytest.mark.parametrize(
    ("habit", "caught"), [("noopen", "lost"), ("half", "half"), ("lost", "lost")]
)
def test_a_broken_writer_loses_on_a_full_disk(habit: str, caught: str, place: Place) -> None:
    """Control: the same faults show in writers that are not careful."""
    found = sweep(place, LONG_FULL, "plain", habit)

    assert found.violations[caught] > 0


def test_a_writer_that_gives_up_after_an_error_is_caught(place: Place) -> None:
    """Control: one error ends all its writing, and the sweep sees that the cure did not help."""
    found = sweep(place, ONE_BAD_WRITE, "plain", "gaveup")

    assert found.uncured["RuntimeError"] > 0


@pytest.mark.parametrize("habit", ["full", "normal"])
def test_files_that_may_not_grow_cost_nothing(habit: str, place: Place, record_property) -> None:
    """A real limit of the system: writes are refused until it is lifted, then they work again."""
    place.run("limit", "--habit", habit)

    answer = ask(place.request(habit=habit))
    record_property("figure", told(f"file limit, {habit}", place, answer))
    assert answer.violations == []
    assert words(place, "error") == {"Unavailable"}
    assert words(place, "uncured") == set()


def test_a_full_disk_costs_nothing(place: Place, record_property) -> None:
    """A real file system that is full, and has room again; by a limit where none can be mounted."""
    case = "full" if can_mount(place) else "limit"
    place.run(case)

    where = place.saved if case == "full" else place.store
    answer = ask(replace(place.request(), path=str(where / "agent.db")))
    record_property("figure", told(f"full disk ({case})", place, answer))
    assert answer.violations == []
    assert words(place, "error") == {"Unavailable"}
    assert words(place, "uncured") == set()


def can_mount(place: Place) -> bool:
    """Whether this process may have a file system of its own."""
    program = "import sys, pathlib; from tests.crash.faulty import small_disk\n"
    program += "with small_disk(pathlib.Path(sys.argv[1])): pass"
    command = [sys.executable, "-c", program, str(place.store)]
    return subprocess.run(command, env=environment(), capture_output=True).returncode == 0


def words(place: Place, word: str) -> set[str]:
    """What followed this word in the lines that the child told."""
    lines = [line.split() for line in place.said()]
    return {line[1] for line in lines if line[0] == word}


def told(what: str, place: Place, answer: Answer) -> str:
    """One line for the report."""
    refused = sum(line.startswith("refused") for line in place.said())
    acknowledged = sum(line.startswith("ack") for line in place.said())
    return f"{what}: {acknowledged} acknowledged, {refused} refused, {answer.turns} turns read"


def test_a_new_file_in_a_read_only_folder_is_refused_with_a_remedy(place: Place) -> None:
    """The first line of the program says what to do, and it works once that was done."""
    place.store.chmod(0o555)
    place.run("readonly")
    place.store.chmod(0o755)

    assert words(place, "error") == {"Misconfigured"}
    place.run("readonly")
    assert ask(place.request()).violations == []


def test_a_folder_made_read_only_costs_nothing(place: Place) -> None:
    """An existing file whose folder, then the file itself, cannot be written to any more."""
    place.run("readonly")
    for path, mode, cured in ((place.store, 0o555, 0o755), (place.database, 0o444, 0o600)):
        path.chmod(mode)
        place.run("readonly")
        path.chmod(cured)

    answer = ask(place.request())
    assert words(place, "error") == {"Misconfigured"}
    assert answer.violations == []
    assert answer.turns == 1
