"""What the rounds brought: row, contender and metric, with one value a round."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from bench.measure import number, spread


class Readings:
    """The values of all rounds of one run."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str, str], list[float]] = defaultdict(list)

    def note(self, row: str, contender: str, found: Mapping[str, float]) -> None:
        for metric, value in found.items():
            self._values[row, contender, metric].append(value)

    def series(self, row: str, contender: str, metric: str) -> list[float]:
        return list(self._values.get((row, contender, metric), []))

    def contenders(self, row: str) -> list[str]:
        """In the order in which they were first heard of."""
        return list(dict.fromkeys(name for of, name, _ in self._values if of == row))

    def metrics(self, row: str, contender: str) -> list[str]:
        return [metric for of, who, metric in self._values if (of, who) == (row, contender)]

    def as_json(self) -> dict[str, list[float]]:
        return {" / ".join(key): values for key, values in self._values.items()}


@dataclass(frozen=True)
class Bar:
    """One thing that holdfast must reach, beside what it reached."""

    what: str
    limit: float
    at_most: bool
    series: list[float]
    unit: str = ""
    floor: str = "–"
    peer: str = "–"

    @property
    def met(self) -> bool:
        """Judged by the median, unrounded."""
        return self.middle <= self.limit if self.at_most else self.middle >= self.limit

    @property
    def middle(self) -> float:
        ordered = sorted(self.series)
        half = len(ordered) // 2
        return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2

    def as_line(self) -> str:
        sign = "≤" if self.at_most else "≥"
        bar = f"{sign} {number(self.limit)}{self.unit}" if self.limit else "none"
        met = "yes" if self.met else "**no**"
        return (
            f"| {self.what} | {bar} | {spread(self.series)} | {self.floor} | {self.peer} | {met} |"
        )


def at_most(what: str, limit: float, series: list[float], **rest: str) -> Bar:
    return Bar(what, limit, True, series, **rest)


def at_least(what: str, limit: float, series: list[float], **rest: str) -> Bar:
    return Bar(what, limit, False, series, **rest)
