"""The child that is struck by Ctrl-C: `python -m tests.crash.interrupted CASE …`.

Its main thread and some others write to one file. Each interrupt that the main thread has survived
is told as `interrupted`.

    outside     the parent sends the signal
    point       whenever the main thread is at a named commit point
    everywhere  at every place inside the store where Python lets a signal in, one after the other
"""

import argparse
import dis
import functools
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import holdfast
from holdfast.store import points

from .outside import Outside, Store, open_store, work

MAIN = "p0t0"
# After these the interpreter looks for signals: a call into C (the end of `with` is one), the begin
# of a function, a jump back to the head of a loop. Nothing is struck where no signal can come.
LETS_IN = {"CALL", "CALL_FUNCTION_EX", "CALL_KW", "RESUME", "JUMP_BACKWARD"}
STORE = str(Path(holdfast.__file__).parent / "store")


class Others:
    """The other threads, each writing turns of its own until the end, as many as they may."""

    def __init__(self, store: Store, outside: Outside, count: int, turns: int) -> None:
        self.stop = threading.Event()
        self.failed: list[BaseException] = []
        self.may = threading.Semaphore(turns)
        self.threads = [
            threading.Thread(target=self._work, args=(store, outside, f"p0t{number}"))
            for number in range(1, count + 1)
        ]
        for thread in self.threads:
            thread.start()

    def _work(self, store: Store, outside: Outside, worker: str) -> None:
        number = 0
        try:
            while self.may.acquire() and not self.stop.is_set():
                number += 1
                work(store, outside, worker, range(number, number + 1))
        except BaseException as error:  # told by the main thread at the end
            self.failed.append(error)

    def end(self) -> None:
        self.stop.set()
        self.may.release(len(self.threads))
        for thread in self.threads:
            thread.join()
        if self.failed:
            raise self.failed[0]


def survive(store: Store, outside: Outside, interrupts: int) -> None:
    """Write on after every interrupt. Who sends them sends the next when it hears of the last."""
    number, met, told = 0, 0, 0
    while told < interrupts:
        try:
            if met > told:
                told = met
                outside.tell("interrupted")
            while told < interrupts:
                number += 1
                work(store, outside, MAIN, range(number, number + 1))
        except KeyboardInterrupt:
            met += 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def strike_at(point: str) -> None:
    """Ctrl-C every second time that the main thread reaches that commit point."""
    main, reached = threading.main_thread(), [0]

    def strike(name: str) -> None:
        if name == point and threading.current_thread() is main:
            reached[0] += 1
            if reached[0] % 2 == 0:
                os.kill(os.getpid(), signal.SIGINT)

    points.hook = strike


def everywhere(store: Store, outside: Outside, others: Others, rounds: int, within: str) -> None:
    """One interrupt for each place that a turn passes, in order; then the same again.

    In every second round the others take their time inside a commit, so that they are found there.
    """
    number = 0
    for turn in range(rounds):
        points.hook = linger if turn % 2 == 0 else None
        place, missed = 0, 0
        # How many places a turn passes depends on whom it meets.
        while missed < 40:
            place, number, missed = place + 1, number + 1, missed + 1
            # Company for this turn, and no more: the file is to be read again in the end.
            others.may.release(2 * len(others.threads))
            try:
                with striking(place, within) as struck:
                    work(store, outside, MAIN, range(number, number + 1))
            except KeyboardInterrupt:
                missed = 0
                outside.tell(f"interrupted {struck[0]}")


def linger(point: str) -> None:
    """Stay for a moment in the begun commit of another thread than the main one."""
    if point == "commit.begun" and threading.current_thread() is not threading.main_thread():
        threading.Event().wait(0.001)


@contextmanager
def striking(place: int, within: str) -> Iterator[list[str]]:
    """Send Ctrl-C at the n-th place in these files that lets a signal in; yields which it was."""
    passed, struck = 0, ["nowhere"]
    done: dict[FrameType, str] = {}

    def trace(frame: FrameType, event: str, argument: object) -> Callable:
        nonlocal passed
        inside = frame.f_code.co_filename.startswith(within)
        frame.f_trace_opcodes, frame.f_trace_lines = inside, False
        if event == "return":
            done.pop(frame, None)
            # A call into Python ends without a look at the signals.
            done[frame.f_back] = "RETURN"
        elif event == "opcode":
            open_here = done.get(frame) in LETS_IN
            done[frame] = names(frame.f_code)[frame.f_lasti]
            passed += open_here
            if open_here and passed == place:
                struck[0] = f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
                signal.raise_signal(signal.SIGINT)
        return trace

    sys.settrace(trace)
    try:
        yield struck
    finally:
        sys.settrace(None)


@functools.cache
def names(code: CodeType) -> dict[int, str]:
    """The name of the instruction at each offset."""
    return {instruction.offset: instruction.opname for instruction in dis.get_instructions(code)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("case", choices=["outside", "point", "everywhere"])
    parser.add_argument("--place", type=Path, required=True, help="the folder of the store")
    parser.add_argument("--outside", type=Path, required=True, help="where log and effects go")
    parser.add_argument("--habit", default="full")
    parser.add_argument(
        "--times", type=int, default=1, help="interrupts, or rounds of `everywhere`"
    )
    parser.add_argument("--others", type=int, default=7, help="how many threads write besides")
    parser.add_argument("--point", help="the commit point of the case `point`")
    parser.add_argument("--within", default="", help="the files of `everywhere`, below the store")
    given = parser.parse_args()
    store = open_store("holdfast", given.place / "agent.db", given.habit)
    log = os.open(given.outside / "agent.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    outside = Outside(log, given.outside / "agent.effects")
    if given.case == "point":
        strike_at(given.point)
    others = Others(store, outside, given.others, 0 if given.case == "everywhere" else 10**9)
    if given.case == "everywhere":
        everywhere(store, outside, others, given.times, f"{STORE}/{given.within}")
    else:
        survive(store, outside, given.times)
    others.end()
    store.close()
    outside.tell("closed")
    outside.close()
    os.close(log)


if __name__ == "__main__":
    main()
