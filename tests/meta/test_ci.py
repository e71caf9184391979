"""Green in CI means that every test ran: shown on a folder of its own with the same conftest."""

import os
import subprocess
import sys

import pytest

from tests.meta.repository import ROOT

RUNS = "def test_it_runs(): ...\n"
SKIPPED = "import pytest\n\n\n@pytest.mark.{}(reason='not here')\ndef test_it(): assert False\n"
MISSING = "import pytest\n\npytest.importorskip('no_such_module')\n"


def exit_code(folder, source, *, ci, workers):
    (folder / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    (folder / "test_runs.py").write_text(RUNS)
    (folder / "test_sample.py").write_text(source)
    environment = {key: value for key, value in os.environ.items() if key != "CI"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", workers]
    return subprocess.run(
        command,
        cwd=folder,
        env=environment | ({"CI": "true"} if ci else {}),
        capture_output=True,
    ).returncode


@pytest.mark.parametrize(
    ("source", "workers"),
    [
        (SKIPPED.format("skip"), "0"),
        (SKIPPED.format("skip"), "2"),
        (SKIPPED.format("xfail"), "0"),
        (MISSING, "2"),
    ],
    ids=["skip alone", "skip in parallel", "xfail", "a whole file"],
)
def test_a_test_that_was_left_out_fails_ci(tmp_path, source, workers):
    """By a mark, by an expectation to fail, or as a whole file; with one process or several."""
    assert exit_code(tmp_path, source, ci=True, workers=workers) == pytest.ExitCode.TESTS_FAILED


def test_on_a_desk_a_test_may_be_left_out(tmp_path):
    """Who works on something else is not stopped; CI is the one that must see everything."""
    assert exit_code(tmp_path, SKIPPED.format("skip"), ci=False, workers="0") == pytest.ExitCode.OK


def test_ci_passes_when_everything_ran(tmp_path):
    """The hook refuses what was left out and nothing else."""
    assert exit_code(tmp_path, "", ci=True, workers="0") == pytest.ExitCode.OK
