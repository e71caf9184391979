"""Reads our Markdown: the paths it names, its tables, its fenced blocks."""

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from tests.meta.repository import MADE, files

NAMES_A_FILE = {".c", ".md", ".py", ".sql", ".toml", ".txt"}
WORD = re.compile(r"[\w.*<>/-]+")
URL = re.compile(r"\b[a-z][\w+]*://\S*")
# What people would have to invent a name for: `store/<name>.py`.
PLACEHOLDER = re.compile(r"[<>]")


def named_paths(text: str, folders: set[str]) -> list[str]:
    """What reads as a path of this repository.

    A file is known by its ending wherever it stands, also in a drawn tree. A folder is known by
    its closing slash, or in backticks by beginning with a folder that exists (`folders`).
    """
    plain = URL.sub(" ", text)
    words = {word.strip(".") if word.endswith(".") else word for word in WORD.findall(plain)}
    quoted = {word for span in re.findall(r"`([^`\n]+)`", plain) for word in WORD.findall(span)}
    named = {word for word in words if PurePosixPath(word).suffix in NAMES_A_FILE}
    named |= {word for word in quoted if len(word) > 1 and word.endswith("/")}
    named |= {word for word in quoted if "/" in word and word.partition("/")[0] in folders}
    return sorted(word for word in named if not PLACEHOLDER.search(word) and word.strip("/."))


def missing_paths(named: list[str], root: Path) -> list[str]:
    """The named paths that nothing in the repository ends with: part of a path is enough."""
    existing = ["/" + entry for entry in entries(root)]
    return [name for name in named if not any(fits(name, entry) for entry in existing)]


def entries(root: Path) -> Iterator[str]:
    seen: set[str] = set()
    for path in files(root):
        relative = path.relative_to(root)
        seen.add(relative.as_posix())
        seen |= {parent.as_posix() for parent in relative.parents if parent.name}
    return iter(sorted(seen | MADE))


def fits(name: str, entry: str) -> bool:
    return fnmatchcase(entry, "*/" + name.removeprefix("./").strip("/"))


def table_rows(text: str) -> list[list[str]]:
    """The cells of every table row, without heads and rules; `\\|` is a bar within a cell."""
    lines = [line.strip() for line in text.splitlines()]
    rows = [
        [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))]
        for line in lines
        if line.startswith("|")
    ]
    rules = [place for place, row in enumerate(rows) if re.fullmatch(r":?-+:?", row[0])]
    heads = {place - 1 for place in rules}
    return [row for place, row in enumerate(rows) if place not in heads and place not in rules]


def fenced_blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}[ \t]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
