"""Plain stores beside holdfast: one that is right, and broken ones that the judge must catch.

    whole      one transaction a turn, WAL, synchronous=FULL: right
    normal     the same with synchronous=NORMAL: a power cut undoes a suffix
    off        the same with synchronous=OFF, though it claims to be full: 'lost' or worse
    half       one commit a statement
    lost       acknowledges first, writes five turns later
    twice      runs the effect, then records the step
    noeffect   records the step as done, then runs the effect
    phantom    writes a turn beside each that nobody announced
    gaveup     takes nothing any more once it has seen an error
    corrupt    no journal and a tiny cache, so that a kill leaves a table and its index apart

and a JSON file rewritten as a whole each turn:

    noopen     in place
    renamed    through a temporary file, nothing synced
    nofolder   temporary file synced and renamed, the folder not synced
    folder     the folder too: right
"""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from .invariants import Kept, Violation
from .story import Turn, canonical, fact, parse, state, texts

SCHEMA = """
CREATE TABLE IF NOT EXISTS rows (worker TEXT, number INT, part TEXT, body TEXT);
CREATE INDEX IF NOT EXISTS rows_by_body ON rows (body);
CREATE TABLE IF NOT EXISTS steps (
    worker TEXT, number INT, status TEXT, PRIMARY KEY (worker, number)
);
"""
JSON_HABITS = ("noopen", "renamed", "nofolder", "folder")
Send = Callable[[str, int], str]


def open_store(path: Path, habit: str) -> "PlainStore | JsonStore":
    """The store with that habit."""
    return JsonStore(path, habit) if habit in JSON_HABITS else PlainStore(path, habit)


def _rows(turn: Turn) -> list[tuple[str, int, str, str]]:
    parts = [(str(part), text) for part, text in enumerate(texts(turn))]
    if turn.is_batch:
        parts += [("state", canonical(state(turn))), ("fact", fact(turn))]
    return [(turn.worker, turn.number, part, body) for part, body in parts]


class PlainStore:
    """Turns and steps in a plain SQLite file."""

    def __init__(self, path: Path, habit: str) -> None:
        self.habit = habit
        self.waiting: list[Turn] = []
        self.broken = False
        self.db = sqlite3.connect(path, isolation_level=None, timeout=10)
        journal = "OFF" if habit == "corrupt" else "WAL"
        synchronous = {"normal": "NORMAL", "off": "OFF", "corrupt": "OFF"}.get(habit, "FULL")
        self.db.execute(f"PRAGMA journal_mode={journal}")
        self.db.execute(f"PRAGMA synchronous={synchronous}")
        self.db.execute(f"PRAGMA cache_size={5 if habit == 'corrupt' else 500}")
        # Small, so that a short run holds several checkpoints.
        self.db.execute("PRAGMA wal_autocheckpoint=50")
        self.db.executescript(SCHEMA)

    def write(self, turn: Turn) -> None:
        if self.broken:
            raise RuntimeError("this store has seen an error and takes nothing any more")
        if self.habit == "lost":
            self.waiting.append(turn)
            if len(self.waiting) < 5:
                return
            turns, self.waiting = self.waiting, []
        elif self.habit == "phantom":
            turns = [turn, Turn("ghost", turn.number)]
        else:
            turns = [turn]
        self._insert([row for each in turns for row in _rows(each)])

    def _insert(self, rows: list[tuple[str, int, str, str]]) -> None:
        if self.habit == "half":
            self._insert_all(rows)
            return
        self.db.execute("BEGIN IMMEDIATE")
        try:
            self._insert_all(rows)
            self.db.execute("COMMIT")
        except sqlite3.Error:
            if self.db.in_transaction:
                self.db.execute("ROLLBACK")
            self.broken = self.habit == "gaveup"
            raise

    def _insert_all(self, rows: list[tuple[str, int, str, str]]) -> None:
        for row in rows:
            self.db.execute("INSERT INTO rows VALUES (?, ?, ?, ?)", row)

    def step(self, turn: Turn, send: Send) -> None:
        if self.habit == "twice":
            send(*turn)
        elif self.habit == "noeffect":
            self._mark(turn, "done")
            send(*turn)
            return
        else:
            self._mark(turn, "running")
            send(*turn)
        self._mark(turn, "done")

    def _mark(self, turn: Turn, status: str) -> None:
        row = (turn.worker, turn.number, status)
        self.db.execute("INSERT OR REPLACE INTO steps VALUES (?, ?, ?)", row)

    def close(self) -> None:
        self.db.close()


class JsonStore:
    """Everything in one JSON file that is rewritten each time."""

    def __init__(self, path: Path, habit: str) -> None:
        self.path, self.habit = path, habit
        text = path.read_text() if path.exists() else ""
        self.data = json.loads(text) if text else {"rows": [], "steps": {}}

    def write(self, turn: Turn) -> None:
        self.data["rows"] += _rows(turn)
        self._save()

    def step(self, turn: Turn, send: Send) -> None:
        for status in ("running", "done"):
            if status == "done":
                send(*turn)
            self.data["steps"][f"{turn}"] = status
            self._save()

    def _save(self) -> None:
        target = self.path if self.habit == "noopen" else self.path.with_suffix(".new")
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        data = memoryview(json.dumps(self.data).encode())
        # In several writes, as a buffered file object does.
        for start in range(0, len(data), 16384):
            os.write(descriptor, data[start : start + 16384])
        if self.habit in ("nofolder", "folder"):
            os.fsync(descriptor)
        os.close(descriptor)
        if target != self.path:
            target.rename(self.path)
        if self.habit == "folder":
            folder = os.open(self.path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)

    def close(self) -> None:
        pass


def read(path: Path, habit: str) -> Kept:
    """What a fresh reader finds in the plain file."""
    kept = Kept()
    try:
        rows, steps = (_read_json if habit in JSON_HABITS else _read_sqlite)(path)
    except (sqlite3.Error, ValueError, OSError) as error:
        kept.breaches.append(Violation("noopen", f"{type(error).__name__}: {error}"))
        return kept
    for worker, number, part, body in rows:
        turn = Turn(worker, number)
        piece = kept.piece(turn)
        if part == "state":
            piece.states.append(body)
        elif part == "fact":
            piece.facts.append(body)
        elif parse(body) == (turn, part) and part not in piece.texts:
            piece.texts[part] = body
        else:
            piece.surplus += 1
    # A fresh process knows that whoever ran it is gone.
    names = {"running": "in_doubt"}
    kept.steps = {turn: names.get(status, status) for turn, status in steps.items()}
    return kept


Rows = list[tuple[str, int, str, str]]


def _read_sqlite(path: Path) -> tuple[Rows, dict[Turn, str]]:
    if not path.exists():
        return [], {}
    db = sqlite3.connect(path)
    rows: Rows = []
    steps: dict[Turn, str] = {}
    try:
        # A cut before the first commit leaves a file without tables: an empty store.
        tables = {name for (name,) in db.execute("SELECT name FROM sqlite_schema")}
        if "rows" in tables:
            rows = db.execute("SELECT * FROM rows ORDER BY rowid").fetchall()
        if "steps" in tables:
            steps = {Turn(w, n): s for w, n, s in db.execute("SELECT * FROM steps")}
    finally:
        db.close()
    return rows, steps


def _read_json(path: Path) -> tuple[Rows, dict[Turn, str]]:
    if not path.exists():
        return [], {}
    data = json.loads(path.read_bytes())
    steps = {}
    for name, status in data["steps"].items():
        worker, _, number = name.partition("/")
        steps[Turn(worker, int(number))] = status
    return [tuple(row) for row in data["rows"]], steps
