"""What SQLite alone does not give across processes; the only file that knows the operating system.

One lock file stands beside each database. A flock on it serialises commit groups, checkpoints and
the last close: SQLite's own busy handler sleeps and starves somebody for seconds, and a checkpoint
that races a commit which resets the log is a corruption bug of SQLite before 3.51.3. A byte-range
lock far inside it tells that a worker lives: the system drops it with the process, so that no pid
can mislead.

The two kinds do not see each other, and each has a trap. A flock lives on in a forked child until
its descriptor is closed there; a byte-range lock is dropped by any close of the file in its
process, so the file is opened once and closed last.
"""

import errno
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from ...errors import Busy, Misconfigured, Unavailable

_NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre"}
_TURN = 1
"""The byte that stands for being next."""
_PAUSE_S = 0.0001
_LONG_PAUSE_S = 0.0005


class LockFile:
    """The lock file of one database, held open once per process."""

    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except PermissionError:
            raise Misconfigured(
                "The folder of the database is not writable.",
                hint="Make it writable, or open the file with read_only=True.",
            ) from None
        except OSError as error:
            raise Unavailable(
                f"The lock file cannot be made ({errno.errorcode.get(error.errno or 0)}).",
                hint="Free space on the disk, or check its health, and retry.",
            ) from None

    def acquire(self, wait_s: float) -> None:
        """Take the commit lock, or raise Busy when it cannot be had in time.

        First the turn, then the lock: whoever has the turn is next, so that a process which writes
        all the time cannot take the lock again before those who wait.
        """
        deadline = time.monotonic() + wait_s
        try:
            _poll(lambda: self._byte(_TURN), deadline)
            _poll(self._commit_lock, deadline)
        except TimeoutError:
            raise Busy(
                f"Other processes kept the database locked for {wait_s:g} s.",
                hint="Retry; if it stays so, look for a process that hangs while it writes.",
            ) from None
        finally:
            self.drop_byte(_TURN)

    def _commit_lock(self) -> bool:
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def release(self) -> None:
        """Give the commit lock back, and the turn if an interrupt left it taken."""
        fcntl.flock(self._fd, fcntl.LOCK_UN)
        self.drop_byte(_TURN)

    def _byte(self, number: int) -> bool:
        try:
            fcntl.lockf(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except (BlockingIOError, PermissionError):
            return False
        return True

    def hold_byte(self, number: int) -> None:
        """Show that a worker lives, until `drop_byte` or the end of the process."""
        self._byte(number)

    def drop_byte(self, number: int) -> None:
        """Show that a worker is gone."""
        fcntl.lockf(self._fd, fcntl.LOCK_UN, 1, number)

    def byte_held(self, number: int) -> bool:
        """Whether another process holds this byte."""
        if not self._byte(number):
            return True
        self.drop_byte(number)
        return False

    def close(self) -> None:
        """Close the descriptor; both kinds of locks of this process go with it."""
        os.close(self._fd)


def _poll(take: Callable[[], bool], deadline: float) -> None:
    pause = _PAUSE_S
    while not take():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(pause)
        pause = min(pause * 1.2, _LONG_PAUSE_S)


def refuse_network_folder(path: Path) -> None:
    """Raise Misconfigured on a network file system, whose locks cannot be trusted (Linux only)."""
    try:
        mounts = Path("/proc/self/mountinfo").read_text()
    except OSError:
        return
    kind = network_kind(str(path), mounts)
    if kind is not None:
        raise Misconfigured(
            f"The database lies on a network file system ({kind}), where locks do not hold.",
            hint="Put it on a local disk; several machines share one memory through PostgreSQL.",
        )


def network_kind(path: str, mountinfo: str) -> str | None:
    """The type of the network file system that holds `path`, by the innermost mount point."""
    best, found = "", ""
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        point = left.split()[4].replace("\\040", " ")
        inside = path == point or path.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= len(best):
            best, found = point, right.split()[0]
    return found if found in _NETWORK or found.startswith("fuse.sshfs") else None
