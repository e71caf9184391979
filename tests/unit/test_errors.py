"""Errors: one tree, each with a remedy and its facts, and never a word of what was stored."""

import copy
import logging
import pickle
import traceback
from datetime import datetime, timedelta

import pytest

import holdfast

CANARY = "canary7f3a"
NAMES = [
    "NotFound", "Conflict", "Denied", "Busy", "InDoubt", "Unavailable", "Corrupt",
    "Misconfigured", "Unsupported", "InvalidInput",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_every_error_hangs_on_one_root(name):
    """`except holdfast.HoldfastError` catches all of them, and nothing else does."""
    error = getattr(holdfast, name)

    assert issubclass(error, holdfast.HoldfastError)
    assert error.__mro__[1] is holdfast.HoldfastError
    assert error.__doc__


def test_a_bad_argument_is_a_value_error_too():
    """As Python's own libraries have it."""
    assert issubclass(holdfast.InvalidInput, ValueError)


def test_a_message_tells_what_happened_and_what_to_do():
    """The remedy stands alone as well, and the facts are attributes."""
    error = holdfast.Conflict("It moved on.", hint="Reload and retry.", thread="q4", expected=3)

    assert str(error) == "It moved on. Reload and retry."
    assert (error.hint, error.thread, error.expected) == ("Reload and retry.", "q4", 3)


def test_a_fact_that_an_error_does_not_have_is_an_attribute_error():
    """As on any object."""
    with pytest.raises(AttributeError, match="thread"):
        holdfast.Conflict("It moved on.").thread  # noqa: B018 # looking is what is tested


@pytest.mark.parametrize("copied", [copy.copy, lambda error: pickle.loads(pickle.dumps(error))])
def test_an_error_survives_its_way_between_processes(copied):
    """Worker pools send exceptions home."""
    error = copied(holdfast.Conflict("It moved on.", hint="Reload.", thread="q4"))

    assert (str(error), error.hint, error.thread) == ("It moved on. Reload.", "Reload.", "q4")
    assert type(error) is holdfast.Conflict


def known(alice):
    return alice.remember(CANARY, key="bird")


def keyed_twice(alice):
    alice.remember(CANARY, metadata={"a": CANARY}, idempotency_key="k")
    alice.remember(CANARY, tags=[CANARY], idempotency_key="k")


def edit_stale(alice):
    alice.edit(known(alice).id, text=CANARY + " new", expected=9)


def edit_into_another(alice):
    first = alice.remember(CANARY)
    alice.remember(CANARY + " other")
    alice.edit(first.id, text=CANARY + " other")


def edit_superseded(alice):
    first = known(alice)
    alice.remember(CANARY + " other", key="bird")
    alice.edit(first.id, text=CANARY)


def edit_a_message(alice):
    said = alice.thread("q4").add("user", CANARY)
    alice.edit(said.id, text=CANARY)


def stale_checkpoint(alice):
    alice.thread("q4").checkpoint({"a": CANARY})
    alice.thread("q4").checkpoint({"a": CANARY}, expected=7)


def once_with_other_arguments(alice):
    alice.thread("q4").once("send", str.upper, CANARY)
    alice.thread("q4").once("send", str.upper, CANARY + "x")


def once_in_doubt(alice):
    def fail(text):
        raise ZeroDivisionError

    thread = alice.thread("q4")
    with pytest.raises(ZeroDivisionError):
        thread.once("send", fail, CANARY)
    thread.once("send", fail, CANARY)


def common_is_not_mine(alice, memory):
    alice.edit(memory.common(tenant="acme").remember(CANARY).id, text=CANARY)


FAILING = {
    "NUL": lambda alice: alice.remember(CANARY + "\0"),
    "surrogate": lambda alice: alice.remember(CANARY + "\ud83e"),
    "metadata value": lambda alice: alice.remember("a", metadata={"a": {CANARY}}),
    "state value": lambda alice: alice.thread("q4").checkpoint({"a": (CANARY,)}),
    "tags": lambda alice: alice.remember("a", tags=CANARY),
    "tag": lambda alice: alice.remember("a", tags=[CANARY + "\0"]),
    "source": lambda alice: alice.remember("a", source=CANARY + "\0"),
    "importance": lambda alice: alice.remember("a", importance=CANARY),
    "confidence": lambda alice: alice.remember("a", confidence=CANARY),
    "ttl": lambda alice: alice.remember("a", ttl=CANARY),
    "at": lambda alice: alice.remember("a", at=CANARY),
    "role": lambda alice: alice.thread("q4").add(CANARY, "a"),
    "message role": lambda alice: alice.thread("q4").add({"role": CANARY, "content": CANARY}),
    "content": lambda alice: alice.thread("q4").add({"role": "user", "content": (CANARY,)}),
    "tool call": lambda alice: alice.thread("q4").add("assistant", CANARY, tool_calls=[CANARY]),
    "payload": lambda alice: alice.thread("q4").note("error", CANARY, payload={CANARY}),
    "emotion": lambda alice: alice.thread("q4").note("error", "a", emotion=CANARY + "\0"),
    "query": lambda alice: alice.recall(CANARY + "\0"),
    "prompt": lambda alice: alice.inject(CANARY + "\0"),
    "cursor": lambda alice: alice.records(after=CANARY),
    "preference": lambda alice: alice.preferences.set("bird", {CANARY}),
    "argument": lambda alice: alice.thread("q4").once("send", str, {CANARY}),
    "result": lambda alice: alice.thread("q4").once("send", lambda: {CANARY}),
    "checkpoint": lambda alice: alice.thread("q4").restore(CANARY),
    "keyed twice": keyed_twice,
    "stale edit": edit_stale,
    "edit into another": edit_into_another,
    "edit superseded": edit_superseded,
    "edit a message": edit_a_message,
    "stale checkpoint": stale_checkpoint,
    "other arguments": once_with_other_arguments,
    "in doubt": once_in_doubt,
}


@pytest.mark.parametrize("name", FAILING)
def test_no_error_and_no_log_shows_what_was_stored(alice, caplog, name):
    """Messages go to places that memories must never reach."""
    caplog.set_level(logging.DEBUG)

    with pytest.raises(holdfast.HoldfastError) as caught:
        FAILING[name](alice)

    shown = [*said_by(caught.value), caplog.text]
    assert [text for text in shown if CANARY in text] == []
    assert caught.value.hint


def said_by(error):
    """All that an error says, its causes included; not the lines of code that led to it."""
    while error is not None:
        yield from traceback.format_exception_only(error)
        yield repr(error)
        yield repr(getattr(error, "facts", ""))
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def test_what_is_common_and_not_mine_is_denied_without_its_words(memory, alice):
    """Nor does a refusal quote what it protects."""
    with pytest.raises(holdfast.Denied) as caught:
        common_is_not_mine(alice, memory)

    assert CANARY not in str(caught.value)
    assert caught.value.hint


def test_ordinary_work_logs_nothing(memory, alice, caplog):
    """A library that has nothing to complain of is silent."""
    caplog.set_level(logging.DEBUG)

    alice.remember(CANARY, ttl=timedelta(days=1))
    alice.thread("q4").add("user", CANARY)
    alice.recall(CANARY)
    memory.forget(user="alice", tenant="acme")

    assert caplog.records == []


def test_a_record_does_not_show_its_content_to_a_debugger_by_accident(memory):
    """Handles are named by whose they are."""
    scope = memory.scope(user="alice")
    scope.preferences["bird"] = CANARY

    assert CANARY not in repr([memory, scope, scope.preferences, scope.thread("q4")])


def test_the_naive_time_is_named_in_the_words_of_the_caller(alice):
    """The argument, what is wrong with it, and what to pass."""
    with pytest.raises(holdfast.InvalidInput) as caught:
        alice.remember("a", valid_from=datetime.fromisoformat("2026-01-01"))

    assert str(caught.value).startswith("valid_from has no time zone.")
    assert "datetime.now(UTC)" in caught.value.hint
