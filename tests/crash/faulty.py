"""The child process that meets a fault: `python -m tests.crash.faulty CASE --place … --outside …`.

    sweep      the n-th write or sync fails, for n = 0, 1, … until a run ends without it
    badsync    one sync fails, after so many that did not
    limit      files may not grow any more (RLIMIT_FSIZE), then they may again
    full       a file system of two megabytes is full, then it has room again
    readonly   the folder may not be written to by this process

A turn that is refused is told as `refused worker number` and `error TYPE`; what fails after the
cure as `uncured TYPE`. The layer of record.c is loaded where calls are to fail.
"""

import argparse
import ctypes
import errno
import os
import resource
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .outside import Outside, Store, open_store, work
from .story import Turn

WRITES, SYNCS = 1, 2
TURNS = 5
CREATION = 30
WORKER = "p0t0"


class Patient:
    """A writer that meets errors, tells them, and goes on."""

    def __init__(self, given: argparse.Namespace, name: str = "agent") -> None:
        self.given = given
        self.path = given.place / f"{name}.db"
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
        self.log = os.open(given.outside / f"{name}.log", flags, 0o600)
        self.outside = Outside(self.log, given.outside / f"{name}.effects")
        self.number = 0
        self.store: Store | None = None

    def attempt(self, what: Callable[[], None], word: str = "error") -> bool:
        """Do it; an error is told by its type. False when there was one."""
        try:
            what()
        except Exception as error:  # whatever comes out is the finding
            self.outside.tell(f"{word} {type(error).__name__}")
            return False
        return True

    def open(self) -> None:
        self.store = open_store(self.given.store, self.path, self.given.habit)

    def turn(self, word: str = "error") -> bool:
        """The next turn; a refused one is left behind."""
        self.number += 1
        turn, numbers = Turn(WORKER, self.number), range(self.number, self.number + 1)
        store = self.store
        assert store is not None
        done = self.attempt(lambda: work(store, self.outside, WORKER, numbers), word)
        if not done:
            self.outside.tell("refused", turn)
        return done

    def close(self, word: str = "error") -> None:
        if self.store is not None:
            self.attempt(self.store.close, word)
        self.store = None

    def begin(self, turns: int) -> bool:
        """Open and write some turns; False when it could not be opened."""
        opened = self.attempt(self.open)
        if opened:
            self.go_on(turns, "error")
        return opened

    def go_on(self, turns: int, word: str) -> None:
        """Some turns more, refused or not."""
        for _ in range(turns):
            self.turn(word)

    def sitting(self, turns: int) -> None:
        """Open, write some turns, close."""
        if self.begin(turns):
            self.close()

    def leave(self) -> None:
        self.outside.close()
        os.close(self.log)


def sweep(given: argparse.Namespace) -> None:
    """A sitting and a half under the fault, the rest after the cure; a file for each n."""
    layer = ctypes.CDLL(None)
    layer.crash_fault_met.restype = ctypes.c_long
    what = SYNCS if given.what == "sync" else WRITES
    after, met = 0, True
    while met:
        patient = Patient(given, f"{after:05}")
        set_fault(what, after, given.times, given.error)
        patient.sitting(TURNS)
        still_open = patient.begin(TURNS)
        met = layer.crash_fault_met() != 0
        set_fault(0, 0, 0, "")
        if still_open or patient.attempt(patient.open, "uncured"):
            patient.go_on(TURNS, "uncured")
            patient.close("uncured")
        patient.leave()
        # The making of the file is short and has the most kinds of calls: none is left out there.
        after += 1 if after < CREATION else given.every


def badsync(given: argparse.Namespace) -> None:
    """One sync fails; every turn after it that is acknowledged must be durable all the same."""
    set_fault(SYNCS, given.after, given.times, given.error)
    patient = Patient(given)
    patient.sitting(4 * TURNS)
    patient.sitting(TURNS)
    patient.leave()


def set_fault(what: int, after: int, times: int, error: str) -> None:
    """Ask the layer of record.c to let calls fail."""
    long, number = ctypes.c_long, getattr(errno, error) if error else 0
    ctypes.CDLL(None).crash_fault(what, long(after), long(times), number)


def fill_up(patient: Patient, cure: Callable[[], None]) -> None:
    """Write until three turns in a row are refused, cure it, and write on."""
    patient.open()
    refused = 0
    while refused < 3 and patient.number < 2000:
        refused = 0 if patient.turn() else refused + 1
    cure()
    patient.go_on(TURNS, "uncured")
    patient.close("uncured")
    patient.leave()


def limit(given: argparse.Namespace) -> None:
    """No file may pass the limit; the system answers EFBIG, as the signal is ignored."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, hard))
    fill_up(Patient(given), lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard)))


def full(given: argparse.Namespace) -> None:
    """A small file system, most of it taken by a ballast that is thrown off as the cure."""
    with small_disk(given.place):
        ballast = given.place / "ballast"
        ballast.write_bytes(bytes(1_300_000))
        fill_up(Patient(given), ballast.unlink)
        # The mount ends with this process.
        for file in given.place.glob("agent.db*"):
            shutil.copyfile(file, given.outside.parent / "saved" / file.name)


@contextmanager
def small_disk(place: Path) -> Iterator[None]:
    """Mount two megabytes of memory there, in a namespace that is ours alone."""
    libc = ctypes.CDLL(None, use_errno=True)
    new_mounts, new_user, private = 0x20000, 0x10000000, 0x44000
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(new_mounts) != 0:
        if libc.unshare(new_mounts | new_user) != 0:
            raise OSError(ctypes.get_errno(), "no namespace of our own")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    libc.mount(b"none", b"/", None, private, None)
    if libc.mount(b"tmpfs", os.fsencode(place), b"tmpfs", 0, b"size=2m") != 0:
        raise OSError(ctypes.get_errno(), "no file system of our own")
    yield


def readonly(given: argparse.Namespace) -> None:
    """Without the rights of root, which may write everywhere, open the file and write a turn."""

    class Header(ctypes.Structure):
        _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))

    nothing = (ctypes.c_uint32 * 6)()
    if ctypes.CDLL(None).capset(ctypes.byref(Header(0x20080522, 0)), nothing) != 0:
        raise OSError("the rights of root cannot be dropped")
    Patient(given).sitting(1)


CASES = {
    "sweep": sweep,
    "badsync": badsync,
    "limit": limit,
    "full": full,
    "readonly": readonly,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=CASES)
    parser.add_argument("--place", type=Path, required=True, help="the folder of the store")
    parser.add_argument("--outside", type=Path, required=True, help="where log and effects go")
    parser.add_argument("--store", default="holdfast")
    parser.add_argument("--habit", default="full")
    parser.add_argument("--what", choices=["write", "sync"], default="write")
    parser.add_argument("--error", default="EIO", help="the name of the error number")
    parser.add_argument("--times", type=int, default=1, help="how often; -1: until cured")
    parser.add_argument("--after", type=int, default=0, help="how many syncs succeed first")
    parser.add_argument("--every", type=int, default=1, help="only every n-th call, but the first")
    given = parser.parse_args()
    CASES[given.case](given)


if __name__ == "__main__":
    main()
