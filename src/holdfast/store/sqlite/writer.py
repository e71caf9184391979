"""Group commit: concurrent callers' batches share one transaction and one sync.

W1  At most one caller leads. It commits a group: its own batch and all that arrived meanwhile.
W2  Whoever leads, hands over: to the first that waits, however it leaves (return, error, Ctrl-C).
W3  A batch is answered only after the commit that holds it, and committed at most once: it goes to
    a later group only when its own was rolled back, and not when its caller has left.
W4  A group that SQLite refuses is rolled back whole, and each of its batches tried alone.

A lone caller finds nobody leading and pays neither a thread nor an event. Lingering for company is
left out: measured, it halves the rate where a sync is short and gains nothing where it is long.
"""

import sqlite3
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from ...errors import Busy, HoldfastError, Misconfigured
from ..contract import Applied, Batch, Durability
from ..points import reach
from .failures import translated
from .inmemory import InProcessLock
from .posix import LockFile
from .session import Session

_GROUP = 64
_QUEUE = 10_000
_CHECKPOINT_PAGES = 1_000
_PATIENCE = range(10)
_TRUNCATE_WAIT_MS = 200
_PAGES_A_BATCH, _BYTES_A_PAGE = 6, 3_000
_STRENGTH = {"relaxed": 0, "normal": 1, "full": 2}
_PRAGMA = {"relaxed": "NORMAL", "normal": "NORMAL", "full": "FULL"}


class Ticket:
    """One caller's batch on its way; `gate` opens when it is answered or has to lead."""

    __slots__ = ("answer", "batch", "durability", "gate", "job", "left")

    def __init__(
        self, batch: Batch | None, durability: Durability, job: Callable[[], bool] | None
    ) -> None:
        self.batch = batch
        self.durability = durability
        self.job = job
        self.gate: threading.Lock | None = None
        self.left = False
        self.answer: Applied | bool | BaseException | None = None


class Writer:
    """The one writer of a file in this process."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        lock: LockFile | InProcessLock,
        salt: bytes,
        wait_s: float,
    ) -> None:
        self._connection = connection
        self._lock = lock
        self._salt = salt
        self._wait_s = wait_s
        self._mutex = threading.Lock()
        self._queue: deque[Ticket] = deque()
        self._leader: Ticket | None = None
        self._trying: list[Ticket] = []
        self._synchronous = ""
        self._logged_pages = 0
        self._closed = False

    def apply(self, batch: Batch, durability: Durability) -> Applied:
        """Commit the batch, alone or with others; returns when it is durable."""
        answer = self._submit(Ticket(batch, durability, None))
        assert isinstance(answer, Applied)
        return answer

    def truncate_log(self) -> bool:
        """Copy the log into the file and cut it to nothing; False while a reader holds it."""
        return bool(self._submit(Ticket(None, "full", self._truncate)))

    def close(self) -> None:
        """Let the group in progress end, refuse others, and fold the log into the file."""
        with suppress(HoldfastError):
            self.truncate_log()
        with self._mutex:
            self._closed = True
        try:
            # SQLite folds and removes the log when the last connection closes: also under the lock.
            with suppress(Busy):
                self._lock.acquire(self._wait_s)
            self._connection.close()
        finally:
            self._lock.release()

    def _submit(self, ticket: Ticket) -> Applied | bool:
        group = [ticket]
        interrupted: BaseException | None = None
        try:
            if self._enter(ticket) or self._wait(ticket):
                self._commit(group)
                self._wake(group)
                if self._logged_pages > _CHECKPOINT_PAGES:
                    self._checkpoint()
        finally:
            # An interrupt may fall into this, too, and must not stop it. No call stands before the
            # `try`: Python delivers signals at calls and loops, so none can come in between.
            for _ in _PATIENCE:
                try:
                    self._settle(ticket, group)
                    break
                except BaseException as error:  # put off, not swallowed
                    interrupted = error
        if interrupted is not None:
            raise interrupted
        answer = ticket.answer
        if isinstance(answer, BaseException):
            raise answer
        assert answer is not None  # W3
        return answer

    def _enter(self, ticket: Ticket) -> bool:
        """Join the queue; True for who finds nobody leading."""
        with self._mutex:
            if self._closed:
                raise Misconfigured("The memory is closed.", hint="Open it again.")
            if self._leader is None:
                self._leader = ticket
                return True
            if len(self._queue) >= _QUEUE:
                raise Busy("Too many writes are waiting.", hint="Retry, with fewer at a time.")
            ticket.gate = threading.Lock()
            ticket.gate.acquire()
            self._queue.append(ticket)
            return False

    def _wait(self, ticket: Ticket) -> bool:
        """Wait until answered or made leader; True for a leader. Bounded, then Busy."""
        assert ticket.gate is not None
        while not ticket.gate.acquire(timeout=3 * self._wait_s):
            with self._mutex:
                if ticket in self._queue:
                    self._queue.remove(ticket)
                    raise Busy("The write waited too long for its turn.", hint="Retry.")
        return self._leader is ticket

    def _settle(self, ticket: Ticket, group: list[Ticket]) -> None:
        """Leave in order, whatever happened (W2). May be interrupted and run again.

        A transaction that is still open was not committed: its batches go back to the queue, to be
        committed by the next leader. What committed is answered.
        """
        if self._leader is not ticket:
            with self._mutex, suppress(ValueError):
                ticket.left = True
                self._queue.remove(ticket)
            return
        if self._connection.in_transaction:
            for other in self._trying:
                other.answer = None
            self._connection.execute("ROLLBACK")
        self._wake(group)
        undecided = [other for other in group[1:] if other.answer is None]
        with self._mutex:
            for other in reversed(undecided):
                if other not in self._queue and not other.left:
                    self._queue.appendleft(other)
            self._leader = self._queue.popleft() if self._queue else None
            if self._leader is not None and self._leader.gate is not None:
                self._leader.gate.release()

    def _wake(self, group: list[Ticket]) -> None:
        for other in group[1:]:
            if other.answer is not None and other.gate is not None and other.gate.locked():
                other.gate.release()

    def _commit(self, group: list[Ticket]) -> None:
        """Commit the leader's batch and all that came meanwhile, and answer them."""
        try:
            try:
                self._lock.acquire(self._wait_s)
            except HoldfastError as error:
                self._answer_all(group, error)
                return
            reach("commit.locked")
            if group[0].job is not None:
                try:
                    group[0].answer = group[0].job()
                except sqlite3.Error as error:
                    group[0].answer = translated(error)
                return
            failed = self._try(group, grow=True)
            if failed is not None and len(group) > 1:
                for ticket in group:
                    alone = self._try([ticket], grow=False)
                    if alone is not None:
                        ticket.answer = alone
            elif failed is not None:
                group[0].answer = failed
        finally:
            self._lock.release()

    def _answer_all(self, group: list[Ticket], error: HoldfastError) -> None:
        with self._mutex:
            group.extend(self._queue)
            self._queue.clear()
        for ticket in group:
            ticket.answer = error

    def _try(self, group: list[Ticket], *, grow: bool) -> HoldfastError | None:
        """One transaction; the answers stand when it is committed, else the error that undid it."""
        answers: list[Applied | HoldfastError] = []
        self._trying = group
        try:
            self._begin(group, grow=grow)
            session = Session(self._connection, self._salt)
            while len(answers) < len(group):
                batch = group[len(answers)].batch
                assert batch is not None
                try:
                    answers.append(session.apply(batch))
                except HoldfastError as refused:
                    answers.append(refused)
                if grow and len(answers) == len(group):
                    self._take_late(group)
            session.finish()
            reach("commit.before")
            # From here on the answers are true as soon as no transaction is open any more.
            for ticket, answer in zip(group, answers, strict=True):
                ticket.answer = answer
            self._connection.execute("COMMIT" if session.wrote else "ROLLBACK")
            reach("commit.after")
        except sqlite3.Error as error:
            for ticket in group:
                ticket.answer = None
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            return translated(error)
        self._logged_pages += sum(_pages(ticket.batch) for ticket in group)
        reach("commit.answered")
        return None

    def _begin(self, group: list[Ticket], *, grow: bool) -> None:
        if grow:
            self._take_late(group)
        strongest = max(group, key=lambda ticket: _STRENGTH[ticket.durability]).durability
        self._sync_as(_PRAGMA[strongest])
        self._connection.execute("BEGIN IMMEDIATE")
        reach("commit.begun")

    def _sync_as(self, wanted: str) -> None:
        if wanted != self._synchronous:
            self._connection.execute(f"PRAGMA synchronous = {wanted}")
            self._synchronous = wanted

    def _take_late(self, group: list[Ticket]) -> None:
        """Batches that arrived meanwhile join, unless they ask for a stronger sync than was set."""
        if not self._queue:
            return
        with self._mutex:
            while self._queue and len(group) < _GROUP:
                late = self._queue[0]
                weaker = self._synchronous == "FULL" or _PRAGMA[late.durability] != "FULL"
                if late.job is not None or (self._connection.in_transaction and not weaker):
                    return
                group.append(self._queue.popleft())

    def _checkpoint(self) -> None:
        """Fold the log into the file; the commit is long answered, so a failure only delays it.

        A small commit then begins the log anew: as long as the folded pages stand in it, a log that
        is cut would put older pages over newer ones.
        """
        self._logged_pages = 0
        try:
            self._lock.acquire(self._wait_s)
            reach("checkpoint.before")
            self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            self._sync_as("NORMAL")
            self._connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'folds'")
            reach("checkpoint.after")
        except (Busy, sqlite3.Error):
            return
        finally:
            self._lock.release()

    def _truncate(self) -> bool:
        reach("checkpoint.before")
        done = truncate(self._connection)
        reach("checkpoint.after")
        self._logged_pages = 0
        return done


def truncate(connection: sqlite3.Connection) -> bool:
    """Fold the log and cut it to nothing; False when a reader holds it. Waits little: others do."""
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {_TRUNCATE_WAIT_MS}").fetchone()
    try:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}").fetchone()
    return not busy


def _pages(batch: Batch | None) -> int:
    """About how many pages of log a batch costs; SQLite does not tell."""
    if batch is None:
        return 0
    size = sum(len(put.record.body) for put in batch.puts)
    return _PAGES_A_BATCH + size // _BYTES_A_PAGE
