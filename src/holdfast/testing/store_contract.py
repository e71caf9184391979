"""The contract of a store as tests: inherit the class and supply the fixture `store`.

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self): ...

Each test names the promise of `store/contract.py` that it keeps (S1 to S7).
"""

import threading
from dataclasses import replace
from typing import Any

import pytest

from ..errors import Conflict, Misconfigured
from ..store.contract import KEY_KEPT_US, Batch, Erase, Expected, Once, Put, Store, Tally
from ..values.owner import Owner, Sight
from ..values.record import CHECKPOINT, EPISODE, FACT, STEP, Record, new_id

NOW = 1_767_225_600_000_000
ALICE, BOB = Owner("acme", "alice", ""), Owner("acme", "bob", "")
AGENT, OTHER = Owner("acme", "", "support"), Owner("other", "alice", "")
ALL_OF_ALICE = Sight((ALICE,), "alice")


def message(owner: Owner, text: str, thread: str = "main", **header: Any) -> Put:
    """A message to append."""
    body = f'{{"role":"user","text":"{text}"}}'
    record = Record(new_id(NOW), owner, EPISODE, "message", body, NOW, owner.user, thread)
    return Put(record._replace(**header))


def fact(owner: Owner, text: str, slot: bytes | None = None, **header: Any) -> Put:
    """A fact to put over what holds its slot."""
    record = Record(new_id(NOW), owner, FACT, "fact", f'{{"text":"{text}"}}', NOW, owner.user)
    return Put(record._replace(slot=slot, **header), "retire" if slot else "append")


def write(store: Store, *puts: Put, now_us: int = NOW, **rest: Any) -> Any:
    """Apply the puts as one batch."""
    return store.apply(Batch(now_us, puts, **rest))


def listed(store: Store, sight: Sight = ALL_OF_ALICE, **rest: Any) -> list[str]:
    """The bodies of a scan's facts and episodes, newest first."""
    found = store.scan(sight, now_us=NOW, **{"forms": (FACT, EPISODE), **rest})
    return [str(record.body).split('"')[-2] for record in found]


def told(store: Store, thread: str, **rest: Any) -> list[str]:
    """The texts of alice's episodes in a thread, newest first."""
    found = store.episodes(ALICE, thread, now_us=NOW, **rest)
    return [str(record.body).split('"')[-2] for record in found]


class StoreContract:
    """What every store keeps."""

    def test_a_batch_is_written_whole_and_read_back_as_it_was(self, store: Store) -> None:
        """S1, S6: every column and the body come back."""
        put = fact(
            ALICE, "prefers CSV", b"slot", key="format", thread="main", valid_from_us=1,
            valid_to_us=2**60, sources=("main", "mail"),
        )  # fmt: skip

        write(store, put, message(ALICE, "hello"))

        found = store.record(ALL_OF_ALICE, put.record.id)
        assert found is not None
        unchanged = found._replace(seq=0, version=0, recorded_us=0, created_us=0)
        assert unchanged == put.record
        assert listed(store) == ["hello", "prefers CSV"]

    def test_a_stale_writer_is_refused_and_leaves_no_trace(self, store: Store) -> None:
        """S2: two workers resume one thread; only the first may continue it."""
        write(store, fact(ALICE, "draft", b"slot"))
        write(store, fact(ALICE, "sent", b"slot"), expected=[Expected(ALICE, 1, slot=b"slot")])

        with pytest.raises(Conflict) as caught:
            write(
                store, message(ALICE, "trace"), fact(ALICE, "draft again", b"slot"),
                expected=[Expected(ALICE, 1, slot=b"slot")],
            )  # fmt: skip

        assert (caught.value.facts["actual"], caught.value.facts["slot"]) == (2, b"slot")
        assert listed(store) == ["sent"]

    def test_expecting_none_is_refused_once_there_is_one(self, store: Store) -> None:
        """S2: version 0 says that nothing was seen, by slot and by id."""
        put = fact(ALICE, "first", b"slot")
        write(store, put, expected=[Expected(ALICE, 0, slot=b"slot")])

        for stale in (Expected(ALICE, 0, slot=b"slot"), Expected(ALICE, 0, id=put.record.id)):
            with pytest.raises(Conflict):
                write(store, message(ALICE, "trace"), expected=[stale])

        assert listed(store) == ["first"]

    def test_a_retired_record_is_history_and_a_dropped_one_is_gone(self, store: Store) -> None:
        """A put takes the place of the current record in its slot, one version above it."""
        first, second = fact(ALICE, "one", b"slot"), fact(ALICE, "two", b"slot")
        write(store, first)

        (version,) = write(store, second).versions
        write(store, Put(second.record._replace(body='{"text":"2"}'), "drop"))

        old = store.record(ALL_OF_ALICE, first.record.id)
        current = store.holders(ALICE, [b"slot", b"free"])
        assert version == 2
        assert old is not None
        assert old.retired_us is not None
        assert {slot: found.version for slot, found in current.items()} == {b"slot": 3}
        assert listed(store) == ["2"]

    def test_an_edit_keeps_id_and_creation_and_frees_the_old_slot(self, store: Store) -> None:
        """The same id under a new slot: the old slot is free again."""
        put = fact(ALICE, "one", b"old")
        write(store, put)
        write(store, Put(put.record._replace(slot=b"new"), "retire"), now_us=NOW + 5)

        held = store.holders(ALICE, [b"old", b"new"])

        assert set(held) == {b"new"}
        assert (held[b"new"].id, held[b"new"].version) == (put.record.id, 2)
        assert held[b"new"].created_us < held[b"new"].recorded_us

    def test_a_key_is_used_up_once_and_answers_again(self, store: Store) -> None:
        """S3: same key and fingerprint: the stored answer, and nothing is written."""
        once = Once(ALICE, "k", b"same", "receipt 1")
        write(store, message(ALICE, "hello"), once=once)

        again = write(store, message(ALICE, "hello"), once=replace(once, receipt="receipt 2"))
        other_owner = write(store, message(BOB, "hello"), once=replace(once, owner=BOB))

        assert again.replayed == "receipt 1"
        assert other_owner.replayed is None
        assert listed(store) == ["hello"]

    def test_a_key_with_other_arguments_is_a_conflict(self, store: Store) -> None:
        """S3: another fingerprint under a used key writes nothing."""
        write(store, message(ALICE, "hello"), once=Once(ALICE, "k", b"same"))

        with pytest.raises(Conflict):
            write(store, message(ALICE, "trace"), once=Once(ALICE, "k", b"other"))

        assert listed(store) == ["hello"]

    def test_a_refused_batch_does_not_use_its_key_up(self, store: Store) -> None:
        """S3: the key belongs to the batch that commits."""
        once, stale = Once(ALICE, "k", b"same", "r"), Expected(ALICE, 7, slot=b"slot")
        with pytest.raises(Conflict):
            write(store, message(ALICE, "trace"), once=once, expected=[stale])

        assert write(store, message(ALICE, "hello"), once=once).replayed is None

    def test_a_key_is_free_again_after_seven_days(self, store: Store) -> None:
        """S3: receipts are kept for seven days."""
        once = Once(ALICE, "k", b"same", "r")
        write(store, message(ALICE, "one"), once=once)

        later = write(store, message(ALICE, "two"), once=once, now_us=NOW + KEY_KEPT_US + 10)

        assert later.replayed is None

    def test_order_and_recorded_time_never_go_back(self, store: Store) -> None:
        """S4: also when the clock does, and when the newest record was erased."""
        puts = [message(ALICE, text) for text in ("one", "two", "three")]
        write(store, puts[0], now_us=NOW)
        write(store, puts[1], now_us=NOW - 10**9)
        store.apply(Batch(NOW - 10**9, erase=Erase(ALICE, ids=(puts[1].record.id,))))
        write(store, puts[2], now_us=NOW - 10**9)

        first, third = (store.record(ALL_OF_ALICE, puts[n].record.id) for n in (0, 2))

        assert first is not None
        assert third is not None
        assert third.seq > first.seq + 1
        assert third.recorded_us > first.recorded_us + 1

    def test_what_is_said_after_an_erasure_is_recorded_after_it(self, store: Store) -> None:
        """S4: also with a clock that went back, also about the subject elsewhere."""
        write(store, message(ALICE, "old"), now_us=NOW)
        store.apply(Batch(NOW + 50, erase=Erase(Owner("acme"), subject="alice")))
        mine, about = message(ALICE, "new"), fact(AGENT, "knows her", subject="alice")

        write(store, mine, about, now_us=NOW - 10**9)

        sight = Sight((ALICE, AGENT), "alice")
        for put in (mine, about):
            found = store.record(sight, put.record.id)
            assert found is not None
            assert found.recorded_us > NOW + 50

    def test_nothing_outside_of_a_sight_is_seen(self, store: Store) -> None:
        """S5: neither another user nor another tenant, by any read."""
        hidden = [fact(owner, "secret", b"slot", thread="main") for owner in (BOB, OTHER, AGENT)]
        write(store, *hidden)

        assert [store.record(ALL_OF_ALICE, put.record.id) for put in hidden] == [None] * 3
        assert store.holders(ALICE, [b"slot"]) == {}
        assert listed(store) == []
        assert store.states(ALICE, "main") is None
        assert store.heads("acme", "alice") == []

    def test_an_agents_own_place_hides_other_subjects(self, store: Store) -> None:
        """S5: what an agent knows about bob is not for who reads for alice."""
        about_bob = fact(AGENT, "bob owes", subject="bob")
        write(store, about_bob, fact(AGENT, "open at nine"), fact(AGENT, "hers", subject="alice"))

        seen = Sight((AGENT,), "alice")
        assert listed(store, seen) == ["hers", "open at nine"]
        assert store.record(seen, about_bob.record.id) is None
        assert len(listed(store, Sight((AGENT,)))) == 3

    def test_a_scan_merges_owners_newest_first_and_goes_on_after_a_cursor(
        self, store: Store
    ) -> None:
        """Pages neither repeat nor leave out a record."""
        for number in range(5):
            write(store, fact((ALICE, AGENT)[number % 2], f"f{number}"), now_us=NOW + number * 10)
        sight = Sight((ALICE, AGENT), "alice")

        page = store.scan(sight, now_us=NOW, forms=(FACT, EPISODE), limit=2)
        cursor = (page[-1].recorded_us, page[-1].id)

        assert listed(store, sight, limit=2) == ["f4", "f3"]
        assert listed(store, sight, before=cursor) == ["f2", "f1", "f0"]
        assert listed(store, sight, limit=0) == []

    def test_a_scan_filters_by_form_kind_thread_and_expiry(self, store: Store) -> None:
        """What is expired or superseded is left out; what happened is never superseded."""
        write(
            store, message(ALICE, "m", kind="message"), message(ALICE, "s", kind="system"),
            message(ALICE, "elsewhere", "side"), fact(ALICE, "old", b"slot"),
            fact(ALICE, "f", b"slot"), fact(ALICE, "gone", expires_us=NOW),
            fact(ALICE, "later", expires_us=NOW + 1),
        )  # fmt: skip

        assert listed(store) == ["later", "f", "elsewhere", "s", "m"]
        assert told(store, "main") == ["s", "m"]
        assert told(store, "main", kinds=("system",)) == ["s"]
        assert told(store, "main", kinds=("message", "system"), limit=1) == ["s"]
        assert listed(store, forms=(FACT,), kinds=("fact", "x")) == ["later", "f"]

    def test_states_are_numbered_and_each_is_kept(self, store: Store) -> None:
        """A checkpoint's number is its version in the thread's slot."""
        for state in (b"one", b"two", b"\x00\xff"):
            record = Record(
                new_id(NOW), ALICE, CHECKPOINT, CHECKPOINT, state, NOW, "alice", "main", slot=b"c"
            )
            write(store, Put(record, "retire"))

        newest, second = store.states(ALICE, "main"), store.states(ALICE, "main", number=2)

        assert newest is not None
        assert second is not None
        assert (newest.body, newest.version, second.body) == (b"\x00\xff", 3, b"two")
        assert store.states(ALICE, "main", number=9) is None
        assert store.states(ALICE, "side") is None

    def test_heads_show_the_newest_message_and_the_open_steps(self, store: Store) -> None:
        """In order of owner and thread, of one tenant or of all."""
        step = Record(new_id(NOW), ALICE, STEP, "claimed", "{}", NOW, "alice", "main", "mail", b"s")
        done = step._replace(id=new_id(NOW), kind="done", slot=b"d")
        write(store, message(ALICE, "one"), message(ALICE, "two"), Put(step), Put(done))
        write(store, message(BOB, "three", "zz"), message(OTHER, "four"))
        write(store, message(ALICE, "noted", kind="decision"), fact(ALICE, "no thread"))

        heads = store.heads("acme", None)

        assert [(head.owner, head.thread) for head in heads] == [(ALICE, "main"), (BOB, "zz")]
        assert heads[0].message is not None
        assert "two" in str(heads[0].message.body)
        assert [found.id for found in heads[0].steps] == [step.id]
        assert len(store.heads(None, None)) == 3
        assert [head.owner for head in store.heads(None, "bob", "zz")] == [BOB]

    def test_tallies_add_up_and_leave_the_record_alone(self, store: Store) -> None:
        """Counting a recall moves neither sequence nor version; a lost record is not counted."""
        put = fact(ALICE, "prefers CSV")
        write(store, put)
        before = store.record(ALL_OF_ALICE, put.record.id)
        tally = Tally(ALICE, put.record.id, 2, NOW, 0.9)

        write(store, tallies=[tally, Tally(ALICE, put.record.id, 1, NOW + 9), Tally(ALICE, "x", 1)])

        after = store.record(ALL_OF_ALICE, put.record.id)
        assert before is not None
        assert after == before._replace(hits=3, accessed_us=NOW + 9, importance=0.9)

    def test_erasing_takes_all_versions_and_what_was_derived(self, store: Store) -> None:
        """S7: a fact whose only source is erased goes too, one with others loses the edge."""
        root = fact(ALICE, "root", b"slot")
        child = fact(ALICE, "child", sources=(root.record.id,))
        grandchild = fact(ALICE, "grandchild", sources=(child.record.id,))
        mixed = fact(ALICE, "mixed", sources=(root.record.id, "mail"))
        write(store, root, child, grandchild, mixed)
        write(store, Put(root.record._replace(body='{"text":"root 2"}'), "retire"))

        counts = store.apply(Batch(NOW, erase=Erase(ALICE, ids=(root.record.id,)))).erased

        kept = store.record(ALL_OF_ALICE, mixed.record.id)
        assert counts == {FACT: 3}
        assert listed(store) == ["mixed"]
        assert kept is not None
        assert kept.sources == ("mail",)
        assert store.record(ALL_OF_ALICE, root.record.id) is None
        with pytest.raises(Conflict):
            write(store, root)

    def test_erasing_a_thread_leaves_the_others(self, store: Store) -> None:
        """S7: its episodes, and facts learned from it alone; bob's thread of that name stays."""
        write(
            store, message(ALICE, "gone"), message(ALICE, "stays", "side"),
            message(BOB, "his"), fact(ALICE, "learned", sources=("main",), thread="main"),
            fact(ALICE, "known", thread="main"), fact(BOB, "his fact", sources=("main",)),
        )  # fmt: skip

        counts = store.apply(Batch(NOW, erase=Erase(ALICE, thread="main"))).erased

        assert counts == {EPISODE: 1, FACT: 1}
        assert listed(store) == ["known", "stays"]
        assert listed(store, Sight((BOB,), "bob")) == ["his fact", "his"]

    def test_a_threads_name_reaches_no_other_agent(self, store: Store) -> None:
        """S7: agents without a user may have threads of one name; each has its own."""
        other = Owner("acme", "", "sales")
        write(
            store, message(AGENT, "gone"), fact(AGENT, "learned", sources=("main",)),
            fact(other, "stays", sources=("main",)),
            fact(Owner("acme"), "stays", sources=("main",)),
        )  # fmt: skip

        counts = store.apply(Batch(NOW, erase=Erase(AGENT, thread="main"))).erased

        assert counts == {EPISODE: 1, FACT: 1}
        assert listed(store, Sight((other, Owner("acme")))) == ["stays", "stays"]

    def test_no_sequence_number_is_given_twice(self, store: Store) -> None:
        """S4: also when all that had one is erased, with the owner itself."""
        puts = [message(ALICE, "one"), message(ALICE, "two"), message(ALICE, "three")]
        write(store, *puts[:2])
        last = store.record(ALL_OF_ALICE, puts[1].record.id)
        store.apply(Batch(NOW, erase=Erase(Owner("acme"), subject="alice")))
        write(store, puts[2])

        found = store.record(ALL_OF_ALICE, puts[2].record.id)

        assert last is not None
        assert found is not None
        assert found.seq > last.seq

    def test_erasing_a_slot_takes_all_that_ever_held_it(self, store: Store) -> None:
        """S7: a preference goes with its history."""
        first, second = fact(ALICE, "UTC", b"zone"), fact(ALICE, "PST", b"zone")
        write(store, first)
        write(store, second)

        counts = store.apply(Batch(NOW, erase=Erase(ALICE, slot=b"zone"))).erased

        assert counts == {FACT: 2}
        assert store.record(ALL_OF_ALICE, first.record.id) is None

    def test_erasing_a_subject_crosses_owners_but_not_tenants(self, store: Store) -> None:
        """S7: wherever it lies in the tenant; the other tenant's alice stays."""
        private = Owner("acme", "alice", "support")
        write(
            store, fact(ALICE, "a"), fact(private, "b"), fact(AGENT, "c", subject="alice"),
            fact(AGENT, "stays"), fact(BOB, "his"), fact(OTHER, "hers"), message(ALICE, "d"),
        )  # fmt: skip

        counts = store.apply(Batch(NOW, erase=Erase(Owner("acme"), subject="alice"))).erased

        assert counts == {FACT: 3, EPISODE: 1}
        left = [listed(store, Sight((owner,))) for owner in (ALICE, private, AGENT, BOB, OTHER)]
        assert left == [[], [], ["stays"], ["his"], ["hers"]]

    def test_a_late_retry_of_what_was_erased_writes_nothing(self, store: Store) -> None:
        """S3, S7: the receipt is gone, its key still refuses."""
        put, once = fact(ALICE, "gone"), Once(ALICE, "k", b"same")
        write(store, put, once=replace(once, receipt=f'[["{put.record.id}","added"]]'))
        store.apply(Batch(NOW, erase=Erase(ALICE, ids=(put.record.id,))))

        with pytest.raises(Conflict):
            write(store, fact(ALICE, "gone"), once=once)

        assert listed(store) == []

    def test_writers_in_many_threads_lose_and_double_nothing(self, store: Store) -> None:
        """S1, S2: eight threads on one slot and one thread's log."""
        refused: list[Conflict] = []

        def work(number: int) -> None:
            for turn in range(10):
                write(store, message(ALICE, f"{number}-{turn}"))
                try:
                    write(store, fact(ALICE, "x", b"s"), expected=[Expected(ALICE, 0, slot=b"s")])
                except Conflict as conflict:
                    refused.append(conflict)

        workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()

        told = listed(store, forms=(EPISODE,))
        assert len(told) == len(set(told)) == 80
        assert len(refused) == 79

    def test_a_worker_lives_while_its_store_is_open(self, store: Store) -> None:
        """Nobody is taken for dead who is not."""
        assert store.alive(store.worker)

    def test_scrubbing_and_closing_twice_are_harmless(self, store: Store) -> None:
        """After close every call says what to do."""
        assert store.scrub()
        store.close()
        store.close()

        with pytest.raises(Misconfigured):
            write(store, message(ALICE, "late"))
