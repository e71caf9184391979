"""One database file in this process: shared by all who opened it, whatever the path they used.

F1  A file has one writer, one lock file and one pool of readers in a process, found by device and
    inode.
F2  A forked child uses none of its parent's connections: it opens the file anew and never closes
    those.
F3  No cursor outlives a call, so a reader never holds the log longer than its read.
"""

import os
import random
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from ...errors import Misconfigured
from .failures import translating
from .migrate import is_ours, migrate, refuse_newer
from .posix import LockFile, refuse_network_folder
from .writer import Writer

OLDEST_SQLITE = (3, 37, 0)
WAIT_S = 10.0
_READERS = 4
_WORKERS_FROM = 1 << 32  # bytes of the lock file that stand for workers

_open: dict[tuple[int, int, bool], "DatabaseFile"] = {}
_guard = threading.Lock()
_inherited: list[object] = []
"""Connections of a parent process: kept from being closed, which would disturb the parent (F2)."""


class DatabaseFile:
    """Connections to one file: a writer (unless read-only) and a few readers."""

    def __init__(self, path: Path, *, read_only: bool, version: str) -> None:
        self.path = path
        self.users = 0
        self.workers: set[int] = set()
        self.inherited = False
        self._read_only = read_only
        self._idle: list[sqlite3.Connection] = []
        self._places = threading.BoundedSemaphore(_READERS)
        self._all: list[sqlite3.Connection] = []
        self.lock: LockFile | None = None
        self.writer: Writer | None = None
        self.immutable = read_only and _unwritable_without_log(path)
        try:
            if not read_only:
                self._open_for_writing(version)
            with self.reading() as connection:
                refuse_newer(connection, writing=not read_only)
                (self.salt,) = connection.execute(
                    "SELECT value FROM meta WHERE name = 'salt'"
                ).fetchone()
        except BaseException:
            self.close()
            raise

    def _open_for_writing(self, version: str) -> None:
        self.lock = LockFile(f"{self.path}-lock")
        with translating():
            connection = _connect(f"{_uri(self.path)}?mode=rw", WAIT_S)
            self._all.append(connection)
            connection.execute("PRAGMA secure_delete = ON").fetchone()
            connection.execute("PRAGMA wal_autocheckpoint = 0").fetchone()
            connection.execute("PRAGMA fullfsync = ON").fetchone()
            connection.execute("PRAGMA checkpoint_fullfsync = ON").fetchone()
            self.lock.acquire(WAIT_S)
            try:
                migrate(connection, version)
            finally:
                self.lock.release()
            (salt,) = connection.execute("SELECT value FROM meta WHERE name = 'salt'").fetchone()
        self.writer = Writer(connection, self.lock, salt, WAIT_S)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for one read; errors of the driver come out as ours."""
        with self._places, translating():
            try:
                connection = self._idle.pop()
            except IndexError:
                connection = self._reader()
            try:
                yield connection
            finally:
                self._idle.append(connection)

    def _reader(self) -> sqlite3.Connection:
        mode = "immutable=1" if self.immutable else "mode=ro" if self._read_only else "mode=rw"
        connection = _connect(f"{_uri(self.path)}?{mode}", WAIT_S)
        connection.execute("PRAGMA query_only = ON")
        self._all.append(connection)
        return connection

    def new_worker(self) -> int:
        """A number that shows, by a lock the system drops, that its holder lives."""
        number = _WORKERS_FROM + random.SystemRandom().getrandbits(48)
        self.workers.add(number)
        if self.lock is not None:
            self.lock.hold_byte(number)
        return number

    def drop_worker(self, number: int) -> None:
        """The holder of this number has closed."""
        self.workers.discard(number)
        if self.lock is not None:
            self.lock.drop_byte(number)

    def worker_alive(self, number: int) -> bool:
        """Whether a worker of this process or of another one lives."""
        if number in self.workers:
            return True
        return self.lock is not None and self.lock.byte_held(number)

    def close(self) -> None:
        """Close all connections, readers first so that the log can be cut; reads under way end
        first.
        """
        for _ in range(_READERS):
            self._places.acquire()
        self._idle.clear()
        for connection in self._all[1:] if self.writer is not None else self._all:
            connection.close()
        if self.writer is not None:
            self.writer.close()
        if self.lock is not None:
            self.lock.close()

    def disown(self) -> None:
        """In a forked child: leave the parent's connections alone and drop its lock (F2)."""
        self.inherited = True
        _inherited.append((self._all, self.writer))
        if self.lock is not None:
            self.lock.close()


def acquire(path: Path, *, read_only: bool, version: str) -> DatabaseFile:
    """The file's connections in this process, made on first use (F1)."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise Misconfigured(
            f"SQLite {sqlite3.sqlite_version} is too old.",
            hint="Use a Python with SQLite 3.37 or newer.",
        )
    with _guard:
        _prepare(path, read_only=read_only)
        found = path.stat()
        key = (found.st_dev, found.st_ino, read_only)
        file = _open.get(key)
        if file is None:
            if not any(other[:2] == key[:2] for other in _open):
                _probe(path)
            file = DatabaseFile(path.resolve(), read_only=read_only, version=version)
            _open[key] = file
        file.users += 1
        return file


def release(file: DatabaseFile) -> None:
    """Give the connections back; the last user closes them."""
    with _guard:
        file.users -= 1
        if file.users == 0 and not file.inherited:
            for key in [key for key, other in _open.items() if other is file]:
                del _open[key]
            file.close()


def _prepare(path: Path, *, read_only: bool) -> None:
    """Refuse what cannot be a database file, and make a new one that only its user may read."""
    if path.is_dir():
        raise Misconfigured(
            "The path is a directory.", hint="Name a file in it, such as 'agent.db'."
        )
    if not path.exists():
        if read_only:
            raise Misconfigured("There is no such file.", hint="Open it without read_only first.")
        if not path.parent.is_dir():
            raise Misconfigured("The folder of the file does not exist.", hint="Make it first.")
        refuse_network_folder(path.resolve())
        try:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        except OSError:
            raise Misconfigured(
                "The file cannot be made.", hint="Make its folder writable, or name another one."
            ) from None
    else:
        refuse_network_folder(path.resolve())


def _probe(path: Path) -> None:
    """Refuse a file that is not ours before anything is written to it (M1 in migrate.py)."""
    if path.stat().st_size == 0:
        return
    immutable = "&immutable=1" if _unwritable_without_log(path) else ""
    try:
        connection = _connect(f"{_uri(path)}?mode=ro{immutable}", WAIT_S)
        try:
            is_ours(connection)
        finally:
            connection.close()
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB:
            raise Misconfigured(
                "The file is not a database.", hint="Give holdfast a file of its own."
            ) from None
        with translating():
            raise


def _unwritable_without_log(path: Path) -> bool:
    """A log cannot be opened where its index cannot be made; without one the file is complete."""
    log = Path(f"{path}-wal")
    return not os.access(path.parent, os.W_OK) and not (log.exists() and log.stat().st_size)


def _uri(path: Path) -> str:
    return f"file:{quote(str(path.absolute()))}"


def _connect(uri: str, wait_s: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri,
        uri=True,
        timeout=wait_s,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    for setting in ("mmap_size = 0", "temp_store = MEMORY", "cell_size_check = ON"):
        connection.execute(f"PRAGMA {setting}").fetchone()
    return connection


def _after_fork() -> None:
    global _guard
    _guard = threading.Lock()
    for file in _open.values():
        file.disown()
    _open.clear()


os.register_at_fork(after_in_child=_after_fork)
