"""Documents that name files are maps; a map with a wrong street is worse than none."""

import pytest

from tests.meta.documents import missing_paths, named_paths
from tests.meta.repository import PACKAGE, ROOT, shown

# A room's README is short enough to be read before its code and long enough to say its invariants.
SHORTEST, LONGEST = 15, 30


def room_folders(package):
    return [path for path in sorted(package.iterdir()) if any(path.glob("*.py"))]


def folder_names(root):
    package = root / "src" / "holdfast"
    places = [root, package] if package.is_dir() else [root]
    return {path.name for place in places for path in place.iterdir() if path.is_dir()}


ROOMS = room_folders(PACKAGE)
MAPS = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
MAPS += [room / "README.md" for room in ROOMS]


@pytest.mark.parametrize("document", MAPS, ids=shown)
def test_every_path_that_is_named_exists(document):
    """What was moved or renamed is found here before a reader finds out."""
    named = named_paths(document.read_text(encoding="utf-8"), folder_names(ROOT))

    assert missing_paths(named, ROOT) == []


@pytest.mark.parametrize("room", ROOMS, ids=shown)
def test_every_room_introduces_itself(room):
    """Purpose, entry point, invariants and what it must never know, on less than a screen."""
    lines = (room / "README.md").read_text(encoding="utf-8").splitlines()

    assert SHORTEST <= len(lines) <= LONGEST


PAGE = """
See [the store](src/holdfast/store/contract.py), `store/sqlite/`, `tests/crash`.
Read https://x.org/a.py too.

```
src/holdfast/
  gone.py        once was
  store/         contract.py · sqlite/
```
A backend is `store/<name>.py` with `tests/store/test_*.py`; `alice/42` is a thread, and/or not.
Erased: `store/lost/`, tests/crash/nowhere.py.
"""


def test_a_path_that_leads_nowhere_is_found(tmp_path):
    """In prose, in backticks, in links and in drawn trees; what is no path is left alone."""
    for name in ("src/holdfast/store/contract.py", "src/holdfast/store/sqlite/file.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    for name in ("tests/crash/test_kill.py", "tests/store/test_sqlite.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    named = named_paths(PAGE, folder_names(tmp_path))

    assert missing_paths(named, tmp_path) == ["gone.py", "store/lost/", "tests/crash/nowhere.py"]
