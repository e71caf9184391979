"""Goal: a SIGKILL at any moment loses nothing acknowledged and leaves no half turn.

Method: real writer processes are killed, at random moments again and again on the same file, and at
every named commit point; after each kill a fresh process checks the invariants, takes up the open
steps, writes on and checks again (kill.py). The broken writers beside each check must be caught by
name.
"""

from pathlib import Path

import pytest

from holdfast.store.points import POINTS
from tests.crash.kill import Crew, Tally, kill_at_point, random_kills

# The broken writers, with the invariant that each breaks.
BROKEN = ("lost", "half", "phantom", "twice", "noeffect", "corrupt", "noopen")
CREWS = (
    (Crew("holdfast", "full"), 14),
    (Crew("holdfast", "normal"), 10),
    (Crew("holdfast", "full", threads=4), 8),
    (Crew("holdfast", "full", processes=2, threads=2), 8),
)


def figure(what: object, tally: Tally) -> str:
    """One line for the report: how often the kill fell where, and what was read back."""
    where = f"{tally.in_write} in a write, {tally.in_step} in a step, {tally.in_open} at opening"
    seen = f"{tally.turns} turns read, {tally.in_doubt} steps in doubt"
    found = sum(tally.violations.values())
    return f"kill {what}: {tally.kills} kills ({where}); {seen}; {found} violations"


@pytest.mark.parametrize("habit", BROKEN)
def test_a_broken_writer_is_caught(habit: str, tmp_path: Path, record_property) -> None:
    """Control: each way of writing wrongly shows under the name of its invariant."""
    for seed in range(20):
        tally = random_kills(Crew("plain", habit), 4, tmp_path, seed=seed)
        if tally.violations[habit]:
            break

    record_property("figure", figure(f"control {habit}", tally))
    assert tally.violations[habit] > 0


def test_a_plain_writer_that_is_right_passes(tmp_path: Path) -> None:
    """The harness finds no fault where there is none."""
    tally = random_kills(Crew("plain", "whole"), 6, tmp_path, seed=1)

    assert tally.examples == []
    assert tally.turns > 0


@pytest.mark.parametrize(("crew", "kills"), CREWS, ids=lambda value: str(value))
def test_random_kills_lose_nothing(crew: Crew, kills: int, tmp_path: Path, record_property) -> None:
    """Alone, from several threads, from two processes: what was acknowledged is there."""
    tally = random_kills(crew, kills, tmp_path, seed=7)

    record_property("figure", figure(crew, tally))
    assert tally.examples == []
    assert tally.in_write > 0


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_a_named_point_loses_nothing(point: str, tmp_path: Path) -> None:
    """The first time that the process comes by."""
    tally = kill_at_point(Crew("holdfast", "full"), point, 1, tmp_path)

    assert tally.kills == 1, f"the workload never reaches {point}"
    assert tally.examples == []


@pytest.mark.parametrize("point", [point for point in POINTS if point.startswith("commit")])
def test_a_kill_in_the_midst_of_a_group_loses_nothing(point: str, tmp_path: Path) -> None:
    """The same while four threads write, when groups have formed."""
    tally = kill_at_point(Crew("holdfast", "full", threads=4), point, 12, tmp_path)

    assert tally.kills == 1
    assert tally.examples == []
