"""Group commit: concurrent callers' batches share one transaction and one sync.

W1  The first in the queue leads, and stays first until it leaves. It commits a group: its own batch
    and those of all who stand behind it by then.
W2  Whoever leaves, however it leaves (return, error, Ctrl-C at any moment), takes itself and what
    was answered out of the queue and wakes the new first. Leaving can be interrupted and done
    again.
W3  A batch is answered only after the commit that holds it. It is committed at most once: after a
    rollback it is still in the queue, unless its caller has left.
W4  A group that SQLite refuses is rolled back whole, and each of its batches tried alone.

A lone caller is first at once and pays neither a thread nor an event. Lingering for company is left
out: measured, it halves the rate where a sync is short and gains nothing where it is long.
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

Answer = Applied | HoldfastError | bool
Job = Callable[[], bool]


class Ticket:
    """One caller's batch, or a job, on its way; `gate` opens when it may look again."""

    __slots__ = ("answer", "batch", "durability", "gate", "job", "leads", "left", "taken")

    def __init__(self, batch: Batch | None, durability: Durability, job: Job | None = None) -> None:
        self.batch = batch
        self.durability = durability
        self.job = job
        self.answer: Answer | None = None
        self.gate = threading.Lock()
        self.leads = self.taken = self.left = False


class Writer:
    """The one writer of a file in this process. Its connection is opened when it is needed."""

    def __init__(
        self,
        connect: Callable[[], sqlite3.Connection],
        lock: LockFile | InProcessLock,
        salt: bytes,
        wait_s: float,
    ) -> None:
        self._connect = connect
        self._open: sqlite3.Connection | None = None
        self._lock = lock
        self._salt = salt
        self._wait_s = wait_s
        self._mutex = threading.Lock()
        self._queue: deque[Ticket] = deque()
        self._committing: list[tuple[Ticket, Answer]] = []
        self._synchronous = ""
        self._logged_pages = 0
        self._closed = False
        self._pausing = Ticket(None, "full")

    def apply(self, batch: Batch, durability: Durability) -> Applied:
        """Commit the batch, alone or with others; returns when it is durable."""
        answer = self._submit(Ticket(batch, durability))
        assert isinstance(answer, Applied)
        return answer

    def truncate_log(self) -> bool:
        """Copy the log into the file and cut it to nothing; False while a reader holds it."""
        return bool(self._submit(Ticket(None, "full", self._truncate)))

    def close(self) -> None:
        """Let those before end, fold the log, refuse those behind; the log goes under the lock."""
        self._submit(Ticket(None, "full", self._close))

    def pause(self) -> None:
        """Lead, and close the connection: nobody else commits until `resume`. For a fork."""
        self._pausing = Ticket(None, "full", lambda: True)
        self._enter(self._pausing)
        self._wait(self._pausing)
        with suppress(Busy):
            self._lock.acquire(self._wait_s)
        self._drop_connection()
        self._lock.release()

    def resume(self) -> None:
        """Leave the lead that `pause` took."""
        self._leave(self._pausing)

    @property
    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            self._open = self._connect()
            self._synchronous = ""
        return self._open

    def _drop_connection(self) -> None:
        if self._open is not None:
            with suppress(sqlite3.Error):
                self._open.close()
            self._open = None

    def _submit(self, ticket: Ticket) -> Answer:
        interrupted: BaseException | None = None
        try:
            self._enter(ticket)
            if self._wait(ticket):
                self._lead(ticket)
        finally:
            # An interrupt may fall into this, too, and must not stop it. No call stands before the
            # `try`: Python delivers signals at calls and loops, so none can come in between.
            for _ in _PATIENCE:
                try:
                    self._leave(ticket)
                    break
                except BaseException as error:  # put off, not swallowed
                    interrupted = error
        if interrupted is not None:
            raise interrupted
        answer = ticket.answer
        if isinstance(answer, HoldfastError):
            raise answer
        assert answer is not None  # W3
        return answer

    def _enter(self, ticket: Ticket) -> None:
        with self._mutex:
            if self._closed:
                raise _closed()
            if len(self._queue) >= _QUEUE:
                raise Busy("Too many writes are waiting.", hint="Retry, with fewer at a time.")
            ticket.gate.acquire()
            self._queue.append(ticket)

    def _wait(self, ticket: Ticket) -> bool:
        """Wait for an answer or the lead (True); bounded, unless it is being committed."""
        patience = 3
        while True:
            with self._mutex:
                if ticket.answer is not None:
                    return False
                if self._queue[0] is ticket:
                    ticket.leads = True
                    return True
                if patience <= 0 and not ticket.taken:
                    ticket.left = True
                    raise Busy("The write waited too long for its turn.", hint="Retry.")
            patience -= not ticket.gate.acquire(timeout=self._wait_s)

    def _leave(self, ticket: Ticket) -> None:
        """Go in order, whatever happened (W2); an interrupt may make it happen twice."""
        if ticket.answer is not None and not ticket.leads and not ticket.left:
            return
        if ticket.leads:
            self._settle()
        with self._mutex:
            ticket.left = True
            staying = [t for t in self._queue if not t.left and (t.leads or t.answer is None)]
            answered = [t for t in self._queue if t.answer is not None]
            if ticket.leads:
                for other in staying:
                    other.taken = False
            # No longer the leader before another is woken: who does this again must not settle
            # what the next one is in the middle of.
            ticket.leads = False
            # Woken before they are out of the queue: who does this again finds them all there.
            for other in (*answered, *staying[:1]):
                if other.gate.locked():
                    other.gate.release()
            self._queue = deque(staying)

    def _settle(self) -> None:
        """End what the leader was in the middle of: a transaction that is open was not committed,
        one that was to be committed and is not open any more was (W3)."""
        if self._open is not None and self._open.in_transaction:
            self._committing = []
            try:
                self._open.execute("ROLLBACK")
            except sqlite3.Error:
                self._drop_connection()
        for ticket, answer in self._committing:
            ticket.answer = answer
        self._committing = []
        self._lock.release()

    def _lead(self, ticket: Ticket) -> None:
        group = self._take([ticket])
        try:
            self._lock.acquire(self._wait_s)
            reach("commit.locked")
            if ticket.job is not None:
                ticket.answer = ticket.job()
            else:
                self._commit(group)
        except HoldfastError as error:
            for other in group:
                other.answer = other.answer or error
        except sqlite3.Error as error:
            for other in group:
                other.answer = other.answer or translated(error)
        finally:
            self._settle()
        with self._mutex:
            for other in group[1:]:
                if other.gate.locked():
                    other.gate.release()
        if self._logged_pages > _CHECKPOINT_PAGES:
            self._checkpoint()

    def _take(self, group: list[Ticket]) -> list[Ticket]:
        """Those who stand behind the leader join, up to a job or one who needs a stronger sync than
        the open transaction was begun with."""
        with self._mutex:
            for other in self._queue:
                stronger = self._synchronous != "FULL" and other.durability == "full"
                begun = self._open is not None and self._open.in_transaction
                if len(group) >= _GROUP or group[0].job or other.job or (begun and stronger):
                    break
                if not (other.leads or other.taken or other.left):
                    other.taken = True
                    group.append(other)
        return group

    def _commit(self, group: list[Ticket]) -> None:
        """Commit the leader's batch and all that joined; each alone when that is refused (W4)."""
        refused = self._try(group, grow=True)
        if refused is None:
            return
        for ticket in group:
            alone = self._try([ticket], grow=False) if len(group) > 1 else refused
            if alone is not None:
                ticket.answer = alone

    def _try(self, group: list[Ticket], *, grow: bool) -> HoldfastError | None:
        """One transaction; the answers stand when it is committed, else the error that undid it."""
        answers: list[Answer] = []
        try:
            full = any(ticket.durability == "full" for ticket in group)
            self._sync_as("FULL" if full else "NORMAL")
            self._connection.execute("BEGIN IMMEDIATE")
            reach("commit.begun")
            session = Session(self._connection, self._salt)
            while len(answers) < len(group):
                answers.append(_applied(session, group[len(answers)]))
                if grow and len(answers) == len(group):
                    self._take(group)
            session.finish()
            reach("commit.before")
            self._committing = list(zip(group, answers, strict=True))
            self._connection.execute("COMMIT" if session.wrote else "ROLLBACK")
        except sqlite3.Error as error:
            self._committing = []
            self._settle_transaction()
            return translated(error)
        reach("commit.after")
        for ticket, answer in self._committing:
            ticket.answer = answer
        self._committing = []
        self._logged_pages += sum(_pages(ticket.batch) for ticket in group)
        reach("commit.answered")
        return None

    def _settle_transaction(self) -> None:
        if self._open is not None and self._open.in_transaction:
            self._open.execute("ROLLBACK")

    def _sync_as(self, wanted: str) -> None:
        connection = self._connection
        if wanted != self._synchronous:
            # An interrupt may come in between: then it is unknown, never believed to be stronger.
            self._synchronous = ""
            connection.execute(f"PRAGMA synchronous = {wanted}")
            self._synchronous = wanted

    def _checkpoint(self) -> None:
        """Fold the log into the file; the commit is long answered, so a failure only delays it.

        A small commit then begins the log anew (unless a reader holds it): as long as the folded
        pages stand in it, a log that is cut would put older pages over newer ones.
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

    def _close(self) -> bool:
        """SQLite folds and removes the log at the last close: this is under the lock."""
        with suppress(sqlite3.Error):
            self._truncate()
        self._drop_connection()
        with self._mutex:
            self._closed = True
            for other in self._queue:
                if not other.leads:
                    other.answer = _closed()
        return True


def truncate(connection: sqlite3.Connection) -> bool:
    """Fold the log and cut it to nothing; False when a reader holds it. Waits little: others do."""
    (patience,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {_TRUNCATE_WAIT_MS}").fetchone()
    try:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout = {patience}").fetchone()
    return not busy


def _applied(session: Session, ticket: Ticket) -> Answer:
    assert ticket.batch is not None
    try:
        return session.apply(ticket.batch)
    except HoldfastError as refused:
        return refused


def _closed() -> Misconfigured:
    return Misconfigured("The memory is closed.", hint="Open it again.")


def _pages(batch: Batch | None) -> int:
    """About how many pages of log a batch costs; SQLite does not tell."""
    if batch is None:
        return 0
    size = sum(len(put.record.body) for put in batch.puts)
    return _PAGES_A_BATCH + size // _BYTES_A_PAGE
