"""Messages in OpenAI's and Anthropic's shape: kept as given, converted when they are read."""

import json

import pytest

import holdfast

PICTURE = "data:image/png;base64,iVBORw0KGgo="

OPENAI_CALLS = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "search", "arguments": '{"q": "revenue"}'},
        },
        {"id": "call_2", "type": "function", "function": {"name": "today", "arguments": "{}"}},
    ],
}
OPENAI_RESULTS = [
    {"role": "tool", "tool_call_id": "call_1", "content": "12 rows"},
    {"role": "tool", "tool_call_id": "call_2", "content": "2026-01-01"},
]
ANTHROPIC_CALLS = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "Two lookups.", "signature": "c2lnbmF0dXJl"},
        {"type": "text", "text": "I look both up."},
        {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "revenue"}},
        {"type": "tool_use", "id": "toolu_2", "name": "today", "input": {}},
    ],
}
ANTHROPIC_RESULTS = {
    "role": "user",
    "content": [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "12 rows"},
        {
            "type": "tool_result",
            "tool_use_id": "toolu_2",
            "content": [{"type": "text", "text": "unknown"}],
            "is_error": True,
        },
        {"type": "text", "text": "Hurry, please."},
    ],
}

ORIGINALS = {
    "plain": {"role": "user", "content": "Find the report"},
    "named": {"role": "user", "content": "Find the report", "name": "alice"},
    "developer": {"role": "developer", "content": "Answer in French"},
    "calls": OPENAI_CALLS,
    "result": OPENAI_RESULTS[0],
    "refusal": {"role": "assistant", "content": None, "refusal": "I cannot do that."},
    "parts": {
        "role": "user",
        "content": [
            {"type": "text", "text": "What is on it?"},
            {"type": "image_url", "image_url": {"url": PICTURE, "detail": "low"}},
        ],
    },
    "audio": {
        "role": "user",
        "content": [{"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}],
    },
    "custom call": {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_3", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
        ],
    },
    "anthropic calls": ANTHROPIC_CALLS,
    "anthropic results": ANTHROPIC_RESULTS,
    "cached": {
        "role": "user",
        "content": [{"type": "text", "text": "Long", "cache_control": {"type": "ephemeral"}}],
    },
    "image": {
        "role": "user",
        "content": [
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
            }
        ],
    },
    "redacted": {
        "role": "assistant",
        "content": [
            {"type": "redacted_thinking", "data": "ZW5jcnlwdGVk"},
            {"type": "text", "text": "Done."},
        ],
    },
    "block of tomorrow": {
        "role": "assistant",
        "content": [{"type": "hologram", "data": [1, {"x": None}]}],
    },
    "fields of tomorrow": {"role": "user", "content": "Hi", "priority": 3, "x": {"y": [True]}},
}


@pytest.mark.parametrize("name", ORIGINALS)
def test_the_original_is_kept_as_it_was_given(thread, name):
    """Letter by letter and in its own order: what a conversion drops is never lost."""
    original = ORIGINALS[name]

    thread.add(original)

    (episode,) = thread.episodes()
    assert json.dumps(episode.message) == json.dumps(original)
    assert episode.role == original["role"]


@pytest.mark.parametrize("name", [*ORIGINALS])
def test_what_was_kept_does_not_follow_the_callers_object(thread, name):
    """A program goes on with its message; history does not."""
    given = json.loads(json.dumps(ORIGINALS[name]))

    thread.add(given)
    given.clear()

    assert thread.episodes()[0].message == ORIGINALS[name]


def test_tool_calls_and_results_are_kept(thread):
    """Given in our own short form, they are OpenAI's long one."""
    thread.add("assistant", "", tool_calls=[{"id": "c1", "name": "search", "arguments": {"q": 1}}])
    thread.add("tool", "12 rows", tool_call_id="c1")

    assert thread.messages() == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "search", "arguments": '{"q":1}'},
                }
            ],
        },
        {"role": "tool", "content": "12 rows", "tool_call_id": "c1"},
    ]


def test_openai_messages_are_given_back_untouched(thread):
    """Whoever writes in that shape reads what was written."""
    conversation = [{"role": "user", "content": "Compare"}, OPENAI_CALLS, *OPENAI_RESULTS]
    for message in conversation:
        thread.add(message)

    assert thread.messages() == thread.messages(format="original") == conversation


def test_anthropic_messages_are_given_back_untouched(thread):
    """Thinking blocks with their signatures, too: the API refuses altered ones."""
    conversation = [{"role": "user", "content": "Compare"}, ANTHROPIC_CALLS, ANTHROPIC_RESULTS]
    for message in conversation:
        thread.add(message)

    assert thread.messages(format="anthropic") == conversation
    assert thread.messages(format="original") == conversation


def test_blocks_of_the_servers_own_tools_are_given_back_untouched(thread):
    """A message in Anthropic's shape is not shortened when it is asked for in that shape."""
    searched = {
        "role": "assistant",
        "content": [
            {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
            {"type": "text", "text": "Nothing was found."},
        ],
    }
    thread.add("user", "Search for it")
    thread.add(searched)

    assert thread.messages(format="anthropic")[1] == searched


def test_openai_to_anthropic(thread):
    """Calls become blocks, a turn's results one user message; the system prompt stands apart."""
    thread.add("system", "You are an analyst")
    for message in [{"role": "user", "content": "Compare"}, OPENAI_CALLS, *OPENAI_RESULTS]:
        thread.add(message)
    thread.add("assistant", "Nothing changed.")

    messages = thread.messages(format="anthropic")

    assert messages.system == "You are an analyst"
    assert messages == [
        {"role": "user", "content": "Compare"},
        {
            "role": "assistant",
            "content": [
                {"type": "tool_use", "id": "call_1", "name": "search", "input": {"q": "revenue"}},
                {"type": "tool_use", "id": "call_2", "name": "today", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "12 rows"},
                {"type": "tool_result", "tool_use_id": "call_2", "content": "2026-01-01"},
            ],
        },
        {"role": "assistant", "content": "Nothing changed."},
    ]


def test_anthropic_to_openai(thread):
    """Results become messages of their own, right after the calls; thinking stays behind."""
    thread.add(ANTHROPIC_CALLS)
    thread.add(ANTHROPIC_RESULTS)

    calls, *results, rest = thread.messages(format="openai")

    assert (calls["role"], calls["content"]) == ("assistant", "I look both up.")
    assert [call["function"]["name"] for call in calls["tool_calls"]] == ["search", "today"]
    assert json.loads(calls["tool_calls"][0]["function"]["arguments"]) == {"q": "revenue"}
    assert results == [
        {"role": "tool", "tool_call_id": "toolu_1", "content": "12 rows"},
        {"role": "tool", "tool_call_id": "toolu_2", "content": "unknown"},
    ]
    assert rest == {"role": "user", "content": "Hurry, please."}


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ('{"q": 1}', {"q": 1}),
        ("", {}),
        ("[1]", {"arguments": [1]}),
        ("not json", {"arguments": "not json"}),
    ],
)
def test_arguments_that_are_no_object_become_one(thread, arguments, given):
    """Models write broken JSON; Anthropic's input must be an object."""
    function = {"name": "search", "arguments": arguments}
    thread.add({"role": "assistant", "tool_calls": [{"id": "c1", "function": function}]})
    thread.add("tool", "12 rows", tool_call_id="c1")

    call = thread.messages(format="anthropic")[0]["content"][0]

    assert call == {"type": "tool_use", "id": "c1", "name": "search", "input": given}


@pytest.mark.parametrize(
    ("openai", "anthropic"),
    [
        (
            {"type": "image_url", "image_url": {"url": PICTURE}},
            {
                "type": "image",
                "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
            },
        ),
        (
            {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
            {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}},
        ),
    ],
    ids=["inline", "linked"],
)
class TestImages:
    """Pictures beside text, inline or by link."""

    def test_openai_to_anthropic(self, thread, openai, anthropic):
        """The link is taken apart."""
        thread.add({"role": "user", "content": [{"type": "text", "text": "What is it?"}, openai]})

        (message,) = thread.messages(format="anthropic")

        assert message["content"] == [{"type": "text", "text": "What is it?"}, anthropic]

    def test_anthropic_to_openai(self, thread, openai, anthropic):
        """And put together again."""
        thread.add(
            {"role": "user", "content": [anthropic, {"type": "text", "text": "What is it?"}]}
        )

        (message,) = thread.messages(format="openai")

        assert message["content"] == [{"type": "text", "text": "What is it?"}, openai]


def test_a_message_object_is_taken_as_its_data(thread):
    """SDKs return objects; they know how to become data."""

    class FromAnSdk:
        def model_dump(self, *, mode, exclude_none):
            assert (mode, exclude_none) == ("json", True)
            return {"role": "assistant", "content": "It is 4.2 million"}

    thread.add(FromAnSdk())

    assert thread.messages() == [{"role": "assistant", "content": "It is 4.2 million"}]


def test_the_text_of_a_message_is_what_recall_finds(alice, thread):
    """Of any shape."""
    thread.add(ANTHROPIC_CALLS)

    assert [hit.text for hit in alice.recall("look")] == ["I look both up."]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "wizard", "content": "Abracadabra"},
        {"content": "Nobody said it"},
        {"role": ["user"], "content": "Hi"},
        {"role": "user", "content": ""},
        {"role": "user", "content": " \n"},
        {"role": "user"},
        {"role": "user", "content": []},
        {"role": "user", "content": 42},
        {"role": "user", "content": [{"type": "text", "text": ""}]},
        {"role": "user", "content": ("a", "b")},
        {"role": "user", "content": "a\0b"},
        {"role": "user", "content": "\ud800"},
        {"role": "user", "content": "Hi", "name": 5},
        {"role": "user", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
        {"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
        {"role": "assistant", "tool_calls": "search"},
        {"role": "assistant", "tool_calls": ["search"]},
        {"role": "assistant", "tool_calls": [{"id": "a", "function": "search"}]},
        {"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "a"}]},
        [{"role": "user", "content": "Hi"}],
        b"user",
        None,
        7,
    ],
    ids=lambda message: repr(message)[:60],
)
def test_what_no_api_would_take_is_refused(thread, message):
    """With a typed error and a remedy, before anything is written."""
    with pytest.raises(holdfast.InvalidInput) as caught:
        thread.add(message)

    assert caught.value.hint
    assert thread.episodes() == []


def test_a_message_and_parts_of_one_do_not_go_together(thread):
    """Which of the two texts would count?"""
    with pytest.raises(holdfast.InvalidInput, match="parts of one"):
        thread.add({"role": "user", "content": "Hi"}, "Hello")


@pytest.mark.parametrize("format", ["OpenAI", "gemini", "", None])
def test_an_unknown_format_is_refused(thread, format):
    """The message lists the known ones."""
    with pytest.raises(holdfast.InvalidInput) as caught:
        thread.messages(format=format)

    assert "openai, anthropic, original" in caught.value.hint
