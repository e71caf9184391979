"""Checkpoints: the whole plain state of a thread under a number, each kept."""

import pytest

import holdfast


def test_what_was_saved_is_restored_after_closing(thread, reopen):
    """Stop safely, resume later."""
    thread.checkpoint({"step": 9, "of": 12, "drafts": ["a", "b"]})

    again = reopen().scope(user="alice", tenant="acme").thread("q4-report")

    assert again.restore() == {"step": 9, "of": 12, "drafts": ["a", "b"]}


def test_a_thread_without_a_checkpoint_restores_none(thread):
    """None is no state; messages alone make none."""
    thread.add("user", "Find the report")

    assert thread.restore() is None


@pytest.mark.parametrize(
    "state",
    [
        {}, [], "", 0, False, None, 1.5, -0.0, 2**80, "🦊", {"a": {"b": [None, True, "c"]}},
        [[[[]]]], {"": ""}, "x" * 100_000, float("inf"),
    ],
    ids=lambda state: repr(state)[:20],
)  # fmt: skip
def test_a_state_comes_back_as_it_was(thread, state):
    """Of the same types, to the last bit."""
    saved = thread.checkpoint(state)

    found = thread.restore(saved)

    assert (found, type(found), repr(found)) == (state, type(state), repr(state))


@pytest.mark.parametrize(
    ("state", "place"),
    [
        (("a",), r"state is a tuple"),
        ({"a": [1, {"b": {1}}]}, r"state\.a\[1\]\.b is a set"),
        ({"a": b"bytes"}, r"state\.a is a bytes"),
        ({1: "a"}, r"state has a key that is not text"),
        ([object()], r"state\[0\] is a object"),
        (["\ud800"], r"state\[0\] holds a lone surrogate"),
    ],
    ids=["tuple", "set", "bytes", "int key", "object", "surrogate"],
)
def test_what_would_come_back_changed_is_refused_with_its_place(thread, state, place):
    """JSON would turn a tuple into a list without a word."""
    with pytest.raises(holdfast.InvalidInput, match=place) as caught:
        thread.checkpoint(state)

    assert caught.value.hint
    assert thread.restore() is None


def test_numbers_count_up_within_the_thread(alice, thread):
    """Each state has a number and an id."""
    first, second = thread.checkpoint("one"), thread.checkpoint("two")
    elsewhere = alice.thread("another").checkpoint("three")

    assert (first.number, second.number, elsewhere.number) == (1, 2, 1)
    assert len({first.id, second.id, elsewhere.id}) == 3


@pytest.mark.parametrize("name", ["number", "id", "saved"])
def test_every_state_is_kept_and_found(thread, name):
    """By its number, its id, or what `checkpoint` returned."""
    first = thread.checkpoint("one")
    thread.checkpoint("two")

    found = thread.restore({"number": 1, "id": first.id, "saved": first}[name])

    assert found == "one"


@pytest.mark.parametrize("which", [0, 2, 2**70, "nonsense"], ids=repr)
def test_a_checkpoint_that_is_not_there_is_not_found(thread, which):
    """Named and absent is an error; None asks for the newest."""
    thread.checkpoint("one")

    with pytest.raises(holdfast.NotFound, match="no such checkpoint") as caught:
        thread.restore(which)

    assert "restore()" in caught.value.hint


def test_another_threads_checkpoint_is_not_found(alice, thread):
    """An id of the same owner does not open another thread's state."""
    saved = alice.thread("another").checkpoint("theirs")

    with pytest.raises(holdfast.NotFound):
        thread.restore(saved)


@pytest.mark.parametrize("which", [1.0, True, -1, b"1", ["1"]], ids=repr)
def test_a_checkpoint_is_named_by_a_number_or_an_id(thread, which):
    """Anything else is a mistake of the caller."""
    with pytest.raises(holdfast.InvalidInput, match="checkpoint"):
        thread.restore(which)


def test_a_stale_writer_is_refused_and_leaves_no_trace(thread):
    """Two workers resume one thread; only the first may continue it."""
    first = thread.checkpoint("draft", expected=0)
    thread.checkpoint("sent", expected=first.number)

    with pytest.raises(holdfast.Conflict, match="is at checkpoint 2, you wrote on 1") as caught:
        thread.checkpoint("draft again", expected=first.number)

    assert (caught.value.thread, caught.value.actual, caught.value.expected) == ("q4-report", 2, 1)
    assert "thread.restore()" in caught.value.hint
    assert thread.restore() == "sent"


def test_without_an_expectation_nothing_conflicts(thread):
    """Appends never do."""
    numbers = [thread.checkpoint({"step": step}).number for step in range(5)]

    assert numbers == [1, 2, 3, 4, 5]


def test_the_first_checkpoint_may_expect_none(thread):
    """0 says: there is none yet."""
    thread.checkpoint("draft", expected=0)

    with pytest.raises(holdfast.Conflict):
        thread.checkpoint("another draft", expected=0)


@pytest.mark.parametrize("expected", ["1", 1.0, True, -1], ids=repr)
def test_an_expectation_is_a_count(thread, expected):
    """Something else can never be met: that is a mistake, not a conflict."""
    with pytest.raises(holdfast.InvalidInput, match="expected"):
        thread.checkpoint("draft", expected=expected)


def test_a_checkpoint_is_one_row(memory, alice, thread):
    """It is no message, no fact and no unfinished work."""
    thread.checkpoint({"step": 1})

    assert thread.forget().counts == {"checkpoints": 1}
    assert alice.records() == []
    assert memory.unfinished(tenant="acme") == []


def test_a_number_is_never_given_twice_while_the_thread_lives(thread, reopen):
    """Not after closing either."""
    thread.checkpoint("one")
    thread.checkpoint("two")

    again = reopen().scope(user="alice", tenant="acme").thread("q4-report")

    assert again.checkpoint("three").number == 3
