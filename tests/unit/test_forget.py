"""Forgetting: a record, a thread, a user; from every place, for good, with a receipt in counts."""

import pytest

import holdfast

CANARY = "canary-7f3a sings"


def everything(scope, *threads):
    """Whatever any reading verb of a scope still shows."""
    shown = [
        *scope.records(),
        *scope.recent(),
        *scope.recall("canary sings"),
        *scope.recall(),
        *scope.preferences.items(),
    ]
    for id in threads:
        thread = scope.thread(id)
        state, back = thread.restore(), thread.welcome_back()
        shown += [*thread.episodes(), *thread.messages(), *filter(None, [state, back])]
    return shown


def test_a_forgotten_fact_is_gone_with_its_history(alice):
    """All versions of it, from every reading verb."""
    receipt = alice.remember(CANARY)
    alice.edit(receipt.id, text=CANARY + " louder")

    erased = alice.forget(receipt.id)

    assert erased.counts == {"facts": 1}
    assert (erased.total, erased.empty, erased.pending) == (1, False, False)
    assert alice.get(receipt.id) is None
    assert everything(alice) == []


def test_a_message_can_be_forgotten(alice, thread):
    """The others of its thread stay."""
    said = thread.add("user", CANARY)
    thread.add("user", "Find the report")

    erased = alice.forget(said.id)

    assert erased.counts == {"episodes": 1}
    assert [episode.text for episode in thread.episodes()] == ["Find the report"]


def test_forgetting_what_is_not_there_says_so(alice):
    """An empty receipt, with the time at which nothing was erased."""
    erased = alice.forget("00000000-0000-7000-8000-000000000000")

    assert (erased.counts, erased.empty, erased.total, erased.pending) == ({}, True, 0, False)


def test_forgetting_twice_erases_once(alice):
    """The second time there is nothing."""
    receipt = alice.remember(CANARY)

    first, second = alice.forget(receipt.id), alice.forget(receipt.id)

    assert (first.empty, second.empty) == (False, True)


def test_a_forgotten_thread_is_gone_with_all_that_was_in_it(memory, alice, thread):
    """Messages, notes, states, steps, and what was learned from it alone."""
    with thread.batch() as batch:
        batch.add("user", CANARY)
        batch.note("insight", CANARY)
        batch.checkpoint({"draft": CANARY})
        batch.remember(CANARY)
    thread.once("send", lambda: CANARY)
    alice.thread("another").add("user", "Find the report")

    erased = thread.forget()

    assert erased.counts == {"episodes": 2, "checkpoints": 1, "facts": 1, "steps": 1}
    assert [hit.text for hit in alice.records()] == ["Find the report"]
    assert everything(alice, "q4-report")[:1] == [alice.records()[0]]
    assert thread.step_status("send") == "absent"
    assert thread.restore() is thread.welcome_back() is None
    assert [found.thread for found in memory.unfinished(tenant="acme")] == ["another"]


def test_a_fact_that_was_also_learned_elsewhere_stays(alice, thread):
    """It loses the erased source alone."""
    fact = alice.remember("Prefers reports in CSV format", source="q4-report")
    alice.remember("Prefers reports in CSV format", source="settings")
    thread.add("user", CANARY)

    erased = thread.forget()

    assert erased.counts == {"episodes": 1}
    assert alice.get(fact.id).sources == ("settings",)


def test_what_was_derived_from_a_forgotten_record_goes_too(alice):
    """And what was derived from that in turn."""
    first = alice.remember(CANARY)
    second = alice.remember("A bird sings", source=first.id)
    alice.remember("Something sings", source=second.id)
    alice.remember("Prefers reports in CSV format")

    erased = alice.forget(first.id)

    assert erased.counts == {"facts": 3}
    assert [hit.text for hit in alice.records()] == ["Prefers reports in CSV format"]


def test_another_users_thread_of_the_same_id_stays(alice, bob):
    """So does what was learned from it."""
    for scope in (alice, bob):
        with scope.thread("q4").batch() as batch:
            batch.add("user", "Find the report")
            batch.remember("Wants the report")

    alice.thread("q4").forget()

    assert alice.records() == []
    assert len(bob.records()) == 2


@pytest.fixture
def told(memory, alice):
    """Alice has left data in every place that there is."""
    alice.remember(CANARY)
    alice.remember(CANARY, private=True)
    alice.remember("canary one", key="bird")
    alice.remember("canary two", key="bird")
    alice.preferences["bird"] = CANARY
    memory.scope(agent="support", tenant="acme").remember(CANARY, about="alice")
    memory.common(tenant="acme").remember(CANARY, about="alice")
    memory.scope(user="bob", tenant="acme").remember(CANARY, about="alice")
    thread = alice.thread("q4")
    thread.add("user", CANARY)
    thread.note("insight", CANARY)
    thread.checkpoint({"draft": CANARY})
    thread.checkpoint({"draft": CANARY + " again"})
    thread.once("send", lambda: CANARY)
    alice.recall("canary")
    return alice


def test_forget_removes_a_user_from_every_table(memory, told, reopen):
    """Every record of that subject, wherever it lies, and the words are gone with it."""
    erased = memory.forget(user="alice", tenant="acme")

    again = reopen()
    assert erased.counts == {"facts": 8, "episodes": 2, "checkpoints": 2, "steps": 1}
    for scope in (
        again.scope(user="alice", agent="support", tenant="acme"),
        again.scope(user="bob", agent="support", tenant="acme"),
        again.scope(agent="support", tenant="acme"),
        again.common(tenant="acme"),
    ):
        assert everything(scope, "q4") == []
    assert again.unfinished(tenant=holdfast.ALL) == []


def test_forgetting_a_user_leaves_the_others_untouched(memory, told, bob):
    """Their records, their counts, their order."""
    common = memory.common(tenant="acme").remember("The office closes at six")
    mine = bob.remember("Prefers XML")
    bob.thread("q4").add("user", "Find the report")
    elsewhere = memory.scope(user="alice", tenant="globex").remember(CANARY)
    before = [hit for hit in bob.records() if hit.subject != "alice"]

    memory.forget(user="alice", tenant="acme")

    assert list(bob.records()) == before
    assert bob.get(mine.id).text == "Prefers XML"
    assert bob.get(common.id).text == "The office closes at six"
    assert memory.scope(user="alice", tenant="globex").get(elsewhere.id).text == CANARY


def test_what_was_derived_from_a_forgotten_user_goes_too(memory, alice, bob):
    """Though it lies with another user of the tenant."""
    told = alice.remember(CANARY)
    bob.remember("Somebody sings", source=told.id)
    bob.remember("Prefers XML")

    memory.forget(user="alice", tenant="acme")

    assert [hit.text for hit in bob.records()] == ["Prefers XML"]


def test_forgetting_an_unknown_user_says_so(memory, alice):
    """And erases nothing."""
    alice.remember(CANARY)

    assert memory.forget(user="nobody", tenant="acme").empty
    assert memory.forget(user="alice").empty
    assert len(alice.records()) == 1


@pytest.mark.parametrize(
    "selector", [{}, {"user": None}, {"user": ""}, {"tenant": "acme"}], ids=repr
)
def test_a_forget_without_a_selector_is_refused(memory, alice, selector):
    """A forgotten argument must not erase everybody."""
    alice.remember(CANARY)

    with pytest.raises(holdfast.InvalidInput, match=r"forgotten|user") as caught:
        memory.forget(**selector)

    assert "user=" in caught.value.hint
    assert len(alice.records()) == 1


def test_the_same_words_said_anew_are_kept(memory, alice):
    """A tombstone blocks replays, not people."""
    old = alice.remember(CANARY)
    alice.thread("q4").add("user", CANARY)
    memory.forget(user="alice", tenant="acme")

    new = alice.remember(CANARY)
    alice.thread("q4").add("user", CANARY)

    assert (new.action, new.id != old.id) == ("added", True)
    assert len(alice.records()) == 2
    assert alice.thread("q4").checkpoint("new").number == 1


def test_what_is_said_after_an_erasure_is_recorded_after_it(memory, alice, clock):
    """Though the clock went back, so that nobody takes it for something erased."""
    alice.remember(CANARY)
    erased = memory.forget(user="alice", tenant="acme")
    clock.advance(days=-1)

    receipt = alice.remember("Prefers reports in CSV format")

    assert alice.get(receipt.id).created_at > erased.at


def test_a_receipt_holds_no_content(memory, told):
    """Counts and a time are all that it proves."""
    erased = memory.forget(user="alice", tenant="acme")

    assert "canary" not in repr(erased)
    assert "alice" not in repr(erased)


def test_forgetting_is_refused_where_nothing_is_written(url, clock, memory, alice):
    """A read-only handle erases nothing, and says so."""
    receipt = alice.remember(CANARY)

    with (
        holdfast.open(url, clock=clock, read_only=True) as reader,
        pytest.raises(holdfast.Unsupported, match="read-only"),
    ):
        reader.forget(user="alice", tenant="acme")

    assert alice.get(receipt.id).text == CANARY


def test_a_recall_counted_before_an_erasure_leaves_no_trace_after_it(memory, alice):
    """The tally waits in memory while the record goes."""
    receipt = alice.remember(CANARY)
    alice.recall("canary")
    alice.forget(receipt.id)

    memory.flush()

    assert alice.get(receipt.id) is None
    assert everything(alice) == []


def test_what_a_keyed_fact_superseded_is_forgotten_with_it(alice):
    """It is in no listing any more, so nobody could find it to forget it."""
    first = alice.remember(CANARY, key="health")
    second = alice.remember("healthy", key="health")

    erased = alice.forget(second.id)

    assert erased.counts == {"facts": 2}
    assert alice.get(first.id) is None


@pytest.mark.parametrize("first", ["by itself", "in the thread"])
def test_a_fact_that_was_also_known_by_itself_outlives_the_thread(alice, first):
    """The thread repeated it or told it first; it was not its only source."""
    thread = alice.thread("q4")

    def tell():
        with thread.batch() as batch:
            batch.add("user", "I like tea")
            batch.remember("Likes tea")

    for step in (tell, lambda: alice.remember("Likes tea"))[:: 1 if first != "by itself" else -1]:
        step()
    thread.forget()

    assert [hit.text for hit in alice.records()] == ["Likes tea"]
    assert alice.records()[0].sources == ()
