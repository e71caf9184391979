"""One file, many processes: no error, nothing lost, and a fork is noticed."""

import threading

import pytest

import holdfast
from holdfast.testing import FakeClock, faults
from tests.store import children


@pytest.fixture
def path(tmp_path):
    """The file that they share."""
    return tmp_path / "agent.db"


def test_four_processes_write_one_file(path):
    """They begin together, with the making of the file, and none is told to go away."""
    users = ["alice", "bob", "carol", "dave"]

    running = [children.start("write", path, user, 60) for user in users]
    acknowledged = {
        user: children.answer(child) for user, child in zip(users, running, strict=True)
    }

    with holdfast.open(path) as memory:
        for user in users:
            episodes = memory.scope(user=user).thread("q4").episodes()
            assert [episode.id for episode in episodes] == acknowledged[user]
            assert [episode.text for episode in episodes] == [f"{user} {n}" for n in range(60)]
        (shared,) = memory.scope(agent="shared").records()
    assert sorted(shared.sources) == users


def test_a_reader_sees_what_another_process_has_written(path):
    """Without being opened again."""
    with holdfast.open(path) as memory:
        scope = memory.scope(user="alice")
        before = scope.records()

        children.run("write", path, "alice", 1)

        assert before == []
        assert {hit.text for hit in scope.records()} == {"alice 0", "alice was here"}


def test_a_child_goes_on_when_the_parent_closes(path):
    """The log that it writes to is not removed under it."""
    seen = children.run("outlive", path)

    assert seen == ["before the fork", *(f"child {n}" for n in range(5))]


def test_closing_beside_readers_and_writers_ends(path):
    """Whoever comes too late is told so; nobody waits for ever."""
    memory = holdfast.open(path)
    scope = memory.scope(user="alice")
    ends = []

    def use(number):
        try:
            for turn in range(10_000):
                scope.remember(f"{number} {turn}")
                scope.recent(limit=1)
        except holdfast.Misconfigured:
            ends.append(number)

    users = [threading.Thread(target=use, args=(number,)) for number in range(12)]
    for user in users:
        user.start()
    while not scope.recent(limit=1):
        scope.recent(limit=1)
    memory.close()
    for user in users:
        user.join(60)

    assert sorted(ends) == list(range(12))


def test_a_forked_child_reads_and_writes_and_its_parent_goes_on(path):
    """The child opens the file anew and leaves the parent's connections alone."""
    exit_code, seen = children.run("fork", path)

    assert exit_code >= 2
    assert seen == [
        "said after the child had ended",
        "said before the fork",
        "said by the child",
        "said by the parent meanwhile",
    ]


def test_a_step_of_a_parent_is_still_running_when_its_child_has_ended(path):
    """A lock that the child's end had dropped would call it in doubt."""
    assert children.run("claim_and_fork", path) == "running"


def test_a_step_of_a_process_that_was_killed_is_in_doubt(path):
    """The system dropped its lock, so nobody has to guess by a timeout."""
    assert children.run("die_in_a_step", path) is None

    with holdfast.open(path) as memory:
        thread = memory.scope(user="alice").thread("q4")
        (found,) = memory.unfinished()

        assert thread.step_status("send") == found.why == "in_doubt"
        with pytest.raises(holdfast.Conflict, match="another function"):
            thread.once("send", list)


def test_a_step_that_runs_in_another_process_is_busy(path):
    """Seen from here, while it runs there."""
    with holdfast.open(path) as memory:
        thread = memory.scope(user="alice").thread("q4")

        assert thread.once("send", lambda: children.run("status", path)) == "running"


def test_a_rival_that_came_a_moment_too_late_does_not_end_the_step_of_the_winner(path):
    """Both saw no claim; one won. While it runs, it is running, whatever the rival does."""
    looked = threading.Event()
    rivals, refused = [], []
    time = FakeClock()

    def clock():
        # The rival asks for the time after it has looked for a claim, before it writes its own.
        if threading.current_thread() in rivals:
            looked.set()
        return time()

    with holdfast.open(path, clock=clock) as memory:
        thread = memory.scope(user="alice").thread("q4")

        def rival():
            with pytest.raises(holdfast.Busy) as caught:
                thread.once("send", effect)
            refused.append(caught.value)
            looked.set()

        def effect():
            rivals[0].join()
            return thread.step_status("send")

        def let_the_rival_look():
            rivals.append(threading.Thread(target=rival))
            rivals[0].start()
            assert looked.wait(30)

        with faults.at("commit.before", let_the_rival_look):
            seen = thread.once("send", effect)

    assert len(refused) == 1
    assert seen == "running"
