"""The working set: what an LLM is shown of a thread, never a call parted from its results."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from tests.unit.conversations import calls_and_results, conversations, tokens


def call(*ids, text=""):
    """An assistant's message that calls a tool once for each id."""
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [
            {"id": id, "type": "function", "function": {"name": "search", "arguments": "{}"}}
            for id in ids
        ],
    }


def result(id, text="12 rows"):
    """The result of one call."""
    return {"role": "tool", "tool_call_id": id, "content": text}


def contents(messages):
    """What was said, in order."""
    return [message["content"] for message in messages]


def test_the_system_message_comes_first_wherever_it_was_said(thread):
    """And it is the newest one that counts."""
    thread.add("system", "You are a clerk")
    thread.add("user", "Hello")
    thread.add("system", "You are an analyst")
    thread.add("user", "Find the report")

    messages = thread.messages()

    assert contents(messages) == ["You are an analyst", "Hello", "Find the report"]
    assert messages.system == "You are an analyst"


@pytest.mark.parametrize("role", ["system", "developer"])
def test_the_system_message_is_there_when_all_else_is_cut(thread, role):
    """A budget of nothing still leaves who the agent is, and the last word."""
    thread.add(role, "You are an analyst")
    for number in range(30):
        thread.add("user", f"message {number}")

    messages = thread.messages(budget_tokens=0)

    assert contents(messages) == ["You are an analyst", "message 29"]


def test_the_newest_twenty_are_shown(thread):
    """Beside the system message."""
    thread.add("system", "You are an analyst")
    for number in range(25):
        thread.add("user", f"message {number}")

    assert contents(thread.messages())[1:] == [f"message {number}" for number in range(5, 25)]


def test_an_empty_thread_shows_nothing(thread):
    """An empty list, and no system prompt."""
    messages = thread.messages()

    assert (messages, messages.system) == ([], None)


@pytest.mark.parametrize("budget", [30, 60, 200])
def test_a_budget_holds(thread, budget):
    """Counted with the tokenizer of the models, over all that is shown."""
    thread.add("system", "You are an analyst")
    for number in range(20):
        thread.add("user", f"message number {number} says a little more than the one before")

    shown = thread.messages(budget_tokens=budget)

    assert shown[-1]["content"].startswith("message number 19")
    assert sum(tokens(message) for message in shown) <= budget or len(shown) == 2


def test_more_budget_shows_more(thread):
    """Up to the newest twenty."""
    for number in range(40):
        thread.add("user", f"message {number}")

    counts = [len(thread.messages(budget_tokens=budget)) for budget in (20, 100, 100_000)]

    assert counts == sorted(counts)
    assert counts[-1] == 20


def test_a_tool_call_is_never_parted_from_its_result(thread):
    """The window of twenty would cut between them."""
    thread.add(call("c1", "c2"))
    thread.add(result("c1"))
    thread.add(result("c2"))
    for number in range(18):
        thread.add("user", f"message {number}")

    shown = thread.messages()

    assert contents(shown) == [f"message {number}" for number in range(18)]


def test_a_call_that_is_not_answered_yet_is_left_out(thread):
    """No API takes it; what the agent said with it stays."""
    thread.add("user", "Find the report")
    thread.add(call("c1", text="I look it up."))

    assert thread.messages() == [
        {"role": "user", "content": "Find the report"},
        {"role": "assistant", "content": "I look it up."},
    ]


def test_a_call_answered_in_part_is_left_out_with_its_results(thread):
    """One of two results is not an answer."""
    thread.add("user", "Compare")
    thread.add(call("c1", "c2"))
    thread.add(result("c1"))

    assert contents(thread.messages()) == ["Compare"]


def test_a_result_without_its_call_is_left_out(thread):
    """It is handled without an error, kept, and not shown."""
    thread.add(result("c1"))
    thread.add("user", "Find the report")

    assert contents(thread.messages()) == ["Find the report"]
    assert len(thread.episodes()) == 2


def test_a_result_comes_right_after_its_call(thread):
    """Though the user spoke in between: that is where the APIs want it."""
    thread.add(call("c1"))
    thread.add("user", "Hurry, please")
    thread.add(result("c1"))

    assert [message["role"] for message in thread.messages()] == ["assistant", "tool", "user"]


def test_an_id_used_again_is_another_call(thread):
    """Some models count from one in every turn."""
    for answer in ("12 rows", "13 rows"):
        thread.add(call("1"))
        thread.add(result("1", answer))

    shown = thread.messages()

    assert [message["role"] for message in shown] == ["assistant", "tool"] * 2
    assert [shown[1]["content"], shown[3]["content"]] == ["12 rows", "13 rows"]


def test_one_call_with_more_results_than_the_window_is_shown_whole(thread):
    """The newest unit is never cut away."""
    ids = [f"c{number}" for number in range(30)]
    thread.add(call(*ids))
    for id in ids:
        thread.add(result(id))

    assert len(thread.messages()) == 31


def test_results_for_two_calls_in_one_message_go_to_each(thread):
    """Interleaved agents answer together."""
    for id in ("a", "b"):
        thread.add(
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": id, "name": "search", "input": {}}],
            }
        )
    thread.add(
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "1"},
                {"type": "text", "text": "There you are."},
                {"type": "tool_result", "tool_use_id": "b", "content": "2"},
            ],
        }
    )

    shown = thread.messages()

    assert [message["role"] for message in shown] == ["assistant", "tool"] * 2 + ["user"]
    assert shown[-1]["content"] == "There you are."


@pytest.mark.parametrize("budget", ["many", -1, 1.5, True], ids=repr)
def test_a_budget_is_a_count(thread, budget):
    """A typed error, in the first line."""
    thread.add("user", "Hello")

    with pytest.raises(holdfast.InvalidInput, match="budget_tokens"):
        thread.messages(budget_tokens=budget)


@given(
    conversation=conversations(),
    format=st.sampled_from(["openai", "anthropic", "original"]),
    budget=st.none() | st.integers(0, 400),
)
def test_for_any_conversation_and_any_cut_no_call_or_result_is_orphaned(
    conversation, format, budget
):
    """Interleaved, repeated, orphaned, unanswered, mixed shapes: what is shown, an API takes."""
    with holdfast.open("memory://") as memory:
        thread = memory.scope(user="alice").thread("q4-report")
        with thread.batch() as batch:
            for message in conversation:
                batch.add(message)

        shown = thread.messages(format=format, budget_tokens=budget)

    calls, results = calls_and_results(shown)
    assert sorted(calls) == sorted(results)
    assert each_result_follows_its_call(shown)


def each_result_follows_its_call(messages):
    """Whether no result comes before a call of its id that it could belong to."""
    waiting = []
    for message in messages:
        calls, results = calls_and_results([message])
        for id in results:
            if id not in waiting:
                return False
            waiting.remove(id)
        waiting += calls
    return not waiting


@given(conversation=conversations(), budget=st.none() | st.integers(0, 400))
def test_in_openais_shape_nothing_stands_between_a_call_and_its_results(conversation, budget):
    """Its API refuses a conversation where a user speaks before all results are in."""
    with holdfast.open("memory://") as memory:
        thread = memory.scope(user="alice").thread("q4-report")
        with thread.batch() as batch:
            for message in conversation:
                batch.add(message)

        shown = thread.messages(budget_tokens=budget)

    open_ids = set()
    for message in shown:
        assert not open_ids or message["role"] == "tool", json.dumps(shown)
        calls, results = calls_and_results([message])
        open_ids = (open_ids | set(calls)) - set(results)


@given(conversation=conversations(), budget=st.none() | st.integers(0, 400))
def test_in_anthropics_shape_all_results_stand_in_the_next_message(conversation, budget):
    """Its API wants each call answered at the beginning of the very next user message."""
    with holdfast.open("memory://") as memory:
        thread = memory.scope(user="alice").thread("q4-report")
        with thread.batch() as batch:
            for message in conversation:
                batch.add(message)

        shown = thread.messages(format="anthropic", budget_tokens=budget)

    nothing = {"role": "none", "content": []}
    for message, following in pairwise([*shown, nothing]):
        calls, _ = calls_and_results([message])
        first = following["content"][: len(calls)] if calls else []
        assert {block["tool_use_id"] for block in first} == set(calls)


@given(conversation=conversations(), budget=st.none() | st.integers(0, 400))
def test_the_newest_thing_said_is_always_shown(conversation, budget):
    """Whatever the budget, the last words of a user are there."""
    with holdfast.open("memory://") as memory:
        thread = memory.scope(user="alice").thread("q4-report")
        with thread.batch() as batch:
            for message in conversation:
                batch.add(message)
            batch.add("user", "And now?")

        shown = thread.messages(budget_tokens=budget)

    assert "And now?" in json.dumps(shown[-1])
