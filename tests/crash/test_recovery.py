"""Goal: the reader of a holdfast file sees what is wrong in it, as the judge does in hand-made
findings.

Method: a right file is written through the public API; then something is done that no writer of
turns does, and the reader must name it.
"""

import os
from pathlib import Path

import pytest

import holdfast
from tests.crash import ours, recovery
from tests.crash.outside import Outside, work
from tests.crash.questions import Request
from tests.crash.story import Log, Turn, outcome, state

WORKER = "p0t0"
LAST = Turn(WORKER, 5)


class Desk:
    """A store with five turns in it, the outside that heard of them, and what a checker finds."""

    def __init__(self, folder: Path) -> None:
        self.path, self.told, self.effects = folder / "a.db", folder / "log", folder / "effects"
        self.store = ours.HoldfastStore(self.path, "full")
        log = os.open(self.told, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.outside = Outside(log, self.effects)
        work(self.store, self.outside, WORKER, range(1, LAST.number + 1))

    @property
    def thread(self) -> holdfast.Thread:
        return self.store.scope.thread(WORKER)

    def request(self) -> Request:
        lines = self.told.read_text().splitlines(keepends=True)
        return Request("holdfast", "full", str(self.path), str(self.effects), lines)

    def found(self) -> set[str]:
        """The names of what a fresh look at the file finds."""
        self.store.close()
        answer = recovery.check(self.request(), Log.read(self.request().log))
        return {violation.name for violation in answer.violations}

    def close(self) -> None:
        self.store.close()
        self.outside.close()
        os.close(self.outside.log)


@pytest.fixture
def desk(tmp_path: Path):
    """Five turns, all acknowledged."""
    desk = Desk(tmp_path)
    yield desk
    desk.close()


def test_a_right_file_is_right(desk: Desk) -> None:
    """Nothing is found where nothing is wrong."""
    assert desk.found() == set()


def test_a_state_beside_the_batches_is_seen(desk: Desk) -> None:
    """restore() has to tell the state of the newest batch, and no turn has two states."""
    desk.thread.checkpoint(state(Turn(WORKER, 4)))

    assert {"disagree", "half"} <= desk.found()


def test_a_message_that_messages_puts_elsewhere_is_seen(desk: Desk) -> None:
    """messages() has to be the tail of the episodes."""
    desk.thread.add("system", "You are a stranger")

    assert {"disagree", "phantom"} <= desk.found()


def test_a_fact_that_nobody_announced_is_seen(desk: Desk) -> None:
    """Facts are read as well as messages."""
    desk.store.scope.remember("a stranger's fact")

    assert desk.found() == {"phantom"}


def test_a_forgotten_turn_is_seen(desk: Desk) -> None:
    """What was acknowledged has to be there."""
    desk.thread.forget()

    assert "lost" in desk.found()


def test_a_step_with_another_result_is_seen(desk: Desk) -> None:
    """Taking a step up again has to give what the effect returned."""
    turn = Turn(WORKER, 8)
    desk.outside.tell("begin", turn)
    desk.outside.tell("step", turn)

    def lie(worker: str, number: int) -> str:
        return outcome(LAST)

    lie.__module__, lie.__qualname__ = Outside.send.__module__, Outside.send.__qualname__
    desk.outside.send(*turn)
    desk.store.step(turn, lie)

    assert desk.found() == {"unsettled"}


def test_a_store_that_takes_nothing_is_seen(desk: Desk) -> None:
    """After the crash the checker writes on; a store that refuses is named."""
    desk.store.close()
    desk.store.memory = holdfast.open(str(desk.path), read_only=True)
    desk.store.scope = desk.store.memory.scope(user=ours.USER)
    request = desk.request()

    found, _ = recovery.go_on(desk.store, request, Log.read(request.log))

    assert found[0].name == "nowrite"
