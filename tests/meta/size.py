"""Measures Python files: lines of code, lengths of functions and lines."""

import ast
import io
import math
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.meta.repository import ROOT

SILENT = {
    *(tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT),
    *(tokenize.ENDMARKER,),
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def code_lines(text: str) -> int:
    """Lines that hold code: neither blank, nor comment, nor docstring."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(ast.parse(text)))


def docstring_lines(tree: ast.Module) -> set[int]:
    """Of strings that stand alone: docstrings, and those that describe an attribute."""
    lines: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str):
            lines.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Each function with its length, from `def` to its last line."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, FUNCTIONS):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def ninth_decile(lengths: Iterable[int]) -> int:
    """The length that nine functions in ten do not exceed."""
    ordered = sorted(lengths)
    return ordered[math.ceil(len(ordered) * 0.9) - 1] if ordered else 0


def long_functions(paths: Iterable[Path], limit: int) -> list[str]:
    return [
        f"{path}: {name} has {length} lines"
        for path in paths
        for name, length in functions(path.read_text(encoding="utf-8"))
        if length > limit
    ]


def long_files(paths: Iterable[Path], limit: int) -> list[str]:
    counted = ((path, len(path.read_text(encoding="utf-8").splitlines())) for path in paths)
    return [f"{path} has {count} lines" for path, count in counted if count > limit]


def long_lines(paths: Iterable[Path], limit: int) -> list[str]:
    return [
        f"{path}:{number} has {len(line)} characters"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > limit
    ]


def direct_dependencies(project: Path = ROOT / "pyproject.toml") -> int:
    """What an install can bring along by our own choice: required and of every extra."""
    table = tomllib.loads(project.read_text(encoding="utf-8"))["project"]
    extras = table.get("optional-dependencies", {}).values()
    return len(set(table.get("dependencies", ())).union(*extras))
