"""One file a row: what is measured, for whom, which bars it answers and the table it makes."""

from __future__ import annotations

from typing import Protocol

from bench.plan import Plan
from bench.readings import Bar, Readings
from bench.rows import crowd, processes, reading, size, start, syncs, writes


class Row(Protocol):
    """What each of these modules offers."""

    NAME: str
    CONTENDERS: tuple[str, ...]

    def measure(self, contender: str, plan: Plan) -> dict[str, float]:
        """One contender, one round."""

    def bars(self, readings: Readings) -> list[Bar]:
        """What holdfast must reach here, beside what it reached."""

    def table(self, readings: Readings) -> list[str]:
        """Markdown lines: everything that was measured."""


# A module keeps the protocol by its functions, which the checker does not see.
ALL: tuple[Row, ...] = (  # type: ignore[assignment] # modules as values of a protocol
    syncs, crowd, processes, writes, reading, start, size,
)  # fmt: skip
