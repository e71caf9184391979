"""The command line: what it says and how it ends."""

import subprocess
import sys

import pytest

import holdfast


def run(*arguments):
    """One command as a process of its own."""
    command = [sys.executable, "-m", "holdfast", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_version_is_that_of_the_package():
    """Asked for in every report of a fault."""
    assert run("--version").stdout == f"holdfast {holdfast.__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("demoo",), ("demo", "--kep", "x")])
def test_wrong_usage_ends_with_2_and_says_how(arguments):
    """Nothing is begun."""
    ended = run(*arguments)

    assert ended.returncode == 2
    assert "usage: holdfast" in ended.stderr


def test_the_demo_survives_its_kill_and_keeps_its_file(tmp_path):
    """The file is an ordinary memory afterwards."""
    ended = run("demo", "--keep", tmp_path / "kept.db")

    assert ended.returncode == 0
    assert "Welcome back. You left off at: step 'send_mail'" in ended.stdout
    with holdfast.open(tmp_path / "kept.db") as memory:
        assert memory.scope(user="alice").preferences["timezone"] == "US/Pacific"


@pytest.mark.parametrize("place", ["there.db", "nowhere/new.db"])
def test_an_error_is_one_line_with_its_remedy(place, tmp_path):
    """No traceback: it is no fault of the program."""
    (tmp_path / "there.db").write_text("mine")

    ended = run("demo", "--keep", tmp_path / place)

    assert ended.returncode == 1
    assert ended.stderr.startswith("holdfast: ")
    assert len(ended.stderr.splitlines()) == 1
    assert (tmp_path / "there.db").read_text() == "mine"
