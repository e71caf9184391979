"""Facts: remembered once, merged, superseded, edited; each argument of `remember` is kept."""

from datetime import UTC, datetime, timedelta

import pytest

import holdfast

PREFERS_CSV = "Prefers reports in CSV format"


def test_what_was_remembered_is_there_when_the_file_is_opened_again(alice, reopen):
    """Durable on return: the next process knows it."""
    receipt = alice.remember(PREFERS_CSV)

    again = reopen().scope(user="alice", agent="support", tenant="acme")

    assert again.get(receipt.id).text == PREFERS_CSV


def test_a_new_fact_is_added(alice):
    """The receipt gives its id."""
    receipt = alice.remember(PREFERS_CSV)

    assert receipt.action == "added"
    assert alice.get(receipt.id).text == PREFERS_CSV


@pytest.mark.parametrize(
    "again", [PREFERS_CSV, f"  {PREFERS_CSV}\n"], ids=["letter by letter", "outer white space"]
)
def test_the_same_fact_is_one_record(alice, again):
    """Saying it twice does not make it two."""
    first = alice.remember(PREFERS_CSV)

    second = alice.remember(again)

    assert (second.id, second.action) == (first.id, "merged")
    assert second.why != ""
    assert len(alice.records()) == 1


def test_one_text_in_two_unicode_forms_is_one_fact(alice):
    """What looks the same to everybody is compared in NFC."""
    composed = alice.remember("Lives in M\u00e1laga")

    decomposed = alice.remember("Lives in Ma\u0301laga")

    assert (decomposed.id, decomposed.action) == (composed.id, "merged")


@pytest.mark.parametrize(
    "different",
    [
        {"text": PREFERS_CSV.lower()},
        {"text": PREFERS_CSV, "kind": "insight"},
        {"text": PREFERS_CSV, "key": "format"},
        {"text": PREFERS_CSV, "about": "bob"},
        {"text": PREFERS_CSV, "private": True},
    ],
    ids=["text", "kind", "key", "subject", "owner"],
)
def test_a_fact_that_differs_in_its_identity_is_another_one(alice, different):
    """Owner, subject, kind, key and text together say what is the same."""
    first = alice.remember(PREFERS_CSV)

    second = alice.remember(**different)

    assert second.action == "added"
    assert second.id != first.id
    assert len(alice.records()) == 2


def test_merging_joins_tags_and_keeps_both_sources(alice):
    """In the order in which they came, without repeats."""
    first = alice.remember(PREFERS_CSV, source="onboarding", tags=["format", "report"])

    alice.remember(PREFERS_CSV, source="q4-report", tags=["report", "csv"])

    merged = alice.get(first.id)
    assert merged.sources == ("onboarding", "q4-report")
    assert merged.source == "onboarding"
    assert merged.tags == ("format", "report", "csv")


@pytest.mark.parametrize("confidences", [(0.4, 0.9), (0.9, 0.4)])
def test_a_merged_fact_keeps_the_higher_confidence(alice, confidences):
    """Hearing it again never makes it less certain."""
    for confidence in confidences:
        receipt = alice.remember(PREFERS_CSV, confidence=confidence)

    assert alice.get(receipt.id).confidence == 0.9


def test_a_new_text_under_the_same_key_supersedes(alice):
    """The new one is current, the old one is history."""
    old = alice.remember("Uses tabs", key="indentation")

    new = alice.remember("Uses spaces", key="indentation")

    assert new.action == "superseded"
    assert old.id in new.why
    assert [hit.text for hit in alice.records()] == ["Uses spaces"]
    assert alice.get(old.id).text == "Uses tabs"
    assert list(alice.recall("tabs")) == []


def test_a_then_b_then_a_again_ends_at_a(alice):
    """Going back to an earlier text is news, not a repetition of the past."""
    for text in ("Uses tabs", "Uses spaces", "Uses tabs"):
        receipt = alice.remember(text, key="indentation")

    assert receipt.action == "superseded"
    assert [hit.text for hit in alice.records()] == ["Uses tabs"]
    assert alice.get(receipt.id).version == 3


def test_a_record_leaves_recall_when_its_time_is_over(alice, clock):
    """Its own ttl ends it, to the microsecond."""
    receipt = alice.remember("Is travelling", ttl=timedelta(hours=1))

    clock.advance(hours=1, microseconds=-1)
    before = alice.get(receipt.id)
    clock.advance(microseconds=1)

    assert before.text == "Is travelling"
    assert alice.get(receipt.id) is None
    assert list(alice.recall("travelling")) == alice.recent() == []


@pytest.mark.parametrize("ttl", [90, 90.0, timedelta(seconds=90)])
def test_a_ttl_is_a_timedelta_or_seconds(alice, clock, ttl):
    """Both mean the same moment; a fact with one belongs to the episodic tier."""
    hit = alice.get(alice.remember("Is travelling", ttl=ttl).id)

    assert hit.expires_at == clock.now + timedelta(seconds=90)
    assert hit.tier == "episodic"


def test_a_fact_without_a_ttl_never_expires(alice, clock):
    """No cap and no age ends it."""
    receipt = alice.remember(PREFERS_CSV)

    clock.advance(days=365 * 50)

    assert alice.get(receipt.id).tier == "semantic"


def test_what_expired_and_is_said_again_is_new(alice, clock):
    """The expired one is not merged with, since nobody knows it any more."""
    old = alice.remember("Is travelling", ttl=60)
    clock.advance(minutes=2)

    new = alice.remember("Is travelling")

    assert (new.action, new.id != old.id) == ("added", True)
    assert alice.get(new.id).expires_at is None


@pytest.mark.parametrize("first_ttl", [60, 7_200])
def test_merging_two_ttls_keeps_the_later_end(alice, clock, first_ttl):
    """Said again, it lives at least as long as either promised."""
    alice.remember("Is travelling", ttl=first_ttl)

    receipt = alice.remember("Is travelling", ttl=3_600)

    assert alice.get(receipt.id).expires_at == clock.now + timedelta(seconds=max(first_ttl, 3_600))


def test_merging_without_a_ttl_makes_it_last(alice):
    """What somebody holds true without an end has none."""
    alice.remember("Is travelling", ttl=60)

    receipt = alice.remember("Is travelling")

    assert alice.get(receipt.id).expires_at is None


def test_recall_shows_what_holds_now(alice, clock):
    """A fact before or after its validity is kept and listed, but not recalled."""
    begins, ends = clock.now + timedelta(days=1), clock.now + timedelta(days=2)
    alice.remember("On call this week", valid_from=begins, valid_to=ends)

    before = list(alice.recall("call"))
    clock.advance(days=1)
    within = [hit.text for hit in alice.recall("call")]
    clock.advance(days=1)
    after = list(alice.recall("call"))

    assert (before, within, after) == ([], ["On call this week"], [])
    assert alice.recent()[0].valid_from == begins
    assert alice.recent()[0].valid_to == ends


def test_validity_that_ends_before_it_begins_is_refused(alice, clock):
    """It would never hold."""
    with pytest.raises(holdfast.InvalidInput, match="valid_to"):
        alice.remember("On call", valid_from=clock.now, valid_to=clock.now)


def test_it_may_have_happened_before_it_was_said(alice, clock):
    """`at` is when it happened, `created_at` when it was stored; both come back in UTC."""
    in_new_york = datetime.fromisoformat("2025-12-24T18:00:00-05:00")

    hit = alice.get(alice.remember("Moved to Málaga", at=in_new_york).id)

    assert hit.at == in_new_york
    assert hit.at.tzinfo is UTC
    assert hit.created_at == clock.now


def test_about_names_whose_data_it_is(alice):
    """The subject is for erasure; the record stays the scope's."""
    hit = alice.get(alice.remember("Bob is her manager", about="bob").id)

    assert hit.subject == "bob"


def test_importance_is_kept_and_the_higher_one_wins(alice):
    """Saying it again in passing does not make it trivial."""
    alice.remember(PREFERS_CSV, importance=0.9)

    receipt = alice.remember(PREFERS_CSV, importance=0.2)

    assert alice.get(receipt.id).importance == 0.9


def test_kind_and_metadata_are_optional(alice):
    """A text alone is enough."""
    plain = alice.get(alice.remember(PREFERS_CSV).id)
    rich = alice.get(
        alice.remember("Ship on Fridays", kind="rule", metadata={"by": ["ops"], "n": 1.5}).id
    )

    assert (plain.kind, plain.metadata, plain.tags, plain.sources) == ("fact", {}, (), ())
    assert (rich.kind, rich.metadata) == ("rule", {"by": ["ops"], "n": 1.5})


def test_a_fact_keeps_its_source(alice):
    """Where it was learned is provenance; it never changes on its own."""
    assert alice.get(alice.remember(PREFERS_CSV, source="q4-report").id).source == "q4-report"


@pytest.mark.parametrize("source", ["a, b", "a\x1fb", "a\nb", "日本/q4", "'quoted'"])
def test_one_source_stays_one_source(alice, source):
    """Whatever characters it is made of."""
    assert alice.get(alice.remember(PREFERS_CSV, source=source).id).sources == (source,)


def test_a_record_shows_who_wrote_it_and_when(alice, clock):
    """Agent, tier, channel and times are recorded from the first version on."""
    hit = alice.get(alice.remember(PREFERS_CSV).id)

    assert (hit.author, hit.tier, hit.channel, hit.version) == ("support", "semantic", "agent", 1)
    assert hit.created_at == hit.at == clock.now
    assert hit.accessed_at is None


def test_the_length_of_the_text_is_shown(alice):
    """In characters, so that a caller can budget before reading."""
    assert alice.get(alice.remember("Málaga").id).length == 6


def test_many_facts_are_one_batch_with_receipts_in_order(alice):
    """Texts and mappings of the same arguments; later ones see the earlier ones."""
    receipts = alice.remember_many(
        [
            PREFERS_CSV,
            {"text": "Uses tabs", "key": "indentation", "tags": ["style"]},
            {"text": "Uses spaces", "key": "indentation"},
            {"text": PREFERS_CSV, "source": "q4-report"},
        ]
    )

    assert [receipt.action for receipt in receipts] == ["added", "added", "superseded", "merged"]
    assert {hit.text for hit in alice.records()} == {PREFERS_CSV, "Uses spaces"}
    assert alice.get(receipts[0].id).sources == ("q4-report",)


def test_many_facts_are_stored_whole_or_not_at_all(alice):
    """One bad fact among good ones: nothing is written."""
    with pytest.raises(holdfast.InvalidInput, match="text is empty"):
        alice.remember_many([PREFERS_CSV, {"text": " "}])

    assert alice.records() == []


def test_no_facts_are_no_receipts(alice):
    """An empty list is a list."""
    assert alice.remember_many([]) == []


def test_an_edit_makes_a_new_version(alice, clock):
    """Everything about it can change, its id and first time stay."""
    receipt = alice.remember(PREFERS_CSV, tags=["csv"])
    created = clock.now
    clock.advance(days=1)

    edited = alice.edit(
        receipt.id, text="Prefers XML", tags=["xml"], metadata={"since": "Q4"},
        confidence=0.7, importance=0.9,
    )  # fmt: skip

    hit = alice.get(receipt.id)
    assert (edited.id, edited.action) == (receipt.id, "edited")
    assert (hit.text, hit.tags, hit.metadata) == ("Prefers XML", ("xml",), {"since": "Q4"})
    assert (hit.confidence, hit.importance, hit.version) == (0.7, 0.9, 2)
    assert hit.created_at == created


def test_what_an_edit_does_not_name_stays(alice):
    """Changing the text keeps tags, source and key."""
    receipt = alice.remember("Uses tabs", key="indentation", tags=["style"], source="q4-report")

    alice.edit(receipt.id, text="Uses spaces")

    hit = alice.get(receipt.id)
    assert (hit.text, hit.key, hit.tags, hit.source) == (
        "Uses spaces", "indentation", ("style",), "q4-report",
    )  # fmt: skip


def test_an_edited_text_is_found_by_its_new_words_alone(alice):
    """The old words left recall with the old version."""
    receipt = alice.remember("Prefers CSV")

    alice.edit(receipt.id, text="Prefers XML")

    assert [hit.id for hit in alice.recall("XML")] == [receipt.id]
    assert list(alice.recall("CSV")) == []


def test_the_old_text_of_an_edited_fact_is_free_again(alice):
    """Remembering what it once said makes a fact of its own."""
    receipt = alice.remember("Prefers CSV")
    alice.edit(receipt.id, text="Prefers XML")

    again = alice.remember("Prefers CSV")
    same = alice.remember("Prefers XML")

    assert again.action == "added"
    assert (same.action, same.id) == ("merged", receipt.id)


def test_an_edit_of_an_older_version_is_refused(alice):
    """Two editors, one record: the slower one is told and nothing is written."""
    receipt = alice.remember(PREFERS_CSV)
    seen = alice.get(receipt.id).version
    alice.edit(receipt.id, text="Prefers XML", expected=seen)

    with pytest.raises(holdfast.Conflict) as caught:
        alice.edit(receipt.id, text="Prefers JSON", expected=seen)

    assert (caught.value.expected, caught.value.actual) == (1, 2)
    assert alice.get(receipt.id).text == "Prefers XML"


def test_a_superseded_fact_is_not_edited(alice):
    """History does not change; the hint says what to edit instead."""
    old = alice.remember("Uses tabs", key="indentation")
    alice.remember("Uses spaces", key="indentation")

    with pytest.raises(holdfast.Conflict, match="superseded") as caught:
        alice.edit(old.id, text="Uses both")

    assert caught.value.hint == "Edit the one that took its place."


def test_a_message_is_history_and_is_not_edited(alice, thread):
    """What was said was said."""
    said = thread.add("user", "Find the report")

    with pytest.raises(holdfast.InvalidInput, match="history"):
        alice.edit(said.id, text="Find the invoice")


def test_an_edit_into_a_text_that_is_known_is_refused(alice):
    """Two current facts with one text would be one fact with two ids."""
    alice.remember("Prefers XML")
    receipt = alice.remember("Prefers CSV")

    with pytest.raises(holdfast.Conflict):
        alice.edit(receipt.id, text="Prefers XML")

    assert alice.get(receipt.id).text == "Prefers CSV"


@pytest.mark.parametrize("changes", [{}, {"colour": "red"}, {"kind": "rule", "text": "x"}])
def test_an_edit_names_what_it_can_change(alice, changes):
    """Nothing, or something else, is a mistake of the caller."""
    receipt = alice.remember(PREFERS_CSV)

    with pytest.raises(holdfast.InvalidInput, match="edit cannot change") as caught:
        alice.edit(receipt.id, **changes)

    assert "text" in caught.value.hint
