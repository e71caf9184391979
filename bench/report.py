"""The tables: printed after every run, and put between the markers of docs/benchmarks.md.

What stands outside the markers is written by hand and survives.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bench import machine, pictures
from bench.environment import ROOT
from bench.readings import Readings
from bench.rows import Row

PAGE = ROOT / "docs" / "benchmarks.md"

_HEAD = [
    "| What | Bar | holdfast | Floor | Peer | Met |",
    "|---|---|---|---|---|---|",
]


def as_text(chosen: Sequence[Row], readings: Readings) -> str:
    parts = ["\n".join(_bars(chosen, readings))]
    parts += ["\n".join(row.table(readings)) for row in chosen]
    return "\n\n".join(parts)


def publish(chosen: Sequence[Row], readings: Readings, rounds: int) -> None:
    """Replace what stands between each pair of markers, and draw the pictures."""
    page = PAGE.read_text()
    page = _replaced(page, "machine", machine.described(readings, rounds))
    page = _replaced(page, "bars", _bars(chosen, readings))
    for row in chosen:
        page = _replaced(page, row.NAME, row.table(readings))
    PAGE.write_text(page)
    pictures.draw(readings, ROOT / "docs" / "benchmarks")


def _bars(chosen: Sequence[Row], readings: Readings) -> list[str]:
    bars = [bar for row in chosen for bar in row.bars(readings) if bar.series]
    return [*_HEAD, *(bar.as_line() for bar in bars)]


def _replaced(page: str, name: str, lines: Sequence[str]) -> str:
    begin, end = f"<!-- generated: {name} -->", f"<!-- end: {name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(page):
        raise SystemExit(f"bench: {PAGE.name} has no place for {name!r}; add its two markers.")
    content = "\n".join([begin, "", *lines, "", end])
    return pattern.sub(lambda _: content, page)
