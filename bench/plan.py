"""How much one run measures, and where its files lie while it does."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.environment import CACHE

_RAM_DISK = Path("/dev/shm")


@dataclass(frozen=True)
class Plan:
    """`quick` is for a look while working: a fifth of the load, never for the published tables."""

    quick: bool = False

    def scaled(self, count: int) -> int:
        return max(20, count // 5) if self.quick else count

    @contextmanager
    def disk(self) -> Iterator[Path]:
        """A fresh folder on the disk that the repository is on."""
        place = CACHE / "run"
        place.mkdir(parents=True, exist_ok=True)
        with _folder_in(place) as folder:
            yield folder

    @contextmanager
    def ram(self) -> Iterator[Path]:
        """A fresh folder in memory, where a sync costs nothing and what is left is our own work."""
        if not _RAM_DISK.is_dir():
            raise SystemExit("bench: this machine has no RAM disk at /dev/shm; run it on Linux.")
        with _folder_in(_RAM_DISK) as folder:
            yield folder


@contextmanager
def _folder_in(place: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-", dir=place))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def size_bytes(folder: Path) -> int:
    """All that lies below the folder."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
