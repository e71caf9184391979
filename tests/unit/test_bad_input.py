"""Bad input: what is handled without an error, and what is a typed error with a remedy."""

from datetime import datetime, timedelta, timezone

import pytest

import holdfast

NAIVE = datetime.fromisoformat("2026-01-01")
LOOP = []
LOOP.append(LOOP)
DEEP = []
for _ in range(5_000):
    DEEP = [DEEP]

BAD_TEXTS = {"empty": "", "blank": " \n\t", "NUL": "a\0b", "surrogate": "\ud83e", "bytes": b"a",
             "none": None, "number": 7}  # fmt: skip
BAD_IDS = {"star": "*", "NUL": "a\0b", "surrogate": "\ud83e", "long": "x" * 513,
           "long in bytes": "é" * 257, "bytes": b"alice", "number": 7}  # fmt: skip
BAD_PLAIN = {
    "tuple": {"a": (1,)},
    "set": {"a": {1}},
    "int key": {1: "a"},
    "nan": {"a": float("nan")},
    "NUL": {"a": "b\0c"},
    "surrogate key": {"\ud83e": 1},
    "loop": {"a": LOOP},
    "deep": {"a": DEEP},
    "huge number": {"a": 10**5_000},
    "object": {"a": object()},
}

TEXT_VERBS = {
    "remember": lambda alice, text: alice.remember(text),
    "remember_many": lambda alice, text: alice.remember_many(["fine", {"text": text}]),
    "edit": lambda alice, text: alice.edit(alice.records()[0].id, text=text),
    "source": lambda alice, text: alice.remember("fine", source=text if text is not None else ""),
    "tag": lambda alice, text: alice.remember("fine", tags=[text]),
    "note": lambda alice, text: alice.thread("q4").note("decision", text),
    "emotion": lambda alice, text: alice.thread("q4").note("decision", "fine", emotion=text or ""),
    "add": lambda alice, text: alice.thread("q4").add("user", text),
    "batch.add": lambda alice, text: alice.thread("q4").batch().add("user", text),
    "batch.remember": lambda alice, text: alice.thread("q4").batch().remember(text),
}
ID_VERBS = {
    "user": lambda memory, id: memory.scope(user=id),
    "agent": lambda memory, id: memory.scope(agent=id),
    "tenant": lambda memory, id: memory.scope(tenant=id),
    "common": lambda memory, id: memory.common(tenant=id),
    "thread": lambda memory, id: memory.scope(user="alice").thread(id),
    "key": lambda memory, id: memory.scope(user="alice").remember("fine", key=id),
    "kind": lambda memory, id: memory.scope(user="alice").remember("fine", kind=id),
    "about": lambda memory, id: memory.scope(user="alice").remember("fine", about=id),
    "note kind": lambda memory, id: memory.scope(user="alice").thread("q4").note(id, "fine"),
    "preference": lambda memory, id: memory.scope(user="alice").preferences.set(id, "fine"),
    "step": lambda memory, id: memory.scope(user="alice").thread("q4").once(id, list),
    "forget": lambda memory, id: memory.forget(user=id),
    "unfinished": lambda memory, id: memory.unfinished(user=id),
}


@pytest.fixture
def alice(memory):
    """Somebody of whom one thing is known."""
    scope = memory.scope(user="alice", agent="support", tenant="acme")
    scope.remember("Prefers reports in CSV format")
    return scope


def refused(call):
    """The typed error of a call; it names the remedy."""
    with pytest.raises(holdfast.InvalidInput) as caught:
        call()
    assert caught.value.hint
    assert isinstance(caught.value, ValueError)
    return caught.value


@pytest.mark.parametrize("bad", BAD_TEXTS)
@pytest.mark.parametrize("verb", TEXT_VERBS)
def test_a_text_that_says_nothing_or_cannot_be_kept_is_refused(alice, verb, bad):
    """Empty, NUL, half a character: in every verb that takes a text, and nothing is written."""
    refused(lambda: TEXT_VERBS[verb](alice, BAD_TEXTS[bad]))

    assert [hit.text for hit in alice.records()] == ["Prefers reports in CSV format"]


@pytest.mark.parametrize("bad", BAD_IDS)
@pytest.mark.parametrize("verb", ID_VERBS)
def test_an_id_that_is_reserved_too_long_or_no_text_is_refused(memory, verb, bad):
    """512 bytes are enough for any id; '*' is everyone."""
    refused(lambda: ID_VERBS[verb](memory, BAD_IDS[bad]))

    assert memory.scope(user="alice").records() == []


@pytest.mark.parametrize("verb", ["thread", "key", "kind", "about", "note kind", "preference",
                                  "step", "forget"])  # fmt: skip
def test_an_empty_id_is_refused_where_one_is_needed(memory, verb):
    """Absent parts of an owner are the only ids that may be left out."""
    refused(lambda: ID_VERBS[verb](memory, ""))


@pytest.mark.parametrize("bad", BAD_PLAIN)
@pytest.mark.parametrize(
    "write",
    [
        lambda alice, value: alice.remember("fine", metadata=value),
        lambda alice, value: alice.remember_many([{"text": "fine", "metadata": value}]),
        lambda alice, value: alice.remember("fine", metadata=value, idempotency_key="k"),
        lambda alice, value: alice.edit(alice.records()[0].id, metadata=value),
        lambda alice, value: alice.preferences.set("fine", value),
        lambda alice, value: alice.thread("q4").add("user", "fine", metadata=value),
        lambda alice, value: alice.thread("q4").add({"role": "user", "content": "fine"} | value),
        lambda alice, value: alice.thread("q4").note("decision", "fine", payload=value),
        lambda alice, value: alice.thread("q4").batch().remember("fine", metadata=value),
        lambda alice, value: alice.thread("q4").once("send", dict, value),
    ],
    ids=["metadata", "many", "keyed", "edit", "preference", "message metadata", "message",
         "payload", "batch", "step"],
)  # fmt: skip
def test_data_that_would_come_back_changed_is_refused(alice, write, bad):
    """Or that cannot be written at all: no error of Python's own comes out."""
    refused(lambda: write(alice, BAD_PLAIN[bad]))

    assert [hit.text for hit in alice.records()] == ["Prefers reports in CSV format"]


@pytest.mark.parametrize("bad", [key for key in BAD_PLAIN if key != "nan"])
def test_a_state_that_would_come_back_changed_is_refused(thread, bad):
    """A state may hold NaN, since it is bytes to every database; nothing else is let through."""
    refused(lambda: thread.checkpoint(BAD_PLAIN[bad]))

    assert thread.restore() is None


@pytest.mark.parametrize("bad", [NAIVE, NAIVE.date(), "2026-01-01", 1767225600, True], ids=repr)
@pytest.mark.parametrize("argument", ["at", "valid_from", "valid_to"])
def test_a_time_without_a_zone_is_refused(alice, argument, bad):
    """It means another moment on every machine; the message says what to pass."""
    error = refused(lambda: alice.remember("fine", **{argument: bad}))

    assert argument in str(error)
    assert "UTC" in error.hint


@pytest.mark.parametrize("verb", ["add", "note"])
def test_a_message_without_a_zone_is_refused(thread, verb):
    """In a thread as everywhere."""
    refused(lambda: getattr(thread, verb)("user", "Hello", at=NAIVE))

    assert thread.episodes() == []


@pytest.mark.parametrize(
    "ttl",
    [0, -1, timedelta(0), timedelta(days=-1), "1h", True, float("nan"), float("inf"), 1e300,
     timedelta.max, timedelta(days=4_000_000)],
    ids=repr,
)  # fmt: skip
def test_a_ttl_that_ends_at_no_moment_is_refused(alice, ttl):
    """Past, never, or beyond the last day that a datetime can show."""
    refused(lambda: alice.remember("fine", ttl=ttl))

    assert [hit.text for hit in alice.recent()] == ["Prefers reports in CSV format"]


@pytest.mark.parametrize("when", ["0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59.999999+00:00"])
def test_the_first_and_the_last_moment_are_kept(alice, when):
    """Whatever a datetime can say comes back."""
    moment = datetime.fromisoformat(when)

    assert alice.get(alice.remember("fine", at=moment).id).at == moment


@pytest.mark.parametrize(
    "arguments",
    [
        {"importance": 1.1}, {"importance": -0.1}, {"importance": float("nan")},
        {"importance": "high"}, {"importance": True}, {"confidence": 2}, {"confidence": None},
        {"tags": "one"}, {"tags": 5}, {"tags": [""]}, {"tags": [None]}, {"metadata": ["a"]},
        {"metadata": "a"},
    ],
    ids=repr,
)  # fmt: skip
def test_each_wrong_argument_of_remember_is_named(alice, arguments):
    """So that it can be mended without a debugger."""
    (name,) = arguments

    error = refused(lambda: alice.remember("fine", **arguments))

    assert name.rstrip("s") in str(error)


@pytest.mark.parametrize(
    "facts",
    [
        "one text", {"text": "one mapping"}, None, 7, [None], [7], [{}], [{"kind": "rule"}],
        [{"text": "fine", "colour": "red"}], [{"text": "fine", "thread": "q4"}],
        [{"text": "fine", "value": 1}], [{"text": "fine", "author": "me"}],
        [{"text": "fine", "owner": "me"}], [{"text": "fine", "idempotency_key": "k"}],
        [{"text": "fine", 7: 1}], [{"text": "fine", "tags": 5}],
    ],
    ids=repr,
)  # fmt: skip
def test_many_facts_are_texts_or_mappings_of_remembers_arguments(alice, facts):
    """Nothing else, and nothing of the engine's own."""
    refused(lambda: alice.remember_many(facts))

    assert len(alice.records()) == 1


@pytest.mark.parametrize("expected", ["1", 1.0, True, -1], ids=repr)
def test_an_expected_version_is_a_count(alice, expected):
    """Something else can never be met."""
    refused(lambda: alice.edit(alice.records()[0].id, text="fine", expected=expected))


@pytest.mark.parametrize("role", ["wizard", "", "User", "function", "*"])
def test_an_unknown_role_is_refused(thread, role):
    """The hint lists the known ones."""
    error = refused(lambda: thread.add(role, "Hello"))

    assert "assistant" in error.hint


@pytest.mark.parametrize("limit", [-1, "ten", 1.5, True], ids=repr)
@pytest.mark.parametrize("verb", ["recent", "records", "episodes"])
def test_a_limit_is_a_count(alice, verb, limit):
    """In every listing."""
    where = alice.thread("q4") if verb == "episodes" else alice

    error = refused(lambda: getattr(where, verb)(limit=limit))

    assert "limit" in str(error)


@pytest.mark.parametrize("verb", ["recent", "records", "recall", "episodes"])
def test_a_limit_may_be_larger_than_any_number_of_records(alice, verb):
    """Whoever wants all of them may say so."""
    alice.thread("q4").add("user", "reports")
    where = alice.thread("q4") if verb == "episodes" else alice
    question = ("reports",) if verb == "recall" else ()

    assert len(getattr(where, verb)(*question, limit=2**70)) == (1 if verb == "episodes" else 2)


@pytest.mark.parametrize("id", [None, 7, b"id", "a\0b", "\ud83e"], ids=repr)
@pytest.mark.parametrize("verb", ["get", "forget"])
def test_a_records_id_is_a_text(alice, verb, id):
    """Anything else is a mistake, not an unknown record."""
    refused(lambda: getattr(alice, verb)(id))


def test_ten_megabytes_of_text_are_text(alice, thread, reopen):
    """In a fact, a message, a state; nothing is cut but the line of a prompt."""
    long = "harbour " * (10 * 1024 * 1024 // 8)
    alice.remember(long)
    thread.add("user", long)
    thread.checkpoint({"draft": long})

    again = reopen().scope(user="alice", agent="support", tenant="acme")

    assert again.records(kinds=["fact"], limit=1)[0].text == long
    assert again.thread("q4-report").messages() == [{"role": "user", "content": long}]
    assert again.thread("q4-report").restore() == {"draft": long}
    assert len(again.inject("You are an analyst.")) < 1_000


@pytest.mark.parametrize(
    "text",
    [
        *("🦊👨\u200d👩\u200d👧", "नमस्ते", "مرحبا", "日本語"),
        *("\u202eright to left\u202c", "a\u0301", "\x01\x1f\x7f", "\ufeffbom", "\uffff"),
    ],
    ids=ascii,
)  # fmt: skip
def test_any_script_comes_back_as_it_was_said(alice, thread, text, reopen):
    """Character by character."""
    alice.remember(text, key=text, source=text, tags=[text], metadata={text: text})
    thread.add("user", text, name=text)

    again = reopen().scope(user="alice", agent="support", tenant="acme")

    fact = again.records(kinds=["fact"])[0]
    assert (fact.text, fact.key, fact.source, fact.tags) == (text, text, text, (text,))
    assert fact.metadata == {text: text}
    assert again.thread("q4-report").messages()[0]["content"] == text


def test_a_clock_that_goes_back_is_handled(alice, thread, clock):
    """Recorded time does not go back with it, and the order is that of writing."""
    for text in ("first", "second", "third"):
        alice.remember(text)
        thread.add("user", text)
        clock.advance(days=-1)

    recorded = [episode.recorded_at for episode in thread.episodes()]
    created = [hit.created_at for hit in reversed(alice.records(kinds=["fact"]))]
    assert [episode.text for episode in thread.episodes()] == ["first", "second", "third"]
    assert recorded == sorted(set(recorded))
    assert created == sorted(set(created))


def test_a_clock_that_stands_still_is_handled(alice):
    """Each record has a time of its own, a microsecond apart."""
    alice.remember_many(["first", "second", "third"])

    times = [hit.created_at for hit in alice.records(limit=3)]

    assert len(set(times)) == 3
    assert [hit.text for hit in alice.records(limit=3)] == ["third", "second", "first"]


def test_a_clock_without_a_zone_is_refused():
    """It is an argument like others."""
    with holdfast.open("memory://", clock=lambda: NAIVE) as memory:
        error = refused(lambda: memory.scope(user="alice").remember("fine"))

    assert "clock()" in str(error)


@pytest.mark.parametrize(
    "use",
    [
        lambda memory, alice: alice.remember("fine"),
        lambda memory, alice: alice.remember_many(["fine"]),
        lambda memory, alice: alice.remember("fine", idempotency_key="k"),
        lambda memory, alice: alice.recall("fine"),
        lambda memory, alice: alice.recall(),
        lambda memory, alice: alice.inject("You are"),
        lambda memory, alice: alice.get("id"),
        lambda memory, alice: alice.edit("id", text="fine"),
        lambda memory, alice: alice.forget("id"),
        lambda memory, alice: alice.recent(),
        lambda memory, alice: alice.records(),
        lambda memory, alice: dict(alice.preferences),
        lambda memory, alice: alice.preferences.set("a", "b"),
        lambda memory, alice: alice.preferences.delete("a"),
        lambda memory, alice: alice.thread("q4").add("user", "fine"),
        lambda memory, alice: alice.thread("q4").note("decision", "fine"),
        lambda memory, alice: alice.thread("q4").messages(),
        lambda memory, alice: alice.thread("q4").episodes(),
        lambda memory, alice: alice.thread("q4").checkpoint({}),
        lambda memory, alice: alice.thread("q4").restore(),
        lambda memory, alice: alice.thread("q4").once("send", list),
        lambda memory, alice: alice.thread("q4").settle("send", retry=True),
        lambda memory, alice: alice.thread("q4").step_status("send"),
        lambda memory, alice: alice.thread("q4").welcome_back(),
        lambda memory, alice: alice.thread("q4").forget(),
        lambda memory, alice: memory.unfinished(),
        lambda memory, alice: memory.forget(user="alice"),
        lambda memory, alice: memory.flush(),
    ],
)
def test_a_closed_memory_says_so(memory, alice, use):
    """In every verb that would need it."""
    memory.close()

    with pytest.raises(holdfast.Misconfigured, match="closed") as caught:
        use(memory, alice)

    assert caught.value.hint


def test_a_time_out_of_range_in_utc_is_refused(thread):
    """It fits its own zone; stored, it could never be read again."""
    last = datetime.max.replace(tzinfo=timezone(timedelta(hours=-12)))

    with pytest.raises(holdfast.InvalidInput, match="out of range"):
        thread.add("user", "hello", at=last)
