"""Goal: the recorder misses no call, and the model of the disk forgets exactly what a power cut may
take.

Method: hand-made calls for the model; for the recorder a child that changes files in every way
Python knows, whose recording must add up to the files; and a child that goes around it, which must
be noticed.
"""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash import preload
from tests.crash.disk import (
    EMPTIED,
    FOLDER,
    MADE,
    OPEN,
    RENAME,
    SYNC,
    SYNC_FAILED,
    SYNCED,
    TRUNCATE,
    UNLINK,
    WRITE,
    Call,
    Disk,
    recorded,
)  # fmt: skip
from tests.crash.power import confirm

A, B, DIR = 3, 4, 5
OPENED = (Call(OPEN, A, MADE, 0, b"a"), Call(OPEN, DIR, FOLDER, 0, b""))
FOLDER_SYNCED = (Call(SYNC, DIR, 90, 0, b""), Call(SYNCED, DIR, 90, 0, b""))


def disk(*calls: Call, seed: int = 0) -> Disk:
    """The disk after a file 'a' was made and its name synced, and these calls."""
    made = Disk(random.Random(seed))
    for call in (*OPENED, *FOLDER_SYNCED, *calls):
        made.take(call)
    return made


def write(data: bytes, offset: int = 0, fd: int = A) -> Call:
    return Call(WRITE, fd, offset, 0, data)


def sync(number: int, fd: int = A) -> tuple[Call, Call]:
    return Call(SYNC, fd, number, 0, b""), Call(SYNCED, fd, number, 0, b"")


def test_a_write_is_lost_until_its_sync_has_ended() -> None:
    """A kill keeps it, a power cut does not."""
    begun, ended = sync(1)

    assert disk(write(b"x"), begun).image("killed") == {"a": b"x"}
    assert disk(write(b"x"), begun).image("synced") == {"a": b""}
    assert disk(write(b"x"), begun, ended).image("synced") == {"a": b"x"}


def test_a_sync_covers_only_what_was_written_before_it_began() -> None:
    """A write of another thread during the sync is not durable at its end."""
    begun, ended = sync(1)

    image = disk(write(b"x"), begun, write(b"y", 1), ended).image("synced")

    assert image == {"a": b"x"}


def test_a_new_length_is_lost_without_a_sync() -> None:
    """A truncated file is long again after the cut."""
    image = disk(write(b"xyz"), *sync(1), Call(TRUNCATE, A, 1, 0, b"")).image("synced")

    assert image == {"a": b"xyz"}


def test_a_file_opened_to_be_emptied_keeps_its_content_until_synced() -> None:
    """O_TRUNC is a change like any other."""
    emptied = disk(write(b"old"), *sync(1), Call(OPEN, B, EMPTIED, 0, b"a"), write(b"n", fd=B))

    assert emptied.image("killed") == {"a": b"n"}
    assert emptied.image("synced") == {"a": b"old"}


def test_a_name_is_durable_when_its_folder_is() -> None:
    """A file renamed over another is the old one again, until the folder is synced."""
    calls = (
        write(b"old"), *sync(1), Call(OPEN, B, MADE, 0, b"b"), write(b"new", fd=B), *sync(2, B),
        Call(RENAME, -1, 0, 0, b"b\0a"),
    )  # fmt: skip

    assert disk(*calls).image("killed") == {"a": b"new"}
    assert disk(*calls).image("synced") == {"a": b"old"}
    assert disk(*calls, *sync(3, DIR)).image("synced") == {"a": b"new"}


def test_a_removed_file_comes_back_until_the_folder_is_synced() -> None:
    """An unlink is a change of the folder."""
    removed = disk(write(b"x"), *sync(1), Call(UNLINK, -1, 0, 0, b"a"))

    assert removed.image("killed") == {}
    assert removed.image("synced") == {"a": b"x"}


def test_a_torn_write_ends_at_a_sector_of_the_disk() -> None:
    """The cut never splits the 512 bytes of a sector, wherever the write begins."""
    lengths = {
        len(disk(write(b"x" * 100), write(b"y" * 2000, 100), seed=seed).image("torn")["a"])
        for seed in range(60)
    }

    assert lengths == {100, 512, 1024, 1536, 2048}


def test_reordered_images_differ_and_keep_what_was_synced() -> None:
    """Of two unsynced writes either, both or none is there; the synced one always is."""
    calls = (write(b"A"), *sync(1), write(b"B", 1), write(b"C", 2))
    seen = {disk(*calls, seed=seed).image("reordered")["a"] for seed in range(200)}

    assert {b"A", b"AB", b"ABC", b"A\0C"} <= seen
    assert all(content.startswith(b"A") for content in seen)


def test_a_failed_sync_may_lose_what_a_later_one_does_not_cover() -> None:
    """The kernel may mark pages clean that it could not write; writing anew is safe."""
    failed = (write(b"x"), Call(SYNC, A, 1, 0, b""), Call(SYNC_FAILED, A, 1, 0, b""), *sync(2))
    seen = {disk(*failed, seed=seed).image("synced")["a"] for seed in range(50)}

    assert seen == {b"", b"x"}


EVERY_WAY = """
import os, sys
folder = sys.argv[1]
a = os.path.join(folder, "a")
fd = os.open(a, os.O_RDWR | os.O_CREAT)
os.write(fd, b"one"); os.pwrite(fd, b"two", 2000); os.pwritev(fd, [b"th", b"ree"], 100)
os.writev(fd, [b"fo", b"ur"]); os.ftruncate(fd, 1500); os.posix_fallocate(fd, 1400, 400)
os.fsync(fd); os.fdatasync(fd)
appended = os.open(a, os.O_WRONLY | os.O_APPEND); os.write(appended, b"end"); os.close(appended)
with open(os.path.join(folder, "b"), "w") as file: file.write("text")
with open(os.path.join(folder, "b"), "w") as file: file.write("less")
with open(os.path.join(folder, "c"), "wb", buffering=0) as file: file.write(b"raw")
os.rename(os.path.join(folder, "b"), os.path.join(folder, "d"))
os.unlink(os.path.join(folder, "c"))
os.fsync(os.open(folder, os.O_RDONLY | os.O_DIRECTORY))
"""
AROUND = """
import mmap, os, sys
fd = os.open(os.path.join(sys.argv[1], "a"), os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 4096)
mmap.mmap(fd, 4096)[:5] = b"sneak"
"""


def run_recorded(program: str, folder: Path) -> list[Call]:
    """The recording of a child that runs this program on the folder."""
    place = folder / "place"
    place.mkdir()
    watched = preload.environment(place, log=folder / "calls")
    subprocess.run([sys.executable, "-c", program, str(place)], env=watched, check=True)
    return recorded(folder / "calls")


def test_the_recording_adds_up_to_the_files(tmp_path: Path) -> None:
    """Every way in which Python changes a file is seen, with its data and its order."""
    calls = run_recorded(EVERY_WAY, tmp_path)

    confirm(calls, tmp_path / "place")
    kinds = {call.what for call in calls}
    assert {OPEN, WRITE, TRUNCATE, SYNC, SYNCED, RENAME, UNLINK} <= kinds


def test_a_write_that_goes_around_the_recorder_is_noticed(tmp_path: Path) -> None:
    """Control: what is written through mmap is not recorded, and the sum says so."""
    calls = run_recorded(AROUND, tmp_path)

    with pytest.raises(RuntimeError, match="went by unseen"):
        confirm(calls, tmp_path / "place")


def test_without_a_compiler_the_message_says_what_to_install(monkeypatch, tmp_path: Path) -> None:
    """The layer is compiled at test time; a machine without a compiler is told so."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(RuntimeError, match="pip install ziglang"):
        preload.compiler()
