"""Listings: newest first, page by page, nothing twice and nothing missing."""

import threading
from itertools import chain

import pytest

import holdfast


def texts(hits):
    """What the hits say."""
    return [hit.text for hit in hits]


def pages(scope, **arguments):
    """All pages of a listing, one after the other."""
    page = scope.records(**arguments)
    yield page
    while page.next is not None:
        page = scope.records(after=page.next, **arguments)
        yield page


def test_the_newest_comes_first(alice, thread, clock):
    """Facts, messages and notes in one line of time."""
    alice.remember("first")
    thread.add("user", "second")
    thread.note("decision", "third")
    clock.advance(seconds=1)
    alice.remember("fourth", private=True)

    assert texts(alice.recent()) == texts(alice.records()) == ["fourth", "third", "second", "first"]


def test_recent_shows_twenty(alice):
    """Unless another number is named."""
    alice.remember_many([f"fact {number}" for number in range(30)])

    assert texts(alice.recent()) == [f"fact {number}" for number in range(29, 9, -1)]
    assert texts(alice.recent(limit=2)) == ["fact 29", "fact 28"]
    assert alice.recent(limit=0) == []


@pytest.mark.parametrize(
    ("kinds", "shown"),
    [(["message"], ["second"]), (["decision", "fact"], ["third", "first"]), ([], []), (None, 3)],
)
def test_kinds_narrow_a_listing(alice, thread, kinds, shown):
    """None is all of them, an empty list is none."""
    alice.remember("first")
    thread.add("user", "second")
    thread.note("decision", "third")

    found = texts(alice.records(kinds=kinds))

    assert found == shown or len(found) == shown


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 10, 11, 100])
def test_pages_give_all_of_it_once(memory, alice, clock, limit):
    """`next` leads to the end, whatever the size of a page, over several owners."""
    support = memory.scope(agent="support", tenant="acme")
    for number in range(10):
        (alice, support)[number % 2].remember(f"fact {number}")
        clock.advance(seconds=1)

    found = list(pages(alice, limit=limit))

    assert texts(chain(*found)) == [f"fact {number}" for number in range(9, -1, -1)]
    assert {len(page) for page in found[:-1]} <= {limit}
    assert found[-1].next is None


def test_records_of_one_moment_are_each_listed_once(memory, alice):
    """Several owners may have written in the same microsecond."""
    owners = [alice, memory.scope(agent="support", tenant="acme"), memory.common(tenant="acme")]
    for number in range(5):
        for owner in owners:
            owner.remember(f"fact {number}", about="alice")

    found = texts(chain(*pages(alice, limit=1)))

    assert sorted(found) == sorted(f"fact {number}" for number in range(5) for _ in owners)


def test_kinds_and_pages_go_together(alice, thread):
    """A page of ten is ten of the kind."""
    for number in range(20):
        thread.add("user", f"message {number}")
        thread.note("decision", f"decision {number}")

    found = list(pages(alice, kinds=["decision"], limit=7))

    assert [len(page) for page in found] == [7, 7, 6]
    assert texts(chain(*found))[0] == "decision 19"


def test_a_cursor_outlives_the_process(alice, reopen):
    """It is a place in the order, not an open query."""
    alice.remember_many([f"fact {number}" for number in range(4)])
    first = alice.records(limit=2)

    again = reopen().scope(user="alice", agent="support", tenant="acme")

    assert texts(again.records(limit=2, after=first.next)) == ["fact 1", "fact 0"]


def test_under_concurrent_adds_nothing_is_missing_and_nothing_comes_twice(alice, thread):
    """What was there at the beginning is listed once; what comes meanwhile may come or not."""
    before = {thread.add("user", f"message {number}").id for number in range(60)}
    stop = threading.Event()

    def write():
        while not stop.is_set():
            thread.add("user", "meanwhile")

    writers = [threading.Thread(target=write) for _ in range(2)]
    for writer in writers:
        writer.start()
    found = [hit.id for page in pages(alice, limit=7) for hit in page]
    stop.set()
    for writer in writers:
        writer.join()

    assert len(found) == len(set(found))
    assert before <= set(found)


def test_what_is_forgotten_between_two_pages_is_not_shown(alice):
    """And moves nothing else."""
    receipts = alice.remember_many([f"fact {number}" for number in range(6)])
    first = alice.records(limit=2)

    alice.forget(receipts[4].id)
    alice.forget(receipts[2].id)

    assert texts(alice.records(after=first.next)) == ["fact 3", "fact 1", "fact 0"]


@pytest.mark.parametrize(
    "after", ["", "nonsense", ".", "x.y", "²." + "0" * 36, "-1.x", 7, b"1.x", "1\0.x"], ids=ascii
)
def test_what_is_no_cursor_is_refused(alice, after):
    """The hint says where one comes from."""
    with pytest.raises(holdfast.InvalidInput, match="after") as caught:
        alice.records(after=after)

    assert caught.value.hint


def test_a_cursor_beyond_all_time_is_no_error_of_the_driver(alice):
    """It is refused, or finds everything."""
    alice.remember("fact")

    try:
        found = texts(alice.records(after="9" * 30 + ".x"))
    except holdfast.InvalidInput as error:
        found = error.hint

    assert found


@pytest.mark.parametrize("kinds", ["fact", [7], 7], ids=repr)
def test_kinds_are_a_list_of_texts(alice, kinds):
    """One text would be read as its letters."""
    with pytest.raises(holdfast.InvalidInput, match="kind") as caught:
        alice.records(kinds=kinds)

    assert caught.value.hint
