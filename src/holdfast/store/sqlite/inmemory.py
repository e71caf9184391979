"""A database that lives in this process's memory alone: the same store, the same SQL, no file.

There is one connection, so a read waits for the commit that is under way. What a lock file does
between processes a lock does here.
"""

import threading
from contextlib import suppress


class InProcessLock:
    """Stands where the lock file stands for a database that no other process can reach."""

    def __init__(self) -> None:
        self.mutex = threading.RLock()

    def acquire(self, wait_s: float) -> None:
        """Take the lock; its holders are short."""
        self.mutex.acquire()

    def release(self) -> None:
        """Give the lock back; harmless when it was not taken."""
        with suppress(RuntimeError):
            self.mutex.release()

    def hold_byte(self, number: int) -> None:
        """Workers of this process are known without a lock."""

    def drop_byte(self, number: int) -> None:
        """Workers of this process are known without a lock."""

    def byte_held(self, number: int) -> bool:
        """No other process works here."""
        return False

    def close(self) -> None:
        """There is nothing to close."""
