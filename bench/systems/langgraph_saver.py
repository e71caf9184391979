"""LangGraph's SqliteSaver, as its runtime calls it.

The state is a sliding window of ten messages (some 5 KB), kind to the saver: its default message
channel keeps the whole conversation in every checkpoint.
"""

from __future__ import annotations

import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite import SqliteSaver

from bench.systems.shape import Operation

_WINDOW = 10


class Saver:
    """One saver, shared by all threads: it has a lock of its own."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "langgraph.db"
        self._connections: list[sqlite3.Connection] = []
        self._windows: dict[str, deque[dict[str, str]]] = {}
        self._shared = self._open()

    def operations(self) -> dict[str, Operation]:
        return {"message": self._put, "turn": self._step}

    def readers(self) -> dict[str, Callable[[str], Sequence[Any]]]:
        return {}

    def fill(self, thread: str, texts: Sequence[str]) -> None:
        for text in texts:
            self._put(thread, text)

    def kept(self, thread: str) -> int:
        return sum(1 for _ in self._saver().list(_config(thread)))

    def close(self) -> None:
        for connection in self._connections:
            connection.close()

    def _saver(self) -> SqliteSaver:
        return self._shared

    def _open(self) -> SqliteSaver:
        connection = sqlite3.connect(self._path, check_same_thread=False)
        self._connections.append(connection)
        saver = SqliteSaver(connection)
        saver.setup()
        return saver

    def _put(self, thread: str, text: str) -> Any:
        """The state after one more message."""
        window = self._windows.setdefault(thread, deque(maxlen=_WINDOW))
        window.append({"role": "user", "content": text})
        checkpoint = empty_checkpoint()
        checkpoint["channel_values"] = {"messages": list(window)}
        checkpoint["channel_versions"] = {"messages": "1"}
        metadata = {"source": "loop", "step": 1}
        return self._saver().put(_config(thread), checkpoint, metadata, {"messages": "1"})

    def _step(self, thread: str, text: str) -> None:
        """One step of a graph: the node's writes, then the state. Two commits."""
        saved = self._put(thread, text)
        self._saver().put_writes(saved, [("messages", {"role": "user", "content": text})], "task")


class OwnSavers(Saver):
    """A saver on a connection of its own for each thread."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._mine = threading.local()

    def _saver(self) -> SqliteSaver:
        saver: SqliteSaver | None = getattr(self._mine, "saver", None)
        if saver is None:
            saver = self._mine.saver = self._open()
        return saver


def _config(thread: str) -> Any:
    return {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
