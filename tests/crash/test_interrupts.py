"""Goal: Ctrl-C during a group commit loses nothing acknowledged, and no thread waits for ever.

Method: the main thread of a child and some others write to one file (interrupted.py). Ctrl-C
strikes the main one at random moments, at every commit point, and at every place inside the store
where Python lets a signal in. It survives each and writes on, and so do the others; then the file
is checked.
"""

import random
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast.store.points import POINTS
from tests.crash import preload
from tests.crash.kill import ask, delay, environment
from tests.crash.questions import Request

PATIENCE_S = 60
STRIKES = 40


class Interrupted:
    """A child whose main thread is struck by Ctrl-C; a context manager that leaves none behind."""

    def __init__(self, folder: Path, case: str, *options: str) -> None:
        self.folder = folder
        for name in ("store", "outside"):
            (folder / name).mkdir()
        # A slower sync gives a group time to form; `everywhere` wants a main thread that leads.
        delay_us = 0 if case == "everywhere" else 500
        extra = preload.environment(folder, sync_delay_us=delay_us)
        command = [sys.executable, "-m", "tests.crash.interrupted", case, *options]
        command += ["--place", str(folder / "store"), "--outside", str(folder / "outside")]
        self.child = subprocess.Popen(command, env=environment(extra), stderr=subprocess.PIPE)

    def __enter__(self) -> "Interrupted":
        return self

    def __exit__(self, *exc: object) -> None:
        self.child.kill()
        self.child.communicate()

    def said(self) -> str:
        """All that the child has told so far."""
        log = self.folder / "outside" / "agent.log"
        return log.read_text() if log.exists() else ""

    def await_more(self, word: str, than: int) -> None:
        """Until the child has told it more often than that; what hangs fails here."""
        deadline = time.monotonic() + PATIENCE_S
        while self.said().count(word) <= than:
            assert time.monotonic() < deadline, f"no further {word!r}: the threads hang"
            assert self.child.poll() is None, "it ended before its time"
            select.select([], [], [], 0.001)

    def strike(self, chance: random.Random) -> None:
        """One Ctrl-C, at a random moment after the others have gone on; it is survived."""
        self.await_more("ack p0t7", self.said().count("ack p0t7"))
        before = self.said().count("interrupted")
        select.select([], [], [], delay(chance) / 10)
        self.child.send_signal(signal.SIGINT)
        self.await_more("interrupted", before)

    def end(self) -> None:
        """Hear it out; what it left unsaid for so long hangs."""
        try:
            _, errors = self.child.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            strikes = [line for line in self.said().splitlines() if "interrupted" in line]
            raise AssertionError(f"the threads hang after {strikes[-1:]}") from None
        assert self.child.returncode == 0, errors.decode()[-2000:]

    def violations(self) -> list[object]:
        """What a fresh process finds in the file."""
        paths = (self.folder / "store" / "agent.db", self.folder / "outside" / "agent.effects")
        log = self.said().splitlines(keepends=True)
        return ask(Request("holdfast", "full", str(paths[0]), str(paths[1]), log)).violations


def test_ctrl_c_at_random_loses_nothing_and_stops_nobody(tmp_path: Path) -> None:
    """Many interrupts from outside: the main thread survives them, seven others go on."""
    chance = random.Random(3)
    with Interrupted(tmp_path, "outside", "--times", str(STRIKES)) as child:
        child.await_more("ack p0t0", 0)
        for _ in range(STRIKES):
            child.strike(chance)
        child.end()

    assert "closed" in child.said()
    assert child.violations() == []


@pytest.mark.parametrize("point", [point for point in POINTS if point.startswith("commit")])
def test_ctrl_c_at_a_commit_point_loses_nothing_and_stops_nobody(point, tmp_path: Path) -> None:
    """Ten interrupts of the leader of a group: the group is not left alone."""
    with Interrupted(tmp_path, "point", "--point", point, "--times", "10") as child:
        child.end()

    assert child.violations() == []


@pytest.mark.parametrize(("within", "rounds"), [("", 1), ("sqlite/writer.py", 6)])
def test_ctrl_c_anywhere_in_the_store_loses_nothing_and_stops_nobody(
    within: str, rounds: int, tmp_path: Path, record_property
) -> None:
    """Each place of a turn where Python lets a signal in, one after the other."""
    options = ("--others", "2", "--times", str(rounds), "--within", within)
    with Interrupted(tmp_path, "everywhere", *options) as child:
        child.end()

    strikes = child.said().count("interrupted")
    record_property("figure", f"Ctrl-C {strikes} times in {within or 'the store'}")
    assert child.violations() == []
