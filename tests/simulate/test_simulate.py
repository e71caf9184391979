"""The simulator on each store, and the proof that it finds bugs.

The long campaign is `python bench/campaign_simulate.py --seeds 10000`.
"""

from pathlib import Path

import pytest

from holdfast.testing.simulate import Violation, simulate
from tests.simulate.places import InMemory, OnDisk
from tests.simulate.planted import BUGS

SEEDS = 60


@pytest.mark.parametrize("block", range(4))
def test_random_histories_in_memory_match_the_model(block):
    """No seed may find a difference between the memory and the plain model."""
    for seed in range(block * SEEDS, (block + 1) * SEEDS):
        place = InMemory()
        simulate(seed, place)
        place.end()


@pytest.mark.parametrize("block", range(4))
def test_random_histories_on_disk_match_the_model(block, tmp_path: Path):
    """The same seeds on a file, whose disk is frozen in each crash."""
    for seed in range(block * SEEDS, (block + 1) * SEEDS):
        folder = tmp_path / str(seed)
        folder.mkdir()
        place = OnDisk(folder)
        simulate(seed, place)
        place.end()


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.__name__)
def test_each_planted_bug_is_found_and_its_seed_replays_it(bug):
    """A check that cannot fail is worth nothing."""

    class Place(InMemory):
        def open(self):
            return bug(super().open())

    seeds = iter(range(300))
    found = None
    while found is None:
        seed = next(seeds)
        try:
            simulate(seed, Place())
        except Violation as violation:
            found = str(violation)

    assert f"seed {seed}" in found
    with pytest.raises(Violation, match=f"seed {seed}"):
        simulate(seed, Place())


def test_two_runs_of_a_seed_do_the_same():
    """The seed alone decides what happens."""
    first, second = [], []

    class Place(InMemory):
        def __init__(self, log):
            self._log = log
            super().__init__()

        def open(self):
            log = self._log

            class Logged:
                def __init__(self, store):
                    self._store = store

                def __getattr__(self, name):
                    return getattr(self._store, name)

                def apply(self, batch):
                    log.append((len(batch.puts), len(batch.expected), batch.now_us))
                    return self._store.apply(batch)

            return Logged(super().open())

    simulate(11, Place(first))
    simulate(11, Place(second))

    assert first == second
    assert len(first) > 20
