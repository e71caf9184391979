"""Making a database, and bringing an older one forward.

M1  A file that is not ours is refused before anything is written to it.
M2  A migration is one transaction: a kill leaves the old form or the new one, and the next open
    goes on.
M3  Migrations are numbered SQL files, applied once, forward only; each names the version that
    brought it.
M4  A file that says it needs a newer reader (or, to write, a newer writer) is refused untouched.
"""

import os
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import resources

from ...errors import Corrupt, Misconfigured
from ..points import reach

APPLICATION_ID = 0x486F6C64  # "Hold"
FORMAT = 1
"""What this code reads and writes; a file asks for more by meta.min_reader and meta.min_writer."""

Migration = tuple[int, str, str, str]


def migrations() -> list[Migration]:
    """Number, name, version that brought it, and SQL of each migration, in order."""
    folder = resources.files(__package__) / "schema"
    found = []
    for entry in sorted(folder.iterdir(), key=lambda file: file.name):
        if entry.name.endswith(".sql"):
            sql = entry.read_text()
            needs = sql.partition("\n")[0].removeprefix("-- needs: ").strip()
            found.append((int(entry.name[:4]), entry.name.removesuffix(".sql"), needs, sql))
    return found


def is_ours(connection: sqlite3.Connection) -> bool:
    """True for a holdfast file, False for an empty one; Misconfigured for anything else (M1)."""
    (found,) = connection.execute("PRAGMA application_id").fetchone()
    if found == APPLICATION_ID:
        return True
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    if found or tables:
        raise Misconfigured(
            "The file is another application's database.",
            hint="Give holdfast a file of its own.",
        )
    return False


def read_meta(connection: sqlite3.Connection, *, writing: bool) -> bytes:
    """The file's salt; Misconfigured when the file asks for a newer holdfast (M4)."""
    meta = dict(connection.execute("SELECT name, value FROM meta"))
    if not meta.keys() >= {"salt", "min_reader", "min_writer", "needs"}:
        raise _damaged()
    wanted = max(meta["min_reader"], meta["min_writer"] if writing else 0)
    if wanted > FORMAT:
        verb = "written" if meta["min_reader"] <= FORMAT else "read"
        raise Misconfigured(
            f"The file can only be {verb} by holdfast {meta['needs']} or newer.",
            hint=f"pip install 'holdfast>={meta['needs']}'",
            needs=meta["needs"],
        )
    salt: bytes = meta["salt"]
    return salt


def _damaged() -> Corrupt:
    return Corrupt(
        "The database has lost what it says of itself.",
        hint="Stop writing to it, keep the file, and restore a copy.",
    )


def migrate(connection: sqlite3.Connection, version: str) -> None:
    """Bring the file to the newest form; the caller holds the lock file."""
    fresh = not is_ours(connection)
    if fresh:
        # These take effect only while the file is empty.
        connection.execute("PRAGMA page_size = 4096")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    else:
        read_meta(connection, writing=True)
    # A copy made by other tools may have left the mode in which readers and writers do not meet.
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode not in ("wal", "memory"):
        raise Misconfigured(
            "The file cannot keep a write-ahead log.", hint="Close other programs that use it."
        )
    done = set()
    if not fresh:
        done = {number for (number,) in connection.execute("SELECT number FROM migrations")}
        if 1 not in done:
            raise _damaged()
    missing = [migration for migration in migrations() if migration[0] not in done]
    if missing:
        _apply(connection, missing, version, fresh=fresh)


def _apply(
    connection: sqlite3.Connection, todo: list[Migration], version: str, *, fresh: bool
) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        reach("migration.begun")
        if fresh:
            _begin_file(connection)
        for number, name, needs, sql in todo:
            for statement in statements(sql):
                connection.execute(statement)
            connection.execute(
                "INSERT INTO migrations VALUES (?, ?, ?, ?)",
                (number, name, needs, datetime.now(UTC).isoformat(timespec="seconds")),
            )
        if fresh:
            _fill_meta(connection, version)
        reach("migration.written")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
    reach("migration.committed")


def _begin_file(connection: sqlite3.Connection) -> None:
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(
        "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL,"
        " needs TEXT NOT NULL, applied_at TEXT NOT NULL) STRICT"
    )


def _fill_meta(connection: sqlite3.Connection, version: str) -> None:
    connection.executemany(
        "INSERT INTO meta VALUES (?, ?)",
        [
            ("salt", os.urandom(32)),
            ("folds", 0),
            ("top", 0),
            ("min_reader", 1),
            ("min_writer", 1),
            ("needs", version),
            ("made_by", version),
        ],
    )


def statements(sql: str) -> Iterator[str]:
    """The statements of a script one by one: `executescript` would commit behind our back."""
    pending = ""
    for line in sql.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
