"""The floor: plain sqlite3 writing rows of the same bytes, and nothing that makes them a memory.

One table, one index by thread and order, WAL, synchronous=FULL, one transaction a write. Bodies are
JSON with the fields that a record of ours keeps, so that both write about the same bytes.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bench.systems.shape import Operation

_SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL, thread TEXT NOT NULL, body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS rows_by_thread ON rows (thread, seq);
"""
_INSERT = "INSERT INTO rows (id, thread, body) VALUES (?, ?, ?)"
_LAST = "SELECT body FROM rows WHERE thread = ? ORDER BY seq DESC LIMIT 20"
# As many columns as a record of ours has: what it costs to read whole rows and not bodies alone.
_WIDE = 20
_WIDE_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS wide (
    seq INTEGER PRIMARY KEY, thread TEXT NOT NULL, body TEXT NOT NULL,
    {", ".join(f"c{number}" for number in range(_WIDE - 3))}
);
CREATE INDEX IF NOT EXISTS wide_by_thread ON wide (thread, seq);
"""
_WIDE_LAST = "SELECT * FROM wide WHERE thread = ? ORDER BY seq DESC LIMIT 20"
_ID = "0193a1b2-7c3d-7e4f-8a5b-000000000000"


class LockedConnection:
    """One connection and a lock around it: what most programs with threads do."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "floor.db"
        self._lock = threading.Lock()
        self._connection = self._connect()

    def operations(self) -> dict[str, Operation]:
        return {"message": self._message, "fact": self._fact, "turn": self._turn}

    def readers(self) -> dict[str, Callable[[str], Sequence[Any]]]:
        return {
            "select": self._select,
            "select + json": self._select_and_parse,
            "whole rows + json": self._whole_rows,
        }

    def fill(self, thread: str, texts: Sequence[str]) -> None:
        self._write([(_ID, thread, _message(text)) for text in texts])
        self._connection.executescript(_WIDE_SCHEMA)
        marks = ", ".join("?" * _WIDE)
        filler = [_ID, 1, "episode", "message", *[1_700_000_000_000_000] * 4, *[None] * 9]
        rows = ((None, thread, _message(text), *filler) for text in texts)
        self._connection.execute("BEGIN")
        self._connection.executemany(f"INSERT INTO wide VALUES ({marks})", rows)
        self._connection.execute("COMMIT")

    def kept(self, thread: str) -> int:
        counted = self._connection.execute("SELECT count(*) FROM rows WHERE thread = ?", [thread])
        found: int = counted.fetchone()[0]
        return found

    def close(self) -> None:
        self._connection.close()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.executescript(_SCHEMA)
        return connection

    def _message(self, thread: str, text: str) -> None:
        self._write([(_ID, thread, _message(text))])

    def _fact(self, thread: str, text: str) -> None:
        self._write([(_ID, thread, _fact(text))])

    def _turn(self, thread: str, text: str) -> None:
        """Rows of the same bytes as three messages, a state and a fact."""
        message = (_ID, thread, _message(text))
        state = (_ID, thread, json.dumps({"step": "draft", "last": text}))
        self._write([message, message, message, state, (_ID, thread, _fact(text[:80]))])

    def _write(self, rows: Sequence[tuple[str, str, str]]) -> None:
        with self._lock:
            _insert(self._connection, rows)

    def _select(self, thread: str) -> list[str]:
        return [body for (body,) in self._connection.execute(_LAST, [thread]).fetchall()]

    def _select_and_parse(self, thread: str) -> list[Any]:
        return [json.loads(body) for body in self._select(thread)]

    def _whole_rows(self, thread: str) -> list[Any]:
        rows = self._connection.execute(_WIDE_LAST, [thread]).fetchall()
        return [(row, json.loads(row[2])) for row in rows]


class OwnConnections(LockedConnection):
    """One connection a thread and SQLite's busy handler between them: the other usual way."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._mine = threading.local()

    def _write(self, rows: Sequence[tuple[str, str, str]]) -> None:
        connection = getattr(self._mine, "connection", None)
        if connection is None:
            connection = self._mine.connection = self._connect()
        _insert(connection, rows)


def _insert(connection: sqlite3.Connection, rows: Sequence[tuple[str, str, str]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for row in rows:
        connection.execute(_INSERT, row)
    connection.execute("COMMIT")


def _message(text: str) -> str:
    return json.dumps({"role": "user", "text": text, "channel": "user"}, ensure_ascii=False)


def _fact(text: str) -> str:
    return json.dumps({"text": text, "confidence": 1.0}, ensure_ascii=False)
