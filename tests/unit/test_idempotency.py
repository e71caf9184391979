"""Idempotency keys: a retry of the same write gives the first answer and writes nothing."""

from datetime import timedelta

import pytest

import holdfast

KEY = "order-17"


def remember(alice, text):
    return alice.remember(text, idempotency_key=KEY)


def remember_privately(alice, text):
    return alice.remember(text, private=True, idempotency_key=KEY)


def remember_many(alice, text):
    return alice.remember_many([text, {"text": text, "key": "k"}], idempotency_key=KEY)


def add(alice, text):
    return alice.thread("q4").add("user", text, idempotency_key=KEY)


def add_a_message(alice, text):
    return alice.thread("q4").add({"role": "user", "content": text}, idempotency_key=KEY)


def note(alice, text):
    return alice.thread("q4").note("decision", text, idempotency_key=KEY)


def batch(alice, text):
    with alice.thread("q4").batch(idempotency_key=KEY) as together:
        together.add("user", text)
        together.remember(text)
        together.checkpoint({"said": text})
    return together.receipts


KEYED = [remember, remember_privately, remember_many, add, add_a_message, note, batch]


def everything(scope):
    """All records, with what a write would have changed."""
    return [(hit.id, hit.text, hit.version, hit.tags) for hit in scope.records()]


@pytest.fixture(params=KEYED, ids=lambda verb: verb.__name__)
def write(request):
    """Each verb that takes a key."""
    return request.param


def test_a_repeated_key_gives_the_first_answer_and_writes_nothing(alice, write):
    """A caller that lost the answer asks again with the same arguments."""
    first = write(alice, "Ship order 17")
    before = everything(alice)

    second = write(alice, "Ship order 17")

    assert second == first
    assert everything(alice) == before


def test_the_answer_is_kept_when_the_program_ends(alice, reopen, write, url):
    """The retry may well come from the next process."""
    first = write(alice, "Ship order 17")

    again = reopen().scope(user="alice", agent="support", tenant="acme")

    assert write(again, "Ship order 17") == first


def test_one_key_for_other_arguments_is_a_conflict(alice, write):
    """The same key for something else is a mistake that must not pass in silence."""
    write(alice, "Ship order 17")
    before = everything(alice)

    with pytest.raises(holdfast.Conflict, match="other arguments") as caught:
        write(alice, "Cancel order 17")

    assert "one key for one write" in caught.value.hint
    assert everything(alice) == before


def test_a_key_is_kept_for_seven_days(alice, clock, write):
    """A retry after that is a new write."""
    first = write(alice, "Ship order 17")

    clock.advance(days=7, microseconds=-1)
    within = write(alice, "Ship order 17")
    clock.advance(microseconds=1)
    write(alice, "Cancel order 17")

    assert within == first


def test_a_late_retry_of_what_was_forgotten_is_a_conflict(alice, write):
    """It must not bring back what was erased, and not claim that it is there."""
    write(alice, "Ship order 17")
    for hit in alice.records():
        alice.forget(hit.id)

    with pytest.raises(holdfast.Conflict, match="erased"):
        write(alice, "Ship order 17")

    assert everything(alice) == []


def test_a_late_retry_after_the_user_was_forgotten_is_a_conflict(memory, alice, write):
    """To the end of the key's seven days, when nothing of the key is left."""
    write(alice, "Ship order 17")
    memory.forget(user="alice", tenant="acme")

    with pytest.raises(holdfast.Conflict, match="erased"):
        write(alice, "Ship order 17")

    assert everything(alice) == []


def test_when_the_seven_days_are_over_the_key_is_free_again(memory, alice, clock, write):
    """The refusal ends with the key."""
    write(alice, "Ship order 17")
    memory.forget(user="alice", tenant="acme")
    clock.advance(days=7)

    write(alice, "Ship order 17")

    assert everything(alice) != []


def test_the_same_words_under_another_key_are_kept(memory, alice):
    """A tombstone blocks replays, not people."""
    remember(alice, "Ship order 17")
    memory.forget(user="alice", tenant="acme")

    receipt = alice.remember("Ship order 17", idempotency_key="order-17-again")

    assert receipt.action == "added"


def test_a_key_belongs_to_its_owner(alice, bob):
    """Two users may number their orders alike."""
    first, second = remember(alice, "Ship order 17"), remember(bob, "Ship order 17")

    assert first.id != second.id
    assert bob.get(second.id).text == "Ship order 17"


def test_a_key_that_two_verbs_use_is_a_conflict(alice):
    """It names one write, whatever the verb."""
    remember(alice, "Ship order 17")

    with pytest.raises(holdfast.Conflict, match="other arguments"):
        add(alice, "Ship order 17")


def test_a_key_in_two_threads_is_a_conflict(alice):
    """The thread is one of the arguments."""
    alice.thread("q4").add("user", "Ship", idempotency_key=KEY)

    with pytest.raises(holdfast.Conflict, match="other arguments"):
        alice.thread("q5").add("user", "Ship", idempotency_key=KEY)


@pytest.mark.parametrize(
    "other",
    [
        {"importance": 0.9},
        {"tags": ["order"]},
        {"ttl": timedelta(days=1)},
        {"metadata": {"n": 1}},
        {"about": "bob"},
        {"private": True},
    ],
    ids=lambda other: next(iter(other)),
)
def test_every_argument_counts(alice, other):
    """A retry repeats its arguments exactly."""
    remember(alice, "Ship order 17")

    with pytest.raises(holdfast.Conflict, match="other arguments"):
        alice.remember("Ship order 17", idempotency_key=KEY, **other)


def test_a_refused_write_leaves_its_key_unused(alice):
    """What never happened is not answered for."""
    receipt = alice.remember("Uses tabs", key="indentation")
    with pytest.raises(holdfast.Conflict):
        alice.edit(receipt.id, text="Uses spaces", expected=7, idempotency_key=KEY)

    assert alice.edit(receipt.id, text="Uses both", idempotency_key=KEY).action == "edited"


class TestEdit:
    """An edit with a key, tried again after the record has moved on."""

    @pytest.fixture
    def record(self, alice):
        """A fact with a key, so that it can be superseded."""
        return alice.remember("Uses tabs", key="indentation").id

    def test_a_repeated_edit_gives_the_first_answer(self, alice, record):
        """It would else be a second version of the same."""
        first = alice.edit(record, text="Uses spaces", expected=1, idempotency_key=KEY)

        second = alice.edit(record, text="Uses spaces", expected=1, idempotency_key=KEY)

        assert second == first
        assert alice.get(record).version == 2

    def test_even_when_it_was_edited_again(self, alice, record):
        """A late retry must not undo what came after it."""
        first = alice.edit(record, text="Uses spaces", idempotency_key=KEY)
        alice.edit(record, text="Uses both")

        assert alice.edit(record, text="Uses spaces", idempotency_key=KEY) == first
        assert alice.get(record).text == "Uses both"

    def test_even_when_it_was_superseded(self, alice, record):
        """The answer is about the write, not about the record of today."""
        first = alice.edit(record, text="Uses spaces", idempotency_key=KEY)
        alice.remember("Uses both", key="indentation")

        assert alice.edit(record, text="Uses spaces", idempotency_key=KEY) == first

    def test_other_changes_under_its_key_are_a_conflict(self, alice, record):
        """One key, one change."""
        alice.edit(record, text="Uses spaces", idempotency_key=KEY)

        with pytest.raises(holdfast.Conflict, match="other arguments"):
            alice.edit(record, text="Uses both", idempotency_key=KEY)

    @pytest.mark.parametrize("private", [False, True])
    def test_a_retry_after_the_record_was_forgotten_is_a_conflict(self, alice, private):
        """It writes nothing, and says why."""
        record = alice.remember("Uses tabs", private=private).id
        alice.edit(record, text="Uses spaces", idempotency_key=KEY)
        alice.forget(record)

        with pytest.raises(holdfast.Conflict, match="erased"):
            alice.edit(record, text="Uses spaces", idempotency_key=KEY)


@pytest.mark.parametrize("key", ["", " ", 5, "a\0b", "\ud800"], ids=repr)
def test_a_key_is_a_text_that_says_something(alice, key):
    """An empty key would make all such writes one."""
    with pytest.raises(holdfast.InvalidInput, match="idempotency_key") as caught:
        alice.remember("Ship order 17", idempotency_key=key)

    assert caught.value.hint
    assert everything(alice) == []


def test_inside_a_batch_only_the_batch_takes_a_key(alice):
    """One transaction has one answer."""
    with pytest.raises(holdfast.InvalidInput, match="batch"):
        alice.thread("q4").batch().remember("Ship order 17", idempotency_key=KEY)
