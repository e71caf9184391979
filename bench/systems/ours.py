"""holdfast through its public names alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import holdfast
from bench.systems.shape import Operation


class Full:
    """As it comes: an acknowledged write survives a power cut."""

    durability = "full"

    def __init__(self, folder: Path) -> None:
        self._memory = holdfast.open(str(folder / "agent.db"), durability=self.durability)
        self._scope = self._memory.scope(user="alice")
        self._threads: dict[str, Any] = {}

    def operations(self) -> dict[str, Operation]:
        return {"message": self._message, "fact": self._fact, "turn": self._turn}

    def readers(self) -> dict[str, Callable[[str], Sequence[Any]]]:
        return {
            "messages": lambda name: self._thread(name).messages(),
            "episodes": lambda name: self._thread(name).episodes(limit=20),
        }

    def fill(self, thread: str, texts: Sequence[str]) -> None:
        for start in range(0, len(texts), 100):
            with self._thread(thread).batch() as batch:
                for number, text in enumerate(texts[start : start + 100]):
                    batch.add("assistant" if number % 2 else "user", text)

    def kept(self, thread: str) -> int:
        return len(self._thread(thread).episodes())

    def close(self) -> None:
        self._memory.close()

    def _thread(self, name: str) -> Any:
        thread = self._threads.get(name)
        if thread is None:
            thread = self._threads[name] = self._scope.thread(name)
        return thread

    def _message(self, thread: str, text: str) -> None:
        self._thread(thread).add("user", text)

    def _fact(self, thread: str, text: str) -> None:
        self._scope.remember(text)

    def _turn(self, thread: str, text: str) -> None:
        """Three messages, the state and a fact: one transaction."""
        with self._thread(thread).batch() as batch:
            batch.add("user", text)
            batch.add("assistant", text)
            batch.add("assistant", text)
            batch.checkpoint({"step": "draft", "last": text})
            batch.remember(text[:80])


class Normal(Full):
    """By choice: a power cut may undo the last acknowledged writes."""

    durability = "normal"
