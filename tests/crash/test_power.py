"""Goal: a power cut at any moment loses nothing acknowledged under 'full', and only a suffix under
'normal'.

Method: one run of a writer is recorded call by call; the files are rebuilt as a power cut could
leave them, and a fresh process checks each image against what was acknowledged until then
(power.py, disk.py). The same images of writers that promise too much must show 'lost', and of split
transactions 'half'.
"""

from pathlib import Path

import pytest

from tests.crash.disk import KINDS, SYNC_FAILED
from tests.crash.kill import Crew
from tests.crash.power import Images, Recording, examine, record, record_fault

IMAGES = 60
TURNS = 12
CHECKPOINT_PAGES = 60
CREWS = (
    Crew("holdfast", "full"),
    Crew("holdfast", "normal"),
    Crew("holdfast", "full", threads=4),
)


def figure(what: object, kind: str, found: Images) -> str:
    """One line for the report."""
    seen = f"{found.turns} turns read, worst loss {found.worst_loss}, {found.in_doubt} in doubt"
    return f"power {what}, {kind}: {found.violated}/{found.images} images violated; {seen}"


@pytest.fixture(scope="module")
def recordings(tmp_path_factory) -> dict[str, Recording]:
    """The recorded runs, each made once."""
    folder = tmp_path_factory.mktemp("runs")
    return {
        str(crew): record(crew, folder, turns=TURNS, checkpoint_pages=CHECKPOINT_PAGES)
        for crew in CREWS
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("crew", CREWS, ids=str)
def test_a_power_cut_breaks_no_promise(crew, kind, recordings, tmp_path, record_property) -> None:
    """full: everything acknowledged is there; normal: at most the last turns are gone."""
    found = examine(recordings[str(crew)], kind, IMAGES, tmp_path, seed=11)

    record_property("figure", figure(crew, kind, found))
    assert found.examples == []


def test_normal_does_lose_a_suffix(recordings, tmp_path: Path) -> None:
    """Control: judged as 'full', the very same images of 'normal' show a loss."""
    recording = recordings["holdfast normal"]
    claimed = Recording(Crew("holdfast", "full"), recording.calls)

    found = examine(claimed, "synced", 20, tmp_path, seed=11)

    assert set(found.violations) == {"lost"}


CONTROLS = (
    ("off", "synced", "lost"),
    ("off", "reordered", "noopen"),
    ("normal", "synced", "lost"),
    ("normal", "reordered", "lost"),
    ("half", "killed", "half"),
    ("half", "torn", "half"),
    ("half", "synced", "half"),
    ("lost", "killed", "gap"),
    ("twice", "killed", "twice"),
    ("noeffect", "killed", "noeffect"),
    ("noopen", "torn", "noopen"),
    ("renamed", "reordered", "noopen"),
    ("nofolder", "synced", "lost"),
)


@pytest.mark.parametrize(("habit", "kind", "name"), CONTROLS)
def test_a_writer_that_promises_too_much_is_caught(habit, kind, name, tmp_path: Path) -> None:
    """Control: each broken way of writing shows in the images that are made for it."""
    recording = record(Crew("plain", habit), tmp_path, turns=TURNS)

    found = examine(recording, kind, 3 * IMAGES, tmp_path, seed=5)

    assert found.violations[name] > 0


@pytest.mark.parametrize("habit", ["whole", "folder"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_plain_writer_that_is_right_passes(habit: str, kind: str, tmp_path: Path) -> None:
    """The harness finds no fault in SQLite with full synchronisation, nor in a careful rename."""
    recording = record(Crew("plain", habit), tmp_path, turns=TURNS)

    found = examine(recording, kind, IMAGES, tmp_path, seed=5)

    assert found.examples == []
    assert found.turns > 0


@pytest.mark.parametrize("after", [6, 12, 24])
@pytest.mark.parametrize("kind", ["synced", "reordered"])
def test_a_power_cut_after_a_failed_sync_loses_nothing(after, kind, tmp_path: Path) -> None:
    """What the failed sync was to save may be gone for ever; nothing acknowledged rests on it."""
    recording = record_fault(Crew("holdfast", "full"), tmp_path, after=after)

    found = examine(recording, kind, IMAGES // 2, tmp_path, seed=2)

    assert any(call.what == SYNC_FAILED for call in recording.calls)
    assert found.examples == []
