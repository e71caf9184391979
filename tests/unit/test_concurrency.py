"""Many threads on one handle: one of them wins where only one may, and all where all may."""

import threading

import pytest

import holdfast

WORKERS = 8


def together(work):
    """What each of several threads comes to, begun at the same moment: a value or an error."""
    barrier = threading.Barrier(WORKERS)
    outcomes = []

    def run(number):
        barrier.wait()
        try:
            outcomes.append(work(number))
        except holdfast.HoldfastError as error:
            outcomes.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(WORKERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == WORKERS
    return outcomes


def of(kind, outcomes):
    """The outcomes of one kind."""
    return [outcome for outcome in outcomes if isinstance(outcome, kind)]


def test_of_those_that_expect_the_same_checkpoint_one_wins(thread):
    """The others are told, and nothing of theirs is kept."""
    outcomes = together(lambda number: thread.checkpoint({"by": number}, expected=0))

    assert [saved.number for saved in of(holdfast.Saved, outcomes)] == [1]
    assert len(of(holdfast.Conflict, outcomes)) == WORKERS - 1


def test_those_that_expect_nothing_all_get_a_number_of_their_own(thread):
    """An append never conflicts, and a receipt never names another's state."""
    outcomes = together(lambda number: (number, thread.checkpoint({"by": number})))

    assert sorted(saved.number for _, saved in outcomes) == [*range(1, WORKERS + 1)]
    assert {thread.restore(saved)["by"] for _, saved in outcomes} == {*range(WORKERS)}
    assert all(thread.restore(saved.number) == {"by": number} for number, saved in outcomes)


def test_of_those_that_edit_the_same_version_one_wins(alice):
    """A slower editor has to look first at what the faster one wrote."""
    fact = alice.remember("Prefers CSV").id

    outcomes = together(lambda number: alice.edit(fact, text=f"Prefers {number}", expected=1))

    assert len(of(holdfast.Receipt, outcomes)) == 1
    assert len(of(holdfast.Conflict, outcomes)) == WORKERS - 1
    assert alice.get(fact).version == 2


def test_edits_that_expect_nothing_all_happen(alice):
    """One after the other, whatever the order."""
    fact = alice.remember("Prefers CSV").id

    outcomes = together(lambda number: alice.edit(fact, text=f"Prefers {number}"))

    assert len(of(holdfast.Receipt, outcomes)) == WORKERS
    assert alice.get(fact).version == 1 + WORKERS


def test_one_key_used_at_once_is_one_write(alice, thread):
    """All retries get the answer of whichever came first."""
    outcomes = together(lambda _: thread.add("user", "Ship order 17", idempotency_key="order-17"))

    assert len(set(outcomes)) == 1
    assert len(thread.episodes()) == 1


def test_an_effect_that_all_want_happens_once(thread):
    """Who comes while it runs is told to wait; who comes after it gets the result."""
    sent = []

    def send():
        sent.append("mail")
        return "sent"

    outcomes = together(lambda _: thread.once("send", send))

    assert sent == ["mail"]
    assert len(of(str, outcomes)) + len(of(holdfast.Busy, outcomes)) == WORKERS
    assert thread.once("send", send) == "sent"


def test_facts_under_one_key_leave_one_current(alice):
    """Each superseded the one before; none is lost on the way."""
    outcomes = together(lambda number: alice.remember(f"Lives at {number}", key="home"))

    (current,) = alice.records()
    actions = sorted(receipt.action for receipt in outcomes)
    assert actions == ["added"] + ["superseded"] * (WORKERS - 1)
    assert current.id in {receipt.id for receipt in outcomes}
    assert current.version == WORKERS


def test_batches_do_not_mix(thread):
    """What was written together stands together."""

    def talk(number):
        with thread.batch() as batch:
            for turn in range(5):
                batch.add("user", f"{number}.{turn}")
        return batch.receipts

    together(talk)

    said = [episode.text for episode in thread.episodes()]
    assert len(said) == 5 * WORKERS
    for place in range(0, len(said), 5):
        number = said[place].partition(".")[0]
        assert said[place : place + 5] == [f"{number}.{turn}" for turn in range(5)]


@pytest.mark.parametrize("read", ["records", "recall"])
def test_reading_while_others_write_and_forget_is_never_half_of_anything(alice, read):
    """A batch is seen whole or not at all, and an erasure as well."""
    pairs = [[f"left report {n}", f"right report {n}"] for n in range(WORKERS)]

    def work(number):
        receipts = alice.remember_many(pairs[number])
        listed = {hit.text for hit in alice.records()}
        found = {hit.text for hit in alice.recall("report", limit=None)}
        alice.forget(receipts[0].id)
        return listed if read == "records" else found

    outcomes = together(work)

    for number, seen in enumerate(pairs):
        left, right = seen
        # The right one outlives the left one, so the left one is never seen alone.
        assert all(right in outcome for outcome in outcomes if left in outcome), number
