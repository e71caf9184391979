"""Values: what verbs return is frozen, tells the time in UTC, and ids sort by time."""

import dataclasses
import uuid
from datetime import UTC, timedelta

import pytest

import holdfast


@pytest.fixture
def values(memory, alice, thread):
    """One of each value that the public verbs return."""
    thread.add("user", "Find the report")
    receipt = alice.remember("Prefers reports in CSV format")
    return {
        "Receipt": receipt,
        "Saved": thread.checkpoint({}),
        "Hit": alice.get(receipt.id),
        "Found": alice.recall("reports"),
        "Episode": thread.episodes()[0],
        "WelcomeBack": thread.welcome_back(),
        "Unfinished": memory.unfinished(tenant="acme")[0],
        "ErasureReceipt": alice.forget(receipt.id),
    }


@pytest.mark.parametrize(
    "name",
    ["Receipt", "Saved", "Hit", "Found", "Episode", "WelcomeBack", "Unfinished", "ErasureReceipt"],
)
def test_a_value_is_frozen_and_has_a_public_name(values, name):
    """Data that cannot change cannot surprise."""
    value = values[name]
    field = dataclasses.fields(value)[0].name

    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, field, None)

    assert type(value) is getattr(holdfast, name)


@pytest.mark.parametrize("name", ["Receipt", "Saved", "WelcomeBack", "Unfinished"])
def test_equal_values_are_equal(values, name):
    """They can be compared and collected."""
    value = values[name]

    assert dataclasses.replace(value) == value
    assert len({value, dataclasses.replace(value)}) == 1


def test_times_are_aware_and_utc(alice, thread, memory):
    """Set without asking, the same on every machine."""
    thread.add("user", "Find the report")
    fact = alice.remember("Prefers CSV", ttl=60, valid_from=alice.recent()[0].created_at)
    hit = alice.get(fact.id)
    episode = thread.episodes()[0]

    times = [
        hit.at, hit.created_at, hit.expires_at, hit.valid_from, episode.at, episode.recorded_at,
        thread.welcome_back().at, memory.unfinished(tenant="acme")[0].at, thread.forget().at,
    ]  # fmt: skip

    assert {time.tzinfo for time in times} == {UTC}


def test_an_id_is_a_uuid_of_version_seven(alice, thread):
    """Its time is the clock's, its version and variant bits are set."""
    ids = [
        alice.remember("Prefers CSV").id,
        thread.add("user", "Find the report").id,
        thread.checkpoint({}).id,
    ]

    for id in map(uuid.UUID, ids):
        assert (id.version, id.variant) == (7, uuid.RFC_4122)
        assert id.int >> 80 == 1_767_225_600_000


def test_ids_sort_by_time(alice, clock):
    """To the microsecond and below: a listing by id is one by time."""
    ids = []
    for _ in range(50):
        ids.append(alice.thread("q4").add("user", "tick").id)
        clock.advance(microseconds=1)

    assert ids == sorted(ids)
    assert len(set(ids)) == 50


def test_ids_of_one_moment_differ(alice):
    """62 random bits keep them apart."""
    receipts = alice.remember_many([f"fact {number}" for number in range(200)])

    assert len({receipt.id for receipt in receipts}) == 200


def test_a_clock_before_1970_is_a_clock(memory, clock):
    """Machines without a battery start there."""
    clock.advance(days=-365 * 60)

    receipt = memory.scope(user="alice").remember("Prefers CSV")

    hit = memory.scope(user="alice").get(receipt.id)
    assert uuid.UUID(receipt.id).version == 7
    assert hit.at == clock.now


@pytest.mark.parametrize(
    ("make", "tier"),
    [
        (lambda alice: alice.remember("Prefers CSV"), "semantic"),
        (lambda alice: alice.remember("Is travelling", ttl=timedelta(days=1)), "episodic"),
        (lambda alice: alice.thread("q4").add("user", "Find the report"), "episodic"),
        (lambda alice: alice.thread("q4").note("decision", "Send it"), "episodic"),
    ],
    ids=["fact", "fact with a ttl", "message", "note"],
)
def test_a_hit_names_its_tier(alice, make, tier):
    """What lasts is semantic, what happened or passes is episodic."""
    assert alice.get(make(alice).id).tier == tier


def test_a_message_that_is_found_shows_where_it_was_said(alice, thread):
    """Thread, role, speaker and channel."""
    receipt = thread.add("user", "Find the report", name="Alice", metadata={"via": "mail"})

    hit = alice.get(receipt.id)

    assert (hit.thread, hit.role, hit.name) == ("q4-report", "user", "Alice")
    assert (hit.kind, hit.channel, hit.metadata) == ("message", "user", {"via": "mail"})


@pytest.mark.parametrize(
    ("role", "channel"), [("user", "user"), ("assistant", "agent"), ("tool", "tool")]
)
def test_the_channel_tells_through_which_door_it_came(thread, alice, role, channel):
    """Provenance is recorded from the first version on."""
    receipt = thread.add(role, "Find the report")

    assert alice.get(receipt.id).channel == channel


def test_a_listing_ranks_nothing(alice):
    """Its hits are neither scored nor explained."""
    alice.remember("Prefers CSV")

    (hit,) = alice.records()

    assert (hit.score, hit.relevance, dict(hit.why)) == (0.0, 1.0, {})


def test_the_fake_clock_is_for_everybody():
    """It stands still, moves on command, and is shipped."""
    from holdfast.testing import FakeClock

    clock = FakeClock()
    first = clock()
    clock.advance(hours=1)

    assert clock() - first == timedelta(hours=1)
    assert first.tzinfo is UTC
