"""What is committed is finished: no leftovers, nothing silenced unexplained, no test left out."""

import pytest

from tests.meta.hygiene import code_findings, text_findings, waiting_findings
from tests.meta.repository import PACKAGE, ROOT, python_files, shown, text_files

CODE = [ROOT / "src", ROOT / "tests", ROOT / "bench"]
TESTS = [ROOT / "tests", PACKAGE / "testing"]


def collect(find, paths):
    texts = ((shown(path), path.read_text(encoding="utf-8")) for path in paths)
    return [f"{name}:{finding}" for name, text in texts for finding in find(text)]


def test_no_text_names_a_machine_or_unfinished_work():
    """A path that exists on one machine only is a mistake on all others."""
    assert collect(text_findings, text_files()) == []


def test_no_code_silences_or_swallows_without_a_reason():
    """Whoever switches a check off says which and why, in three words at least."""
    assert collect(code_findings, [*python_files(*CODE), ROOT / "tasks.py"]) == []


def test_no_test_is_left_out_or_waits():
    """A test that does not run proves nothing; one that sleeps proves it sometimes."""
    assert collect(waiting_findings, python_files(*TESTS)) == []


@pytest.mark.parametrize(
    "text",
    [
        "open('/" + "home/alice/agent.db')",
        "see /" + "work/notes.md",
        "# TO" + "DO: later",
        "FIX" + "ME",
    ],
)
def test_a_trace_or_a_leftover_is_found(text):
    """In code, in comments and in documents alike."""
    assert len(list(text_findings(text))) == 1


@pytest.mark.parametrize(
    "text",
    ["sqlite:///agent.db", "/tmp/agent.db", "at ~/home/work", "https://x.org/home/a", "TODOS"],
)
def test_ordinary_text_is_left_alone(text):
    """A finding that is none teaches people to ignore findings."""
    assert list(text_findings(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "import x  # type: " + "ignore",
        "import x  # type: " + "ignore[import]",
        "import x  # type: " + "ignore  # it has no types",
        "import x  # no" + "qa",
        "import x  # no" + "qa: F401",
        "try:\n    pass\n\n\nexcept Exception:\n    pass",
        "try:\n    pass\n\n\nexcept (OSError, BaseException) as error:\n    pass",
        "try:\n    pass\n\n\nexcept:\n    pass",
        "from unittest import mock",
        "import unittest.mock",
        "from unittest.mock import MagicMock",
    ],
)
def test_a_silenced_check_is_found(text):
    """Each of these hides something from somebody."""
    assert len(list(code_findings(text + "\n"))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import x  # type: " + "ignore[import]  # it ships no types",
        "import x  # no" + "qa: F401  # it registers itself on import",
        "try:\n    pass\nexcept Exception:\n    # The edge: logged by type and id.\n    pass",
        "try:\n    pass\nexcept ValueError:\n    pass",
        "try:\n    pass\n\n\nexcept BaseException:\n    close()\n    raise",
    ],
)
def test_an_explained_exception_is_left_alone(text):
    """Rules have exceptions; they are written down where they are made."""
    assert list(code_findings(text + "\n")) == []


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.mark.skipif(True, reason='')\ndef test_x(): ...",
        "pytest.skip('later')",
        "pytest.importorskip('redis')",
        "@pytest.mark.xfail\ndef test_x(): ...",
        "time.sleep(1)",
    ],
)
def test_a_test_that_is_left_out_or_waits_is_found(text):
    """Seen in the code, so that no run is needed to notice."""
    assert len(list(waiting_findings(text))) == 1
