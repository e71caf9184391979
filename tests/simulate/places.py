"""Where the simulator runs: a database in memory, and a file whose disk is frozen in a crash."""

import shutil
from itertools import count
from pathlib import Path

from holdfast.store.contract import Store
from holdfast.store.sqlite.store import SqliteStore

_numbers = count()


def _store(location: Path | str) -> SqliteStore:
    return SqliteStore(location, durability="full", read_only=False, version="0.1.0")


class InMemory:
    """A database in memory survives its handles because one more stays open."""

    def __init__(self) -> None:
        self._name = f"simulated-{next(_numbers)}"
        self._keeper = self.open()

    def open(self) -> Store:
        return _store(self._name)

    def freeze(self) -> None:
        """What was not committed is rolled back by the writer that the crash interrupted."""

    def crashed(self, stores: list[Store]) -> None:
        for store in stores:
            store.close()

    def end(self) -> None:
        self._keeper.close()


class OnDisk:
    """A file; a crash leaves a copy of it and of its log as they are in that very moment."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._life = 0

    def _path(self, life: int) -> Path:
        return self._folder / f"{life}.db"

    def open(self) -> Store:
        return _store(self._path(self._life))

    def freeze(self) -> None:
        for end in ("", "-wal"):
            part = Path(f"{self._path(self._life)}{end}")
            if part.exists():
                shutil.copyfile(part, f"{self._path(self._life + 1)}{end}")

    def crashed(self, stores: list[Store]) -> None:
        for store in stores:
            store.close()
        for part in self._folder.glob(f"{self._life}.db*"):
            part.unlink()
        self._life += 1

    def end(self) -> None:
        shutil.rmtree(self._folder)
