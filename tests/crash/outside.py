"""The world outside the store, and how a writer tells it what it does.

Lines go out by os.write, one each, to a pipe or a file: what was said survives the kill of the
writer. These names are imported by every process alike, because a once-step knows its function by
its module.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from . import controls
from .story import Turn, outcome


class Store(Protocol):
    """What a writer writes to."""

    def write(self, turn: Turn) -> None: ...

    def step(self, turn: Turn, send: Callable[[str, int], str]) -> None: ...

    def close(self) -> None: ...


class Outside:
    """The world outside the store: it hears the log and feels the effects."""

    def __init__(self, log: int, effects: Path) -> None:
        self.log = log
        self.effects = os.open(effects, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def tell(self, verb: str, turn: Turn | None = None) -> None:
        line = f"{verb} {turn.worker} {turn.number}\n" if turn else f"{verb}\n"
        os.write(self.log, line.encode())

    def send(self, worker: str, number: int) -> str:
        """The effect of a once-step: one line that is there to stay."""
        os.write(self.effects, f"{worker} {number}\n".encode())
        os.fsync(self.effects)
        return outcome(Turn(worker, number))

    def close(self) -> None:
        os.close(self.effects)


def open_store(kind: str, path: Path, habit: str, *, checkpoint_pages: int | None = None) -> Store:
    """The store of that kind; holdfast is imported only where it is wanted."""
    if kind == "holdfast":
        from .ours import HoldfastStore

        return HoldfastStore(path, habit, checkpoint_pages)
    return controls.open_store(path, habit)


def work(store: Store, outside: Outside, worker: str, numbers: range) -> None:
    """Write the turns of one worker, telling the outside before and after each."""
    for number in numbers:
        turn = Turn(worker, number)
        outside.tell("begin", turn)
        store.write(turn)
        outside.tell("ack", turn)
        if turn.has_step:
            outside.tell("step", turn)
            store.step(turn, outside.send)
            outside.tell("stepped", turn)
