"""Faults at named points of a commit: kill the process there, raise there, or just count.

The points are listed in `POINTS`; a store calls them in the moments where a crash leaves it in a
state of its own.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..store import points
from ..store.points import POINTS

__all__ = ["POINTS", "Crash", "at", "counting", "kill_at"]


class Crash(BaseException):
    """Raised at a point in place of a real death; nothing of ours catches it on purpose."""


@contextmanager
def at(name: str, act: Callable[[], None], *, nth: int = 1) -> Iterator[None]:
    """Do something when the point is reached for the n-th time."""
    with _installed(_hook(name, act, nth)):
        yield


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Count how often each point is reached."""
    seen: Counter[str] = Counter()
    with _installed(lambda name: seen.update([name])):
        yield seen


def kill_at(name: str, *, nth: int = 1) -> None:
    """From now on: kill this process with SIGKILL when the point is reached for the n-th time."""
    points.hook = _hook(name, lambda: os.kill(os.getpid(), signal.SIGKILL), nth)


def _hook(name: str, act: Callable[[], None], nth: int) -> Callable[[str], None]:
    if name not in POINTS:
        raise ValueError(f"There is no point {name!r}; use one of {', '.join(POINTS)}.")
    left = nth

    def hook(reached: str) -> None:
        nonlocal left
        if reached == name:
            left -= 1
            if left == 0:
                act()

    return hook


@contextmanager
def _installed(hook: Callable[[str], None]) -> Iterator[None]:
    before, points.hook = points.hook, hook
    try:
        yield
    finally:
        points.hook = before
