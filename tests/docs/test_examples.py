"""Every example in README and docs runs as it stands, and every help text shown is the real one."""

import re
import shlex
import subprocess
import sys

import pytest
from sybil.document import Document
from sybil.parsers.markdown import PythonCodeBlockParser

from tests.meta.documents import fenced_blocks
from tests.meta.repository import ROOT, shown

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FIRST_SCREEN = 30


def shown_help(text):
    """Console blocks that show what `holdfast ... --help` prints: the command and its output."""
    for block in fenced_blocks(text, "console"):
        command, _, output = block.partition("\n")
        if re.fullmatch(r"\$ holdfast( [\w-]+)* --help", command):
            yield command.removeprefix("$ "), output


HELP = [(page, *pair) for page in PAGES for pair in shown_help(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=shown)
def test_every_example_runs(page, tmp_path, monkeypatch):
    """One page is one program, read from top to bottom in an empty folder with an SQLite file."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HOLDFAST_URL", raising=False)
    document = Document.parse(str(page), PythonCodeBlockParser())

    for example in document.examples():
        example.evaluate()


@pytest.mark.parametrize(
    ("page", "command", "output"), HELP, ids=[f"{shown(page)}-{line}" for page, line, _ in HELP]
)
def test_every_help_text_shown_is_the_real_one(page, command, output):
    """Copied from a terminal of 80 columns, and still what it prints today."""
    printed = subprocess.run(
        [sys.executable, "-m", *shlex.split(command)],
        capture_output=True,
        text=True,
        check=True,
        env={"COLUMNS": "80", "NO_COLOR": "1"},
    )

    assert output.strip() == printed.stdout.strip()


def test_the_first_screen_of_readme_remembers_and_recalls():
    """Whoever opens the project sees within a screen what it is for, as code that runs."""
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()

    blocks = fenced_blocks("\n".join(lines[:FIRST_SCREEN]), "python")

    assert any(".remember(" in block and ".recall(" in block for block in blocks)
