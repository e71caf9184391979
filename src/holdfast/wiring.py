"""From a URL to an open memory: the only file that names the backends."""

import os
from pathlib import Path
from typing import cast
from urllib.parse import unquote

from .engine import Engine
from .errors import Misconfigured
from .memory import Memory
from .store.contract import Durability, Store
from .values.times import Clock, ticker
from .values.version import __version__

_DURABILITIES = ("full", "normal")


def open(
    url: str | os.PathLike[str] | None = None,
    *,
    durability: str = "full",
    read_only: bool = False,
    clock: Clock | None = None,
) -> Memory:
    """Open a memory: a path, sqlite:///path, or memory://; without one, $HOLDFAST_URL.

    "full" durability survives a power cut with every acknowledged write; with "normal" a power cut
    may undo the last ones, never half of one. `clock` returns an aware datetime.
    """
    if durability not in _DURABILITIES:
        raise Misconfigured("The durability is unknown.", hint="Use 'full' or 'normal'.")
    target = os.environ.get("HOLDFAST_URL") if url is None else url
    if isinstance(target, os.PathLike):
        target = os.fspath(target)
    if not target or not isinstance(target, str):
        raise Misconfigured(
            "No database was named.", hint="Pass a path such as 'agent.db', or set HOLDFAST_URL."
        )
    if target == ":memory:":
        raise Misconfigured("':memory:' would be a file here.", hint="Use memory://.")
    if "\0" in target:
        raise Misconfigured("The URL holds a NUL character.", hint="Pass a path or URL.")
    now = ticker(clock)
    store = _store(target, cast(Durability, durability), read_only=read_only)
    return Memory(Engine(store, now, read_only=read_only))


def _store(target: str, durability: Durability, *, read_only: bool) -> Store:
    scheme, separator, rest = target.partition("://")
    if not separator:
        return _sqlite(Path(target), durability, read_only=read_only)
    if scheme == "sqlite":
        # As everywhere: sqlite:///relative.db and sqlite:////absolute.db.
        return _sqlite(Path(unquote(rest.removeprefix("/"))), durability, read_only=read_only)
    if scheme == "memory":
        return _sqlite(rest, durability, read_only=read_only)
    raise Misconfigured(
        f"There is no store for {scheme}:// URLs.", hint="Use a path, sqlite:///path or memory://."
    )


def _sqlite(path: Path | str, durability: Durability, *, read_only: bool) -> Store:
    # Backends are imported when one is opened, so that importing the package costs no driver.
    from .store.sqlite.store import SqliteStore

    return SqliteStore(path, durability=durability, read_only=read_only, version=__version__)
