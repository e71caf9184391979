"""Coming back: which threads wait, and where a thread was left."""

from datetime import timedelta

import pytest

import holdfast


def reasons(memory, **who):
    """Thread and reason of all that waits."""
    return [(found.thread, found.why, found.step) for found in memory.unfinished(**who)]


def test_a_message_without_a_reply_is_unfinished(memory, thread, clock):
    """The program died before the LLM answered."""
    thread.add("user", "Find the report")

    (found,) = memory.unfinished(tenant="acme")

    assert (found.tenant, found.user, found.thread) == ("acme", "alice", "q4-report")
    assert (found.why, found.step, found.at) == ("reply", None, clock.now)


@pytest.mark.parametrize(
    ("last", "waits"),
    [
        ({"role": "user", "content": "Hurry"}, True),
        ({"role": "tool", "tool_call_id": "c1", "content": "12 rows"}, True),
        (
            {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "12 rows"}],
            },
            True,
        ),
        ({"role": "assistant", "content": "Here it is"}, False),
        ({"role": "system", "content": "You are an analyst"}, True),
    ],
    ids=["user", "tool", "tool result", "assistant", "system"],
)
def test_what_waits_is_told_by_the_last_message(memory, thread, last, waits):
    """A chat that nobody closed is not unfinished; a new system prompt is no reply."""
    thread.add("user", "Find the report")

    thread.add(last)

    assert reasons(memory, tenant="acme") == ([("q4-report", "reply", None)] if waits else [])


def test_a_note_is_no_reply(memory, thread):
    """What the agent thinks to itself leaves the user waiting."""
    thread.add("user", "Find the report")
    thread.note("decision", "Search the archive first")

    assert reasons(memory, tenant="acme") == [("q4-report", "reply", None)]


def test_a_step_in_doubt_is_unfinished(memory, thread):
    """Somebody has to find out."""
    thread.add("user", "Send it")
    thread.add("assistant", "Sending.")

    with pytest.raises(ZeroDivisionError):
        thread.once("send", lambda: 1 / 0)

    assert reasons(memory, tenant="acme") == [("q4-report", "in_doubt", "send")]


@pytest.mark.parametrize("decision", [{"result": "sent"}, {"retry": True}])
def test_a_settled_step_is_not(memory, thread, decision):
    """It was decided either way."""
    with pytest.raises(ZeroDivisionError):
        thread.once("send", lambda: 1 / 0)

    thread.settle("send", **decision)

    assert reasons(memory, tenant="acme") == []


def test_a_step_that_is_done_is_not(memory, thread):
    """Nothing waits for it."""
    thread.once("send", lambda: "sent")

    assert reasons(memory, tenant="acme") == []


def test_one_may_ask_for_a_user_or_a_tenant(memory, alice, bob):
    """`holdfast.ALL` crosses tenants; the default is the tenant without a name."""
    alice.thread("a").add("user", "Hello")
    bob.thread("b").add("user", "Hello")
    memory.scope(user="alice").thread("c").add("user", "Hello")
    memory.scope(agent="support", tenant="acme").thread("d").add("user", "Hello")

    assert [found.thread for found in memory.unfinished(tenant="acme")] == ["d", "a", "b"]
    assert [found.thread for found in memory.unfinished(user="alice", tenant="acme")] == ["a"]
    assert [found.thread for found in memory.unfinished()] == ["c"]
    assert [found.thread for found in memory.unfinished(user="alice", tenant=holdfast.ALL)] == [
        "c", "a",
    ]  # fmt: skip
    assert len(memory.unfinished(tenant=holdfast.ALL)) == 4


def test_many_threads_are_found_among_many(memory):
    """Each by its own last message."""
    scope = memory.scope(user="alice")
    for number in range(40):
        with scope.thread(f"t{number:02}").batch() as batch:
            batch.add("user", "Find the report")
            if number % 2:
                batch.add("assistant", "Here it is")

    assert [found.thread for found in memory.unfinished()] == [
        f"t{number:02}" for number in range(0, 40, 2)
    ]


def test_it_says_where_the_thread_was_left(thread, clock, reopen):
    """The last words, when, and a sentence to print."""
    thread.add("user", "Find the report")
    thread.add("assistant", "I found it. Shall I send it?")
    left = clock.now
    clock.advance(days=3)

    back = reopen().scope(user="alice", tenant="acme").thread("q4-report").welcome_back()

    assert (back.message, back.at, back.step) == ("I found it. Shall I send it?", left, None)
    assert str(back) == ("Welcome back. You left off at: I found it. Shall I send it? Continue?")


def test_a_sentence_without_an_end_gets_one(thread):
    """It is to be read by people."""
    thread.add("user", "Find the report")

    assert str(thread.welcome_back()) == (
        "Welcome back. You left off at: Find the report. Continue?"
    )


def test_an_open_step_is_where_it_was_left(thread):
    """It says more than the last words."""
    thread.add("assistant", "Sending the report")
    with pytest.raises(ZeroDivisionError):
        thread.once("send_mail", lambda: 1 / 0)

    back = thread.welcome_back()

    assert back.step == "send_mail"
    assert "send_mail" in str(back)
    assert back.message == "Sending the report"


def test_a_thread_in_which_nothing_happened_welcomes_nobody(thread):
    """None: it is a new one."""
    assert thread.welcome_back() is None


def test_raw_tool_output_and_prompts_are_nothing_to_welcome_with(thread):
    """Nobody would recognise them."""
    thread.add("user", "Find the report")
    thread.add("assistant", "", tool_calls=[{"id": "c1", "name": "search", "arguments": {}}])
    thread.add("tool", '{"rows": 12}', tool_call_id="c1")
    thread.add("system", "You are an analyst")

    assert thread.welcome_back().message == "Find the report"


def test_long_words_are_cut(thread):
    """A line, not a page."""
    thread.add("user", "very " * 1_000 + "long")

    message = thread.welcome_back().message

    assert len(message) <= 200
    assert message.endswith("…")


def test_it_looks_past_the_newest_tool_results(thread):
    """However many rows of raw output came last."""
    thread.add("user", "Find the report")
    with thread.batch() as batch:
        for number in range(80):
            batch.add("tool", "{}", tool_call_id=f"c{number}")

    assert thread.welcome_back().message == "Find the report"


def test_a_late_message_does_not_move_the_place(thread, clock):
    """Where it was left is by order of writing; the time is that of the last words."""
    earlier = clock.now - timedelta(days=1)
    thread.add("user", "second")
    thread.add("user", "first", at=earlier)

    back = thread.welcome_back()

    assert (back.message, back.at) == ("first", earlier)
