"""Where things are in this repository, for the tests that read it as text."""

import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "holdfast"

# Made by tools, never committed; .gitignore names the same.
MADE = {".bench", ".git", ".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".venv"}
MADE |= {"__pycache__", "dist"}
TEXT = {
    ".c",
    ".cfg",
    ".json",
    ".jsonl",
    ".md",
    ".py",
    ".sh",
    ".sql",
    ".svg",
    ".toml",
    ".txt",
    ".yml",
}


def files(folder: Path = ROOT) -> Iterator[Path]:
    """Every file that a commit could hold, in a stable order."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - MADE)
        yield from (Path(here) / name for name in sorted(names))


def text_files(folder: Path = ROOT) -> list[Path]:
    """The files that people read: known by their ending, or scripts and licences without one."""
    return [path for path in files(folder) if path.suffix in TEXT or not path.suffix]


def python_files(*folders: Path) -> list[Path]:
    return [path for folder in folders for path in files(folder) if path.suffix == ".py"]


def shown(path: Path, base: Path = ROOT) -> str:
    """A path as a reader would type it, from the top of the repository."""
    return path.relative_to(base).as_posix()
