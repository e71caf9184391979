"""Errors of the sqlite3 module as errors of ours; none of theirs leaves this folder."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from ...errors import (
    Busy,
    Conflict,
    Corrupt,
    HoldfastError,
    InvalidInput,
    Misconfigured,
    Unavailable,
)

_PRIMARY = 0xFF


def translated(error: sqlite3.Error) -> HoldfastError:
    """The error of ours for one of the driver's; the driver's text may hold content and is left
    out.
    """
    code = getattr(error, "sqlite_errorcode", 0) & _PRIMARY
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Busy(
            "Another program holds the database's write lock.",
            hint="Retry; do not write to the file with other programs.",
        )
    if isinstance(error, sqlite3.ProgrammingError):
        return Misconfigured("The memory is closed.", hint="Open it again.")
    if code == sqlite3.SQLITE_FULL:
        return Unavailable("The disk is full; nothing was written.", hint="Free space and retry.")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB) or "UTF-8" in str(error):
        return Corrupt(
            f"The database is damaged ({name}).",
            hint="Stop writing to it, keep the file, and restore a copy.",
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return Misconfigured(
            f"The database cannot be written ({name}).",
            hint="Make the file and its folder writable, or open it with read_only=True.",
        )
    if code == sqlite3.SQLITE_CONSTRAINT:
        return Conflict("Another record took this place first.", hint="Reload and retry.")
    if code == sqlite3.SQLITE_TOOBIG or isinstance(error, sqlite3.DataError):
        return InvalidInput("A value is too large to store.", hint="Store it in parts.")
    return Unavailable(
        f"The disk or the file system failed ({name}); the write is not acknowledged.",
        hint="Check the disk, then retry.",
    )


@contextmanager
def translating() -> Iterator[None]:
    """Turn the driver's errors into ours."""
    try:
        yield
    except sqlite3.Error as error:
        raise translated(error) from error
