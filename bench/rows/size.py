"""Lines of code of the package, and what installing it or a peer brings onto the disk."""

from __future__ import annotations

import ast
import io
import tokenize
from collections import Counter
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bench.environment import ROOT
from bench.measure import number, spread
from bench.plan import Plan
from bench.readings import Bar, Readings, at_most

NAME = "size"
_PACKAGES = {
    "holdfast": ("holdfast",),
    "langgraph and its SqliteSaver": ("langgraph", "langgraph-checkpoint-sqlite"),
    "openai-agents": ("openai-agents",),
    "mem0ai": ("mem0ai",),
}
CONTENDERS = tuple(_PACKAGES)

_DOORS = "the files beside them"
_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def measure(contender: str, plan: Plan) -> dict[str, float]:
    distributions = _closure(_PACKAGES[contender])
    found: dict[str, float] = {
        "mb": sum(_installed_bytes(one) for one in distributions) / 1e6,
        "dependencies": len(distributions) - len(_PACKAGES[contender]),
    }
    if contender == "holdfast":
        found |= _lines()
    return found


def bars(readings: Readings) -> list[Bar]:
    lines = readings.series(NAME, "holdfast", "code_lines")
    return [at_most("lines of code of the package", 3000, lines)]


def table(readings: Readings) -> list[str]:
    lines = ["| Package | Installed MB, all in | Other distributions it needs |", "|---|---|---|"]
    for package in readings.contenders(NAME):
        size = spread(readings.series(NAME, package, "mb"), 1)
        needs = spread(readings.series(NAME, package, "dependencies"), 0)
        lines.append(f"| {package} | {size} | {needs} |")
    if readings.series(NAME, "holdfast", "code_lines"):
        lines += ["", _counts(readings), "", *_rooms(readings)]
    return lines


def _lines() -> dict[str, float]:
    """Lines of the package, and those of code by room."""
    package = ROOT / "src" / "holdfast"
    found: Counter[str] = Counter()
    for source in sorted(package.rglob("*.py")):
        text, place = source.read_text(), source.relative_to(package)
        room = place.parts[0] if len(place.parts) > 1 else _DOORS
        found["code_lines"] += code_lines(text)
        found[f"room {room}"] += code_lines(text)
        found["all_lines"] += len(text.splitlines())
        found["files"] += 1
    return dict(found)


def code_lines(text: str) -> int:
    """Lines that hold code: no blank line, no comment, no docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - set(_docstring_lines(ast.parse(text))))


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            words = node.body[0]
            yield from range(words.lineno, (words.end_lineno or words.lineno) + 1)


def _counts(readings: Readings) -> str:
    code, everything, files = (
        number(readings.series(NAME, "holdfast", metric)[0])
        for metric in ("code_lines", "all_lines", "files")
    )
    return (
        f"The package has {code} lines of code in {files} files; {everything} lines with comments, "
        "docstrings and blank lines."
    )


def _rooms(readings: Readings) -> list[str]:
    lines = ["| Room | Lines of code |", "|---|---|"]
    for metric in readings.metrics(NAME, "holdfast"):
        if metric.startswith("room "):
            count = number(readings.series(NAME, "holdfast", metric)[0])
            lines.append(f"| {metric.removeprefix('room ')} | {count} |")
    return lines


def _closure(names: tuple[str, ...]) -> set[str]:
    """These distributions and all that they need, without extras, as installed here."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        found.add(name)
        for line in metadata.requires(name) or []:
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                waiting.append(needed.name)
    return found


def _installed_bytes(name: str) -> int:
    files = metadata.distribution(name).files or []
    places = (Path(str(file.locate())) for file in files)
    return sum(place.stat().st_size for place in places if place.is_file())
