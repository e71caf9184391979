"""One database file in this process: shared by all who opened it, whatever the path they used.

F1  A file has one writer, one lock file and one pool of readers in a process, found by device and
    inode; who opened it read-only shares readers of their own.
F2  No connection is open while the process forks; parent and child open their own afterwards.
F3  No cursor outlives a call, so a reader never holds the log longer than its read.
"""

import os
import random
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import quote

from ...errors import Misconfigured
from .failures import translated, translating
from .inmemory import InProcessLock
from .migrate import is_ours, migrate, read_meta
from .posix import LockFile, refuse_network_folder
from .writer import Writer, truncate

OLDEST_SQLITE = (3, 37, 0)
WAIT_S = 20.0
_SETTINGS = ("mmap_size = 0", "temp_store = MEMORY", "cell_size_check = ON")
_WRITING = (
    "secure_delete = ON", "wal_autocheckpoint = 0", "fullfsync = ON", "checkpoint_fullfsync = ON",
)  # fmt: skip
_READERS = 4
_WORKERS_FROM = 1 << 32  # bytes of the lock file that stand for workers

Lock = LockFile | InProcessLock
Location = Path | str
"""A file's path, or the name of a database in memory; '' is a new one each time."""

_open: dict[tuple[object, ...], "DatabaseFile"] = {}
_guard = threading.Lock()
_paused: list["DatabaseFile"] = []
"""Those whose connections are closed while the process forks."""


class DatabaseFile:
    """Connections to one file: a writer (unless read-only) and a few readers."""

    def __init__(self, path: Location, *, read_only: bool, version: str) -> None:
        self.path = path
        self.users = 0
        self.workers: set[int] = set()
        self.inherited = False
        self.lock: Lock | None = None
        self.writer: Writer | None = None
        self._read_only = read_only
        self._closed = False
        self._memory: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        self._places = threading.BoundedSemaphore(_READERS)
        try:
            lock = None if read_only else self._prepare_writing(version)
            with self.reading() as reader:
                self.salt = read_meta(reader, writing=not read_only)
            if lock is not None:
                self.writer = Writer(self._connect_writer, lock, self.salt, WAIT_S)
        except BaseException:
            self.close()
            raise

    def _prepare_writing(self, version: str) -> Lock:
        in_memory = isinstance(self.path, str)
        lock = self.lock = InProcessLock() if in_memory else LockFile(f"{self.path}-lock")
        with translating():
            connection = self._connect_writer()
            lock.acquire(WAIT_S)
            try:
                migrate(connection, version)
                # A process killed after an erasure left what was erased in the log.
                with suppress(sqlite3.Error):
                    truncate(connection)
            finally:
                if not in_memory:
                    connection.close()
                lock.release()
        return lock

    def _connect_writer(self) -> sqlite3.Connection:
        if self._memory is not None:
            return self._memory
        connection = _connect(self.path, "mode=rw")
        for setting in _WRITING:
            connection.execute(f"PRAGMA {setting}").fetchone()
        if isinstance(self.path, str):
            self._memory = connection
        return connection

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for one read; errors of the driver come out as ours."""
        if self._memory is not None and isinstance(self.lock, InProcessLock):
            with self.lock.mutex, translating():
                yield self._memory
            return
        with self._places:
            if self._closed:
                raise Misconfigured("The memory is closed.", hint="Open it again.")
            try:
                connection = self._idle.pop() if self._idle else self._reader()
                try:
                    yield connection
                finally:
                    self._idle.append(connection)
            except sqlite3.Error as error:
                raise translated(error) from error

    def _reader(self) -> sqlite3.Connection:
        connection = _connect(self.path, _reading_mode(self.path, read_only=self._read_only))
        connection.execute("PRAGMA query_only = ON")
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
        if number in self.workers or self.lock is None:
            return True  # a read-only handle has no lock file to ask, so nobody is known to be gone
        return self.lock.byte_held(number)

    def close(self) -> None:
        """Close all connections, readers first so that the log can be cut."""
        self._take_readers()
        self._closed = True
        self._give_readers_back()
        if self.writer is not None:
            self.writer.close()
        if self.lock is not None:
            self.lock.close()

    def _take_readers(self) -> None:
        """Let the reads under way end, and close all readers."""
        for _ in range(_READERS):
            self._places.acquire()
        while self._idle:
            self._idle.pop().close()

    def _give_readers_back(self) -> None:
        for _ in range(_READERS):
            self._places.release()

    def pause(self) -> None:
        """Before a fork: no connection may be open, since SQLite keeps what it knows of the locks
        of a file in the process's memory, and the child would believe in locks that it has not
        (F2).
        """
        if self._memory is None:
            if self.writer is not None:
                self.writer.pause()
            self._take_readers()

    def resume(self) -> None:
        """After a fork, in the parent: connections are opened again when they are needed."""
        if self._memory is None:
            self._give_readers_back()
            if self.writer is not None:
                self.writer.resume()

    def disown(self) -> None:
        """In a forked child: this is the parent's; a descriptor here would hold its lock (F2)."""
        self.inherited = True
        if self.lock is not None:
            self.lock.close()


def acquire(path: Location, *, read_only: bool, version: str) -> DatabaseFile:
    """The database's connections in this process, made on first use (F1)."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise Misconfigured(
            f"SQLite {sqlite3.sqlite_version} is too old.",
            hint="Use a Python with SQLite 3.37 or newer.",
        )
    with _guard:
        key = _key(path, read_only=read_only)
        file = _open.get(key)
        if file is None:
            if isinstance(path, Path):
                if (*key[:2], not read_only) not in _open:
                    _probe(path)
                path = path.resolve()
            file = _open[key] = DatabaseFile(path, read_only=read_only, version=version)
        file.users += 1
        return file


def _key(path: Location, *, read_only: bool) -> tuple[object, ...]:
    """What tells two databases apart; the same file has one key whatever path leads to it."""
    if isinstance(path, str):
        return (path or object(),)
    _prepare(path, read_only=read_only)
    found = path.stat()
    return found.st_dev, found.st_ino, read_only


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
    try:
        if path.is_dir():
            raise Misconfigured("The path is a directory.", hint="Name a file in it: 'agent.db'.")
        there = path.exists()
        if not there and not path.parent.is_dir():
            raise Misconfigured("The folder of the file does not exist.", hint="Make it first.")
        refuse_network_folder(path.resolve())
        if read_only and (not there or path.stat().st_size == 0):
            raise Misconfigured(
                "There is no such file, or an empty one.", hint="Open it without read_only first."
            )
        if not there:
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError:
        raise Misconfigured(
            "The file cannot be made or reached.",
            hint="Make its folder writable, or name another one.",
        ) from None


def _probe(path: Path) -> None:
    """Refuse a file that is not ours before anything is written to it (M1 in migrate.py)."""
    if path.stat().st_size == 0:
        return
    try:
        _look_inside(path, _reading_mode(path, read_only=True))
    except sqlite3.Error as error:
        if error.sqlite_errorcode == sqlite3.SQLITE_READONLY_ROLLBACK:
            # A power cut while the file was made: whoever reads first has to roll that back.
            with translating():
                return _look_inside(path, "mode=rw")
        if error.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
            raise Misconfigured(
                "The file is not a database.", hint="Give holdfast a file of its own."
            ) from None
        raise translated(error) from error


def _look_inside(path: Path, mode: str) -> None:
    connection = _connect(path, mode)
    try:
        is_ours(connection)
    finally:
        connection.close()


def _reading_mode(path: Location, *, read_only: bool) -> str:
    """How to open for reading. In a folder that cannot be written the log's index cannot be made;
    where neither log nor index is, nobody has the file open and it is complete by itself."""
    if isinstance(path, str) or not read_only:
        return "mode=rw"
    alone = not any(Path(f"{path}{end}").exists() for end in ("-wal", "-shm"))
    return "immutable=1" if alone and not os.access(path.parent, os.W_OK) else "mode=ro"


def _connect(path: Location, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        ":memory:" if isinstance(path, str) else f"file:{quote(str(path.absolute()))}?{mode}",
        uri=True,
        timeout=WAIT_S,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    for setting in _SETTINGS:
        connection.execute(f"PRAGMA {setting}").fetchone()
    return connection


def _before_fork() -> None:
    _guard.acquire()
    for file in _open.values():
        file.pause()
        _paused.append(file)


def _after_fork_in_parent() -> None:
    while _paused:
        _paused.pop().resume()
    _guard.release()


def _after_fork_in_child() -> None:
    global _guard
    _guard = threading.Lock()
    for file in _open.values():
        file.disown()
    _open.clear()
    _paused.clear()


os.register_at_fork(
    before=_before_fork,
    after_in_parent=_after_fork_in_parent,
    after_in_child=_after_fork_in_child,
)
