"""LangGraph's SqliteStore without vectors: its long-term memory, at its cheapest."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from langgraph.store.sqlite import SqliteStore

from bench.systems.shape import Operation


class Store:
    def __init__(self, folder: Path) -> None:
        path = folder / "store.db"
        self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
        self._store = SqliteStore(self._connection)
        self._store.setup()

    def operations(self) -> dict[str, Operation]:
        return {"fact": self._fact}

    def readers(self) -> dict[str, Callable[[str], Sequence[Any]]]:
        return {}

    def fill(self, thread: str, texts: Sequence[str]) -> None:
        for text in texts:
            self._fact(thread, text)

    def kept(self, thread: str) -> int:
        return len(self._store.search(("alice",), limit=1_000_000))

    def close(self) -> None:
        self._connection.close()

    def _fact(self, thread: str, text: str) -> None:
        self._store.put(("alice",), text.split(" ", 1)[0], {"text": text})
