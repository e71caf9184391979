"""Clocks and small statistics: what a series of timings comes down to."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def timed(call: Callable[[], object]) -> int:
    """Nanoseconds on the wall clock that one call took."""
    began = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - began


def percentile(nanoseconds: Sequence[int], share: float) -> float:
    """The value below which `share` of the timings lie, in microseconds."""
    ordered = sorted(nanoseconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] / 1000


def rotated(items: Sequence[T], turns: int) -> list[T]:
    """Each round begins with another one, so that no system always runs on a warm machine."""
    turn = turns % len(items) if items else 0
    return [*items[turn:], *items[:turn]]


def ratios(ours: Sequence[float], theirs: Sequence[float]) -> list[float]:
    """Round by round: what moves with the machine moves in both and falls out."""
    return [one / other for one, other in zip(ours, theirs, strict=False) if other]


def spread(series: Sequence[float], digits: int | None = None) -> str:
    """`median (lowest to highest)` of the rounds."""
    if not series:
        return "–"
    values = (statistics.median(series), min(series), max(series))
    middle, low, high = (number(value, digits) for value in values)
    return middle if low == high else f"{middle} ({low}–{high})"


def number(value: float, digits: int | None = None) -> str:
    """Three figures that mean something; `digits` fixes how many stand behind the point."""
    if digits is None:
        digits = 0 if abs(value) >= 100 or value == int(value) else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


def one_sync(folder: Path, times: int = 200) -> list[int]:
    """Append 4 KB and fdatasync, in nanoseconds each: the least that a durable write costs here."""
    block = b"x" * 4096
    descriptor = os.open(folder / "sync", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        return [timed(lambda: _append(descriptor, block)) for _ in range(times)]
    finally:
        os.close(descriptor)


def _append(descriptor: int, block: bytes) -> None:
    os.write(descriptor, block)
    os.fdatasync(descriptor)
