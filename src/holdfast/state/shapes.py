"""Message shapes: read what OpenAI and Anthropic use, keep it untouched, convert when it is read.

A message is kept as it was given. `Said` is its normal form, made on the way in to check it and on
the way out to convert it: who, what text, which tool calls, which results. What the other shape has
no word for (thinking, unknown blocks) is left out of a conversion and stays in the original.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InvalidInput
from ..values.message import ROLES, Message
from ..values.text import clean_text, plain, to_json

OPENAI, ANTHROPIC = "openai", "anthropic"
_OPENAI_PARTS = {
    "text", "image_url", "input_audio", "file", "refusal", "input_text", "output_text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: its id, the tool's name, and the arguments as JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of the tool call with this id."""

    id: str
    content: Any


@dataclass(frozen=True, slots=True)
class Said:
    """A message in its normal form."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()
    results: tuple[Result, ...] = ()
    images: tuple[Mapping[str, Any], ...] = ()
    name: str | None = None


def shape_of(message: Mapping[str, Any]) -> str:
    """Whose form a message has: text alone counts as OpenAI's, unknown blocks as Anthropic's."""
    content = message.get("content")
    if isinstance(content, list):
        for block in content:
            if _kind(block) not in _OPENAI_PARTS or "cache_control" in block:
                return ANTHROPIC
    return OPENAI


def checked(message: Any) -> tuple[Message, Said]:
    """The original as plain data and its normal form; InvalidInput names what is wrong."""
    if hasattr(message, "model_dump"):
        message = message.model_dump(mode="json", exclude_none=True)
    if not isinstance(message, Mapping):
        raise InvalidInput(
            "The message is neither a role with a text nor a mapping.",
            hint='Pass add("user", "text") or a message in OpenAI or Anthropic shape.',
        )
    original: Message = plain(dict(message), "message")
    role = original.get("role")
    if role not in ROLES:
        raise InvalidInput(
            "The message has an unknown role.", hint=f"Use one of {', '.join(ROLES)}."
        )
    _refuse_malformed(original)
    said = normal(original)
    _refuse_misplaced(said)
    silent = not (said.text.strip() or said.calls or said.results or said.images)
    if silent and role != "tool" and not _other_blocks(original):
        raise InvalidInput("The message is empty.", hint="Pass text that says something.")
    return original, said


def _refuse_malformed(message: Message) -> None:
    """What is accepted must be readable for ever, so the parts that are read are checked here."""
    content, calls = message.get("content"), message.get("tool_calls") or []
    blocks = content if isinstance(content, list) else []
    functions = [_function(call) for call in calls] if isinstance(calls, list) else [None]
    images = [block.get("source", {}) for block in blocks if _kind(block) == "image"]
    whole = isinstance(content, str | list | None) and all(
        isinstance(part, dict) for part in (*blocks, *functions, *images)
    )
    if not whole:
        raise InvalidInput(
            "The message has parts of an unknown form.",
            hint="Content is a text or a list of blocks, tool_calls a list of mappings.",
        )


def _function(call: Any) -> Any:
    return (call.get("function") or call.get("custom") or {}) if isinstance(call, dict) else None


def _refuse_misplaced(said: Said) -> None:
    """Calls are the assistant's and results the user's or a tool's: no API takes them otherwise."""
    if said.calls and said.role != "assistant":
        raise InvalidInput("Only an assistant makes tool calls.", hint="Use role 'assistant'.")
    if said.results and said.role not in ("user", "tool"):
        raise InvalidInput(
            "A tool result has the wrong role.", hint="Use 'tool' (OpenAI) or 'user' (Anthropic)."
        )
    if len({call.id for call in said.calls}) < len(said.calls):
        raise InvalidInput("Two tool calls have one id.", hint="Give each call an id of its own.")


def normal(message: Message) -> Said:
    """The normal form of a message in either shape."""
    content = message.get("content")
    spoken = message["role"] in ("user", "assistant") and "tool_calls" not in message
    if spoken and content and isinstance(content, str):
        # Most messages are a text and nothing else.
        return Said(message["role"], content, name=message.get("name"))
    blocks = content if isinstance(content, list) else []
    text = content if isinstance(content, str) else _texts(blocks)
    text = text or str(message.get("refusal") or "")
    role = str(message["role"])
    results = tuple(_result(block) for block in blocks if _kind(block) == "tool_result")
    if role == "tool":
        results = (Result(str(message.get("tool_call_id") or ""), text),)
    return Said(
        role="system" if role == "developer" else role,
        text=text,
        calls=(*_openai_calls(message), *_anthropic_calls(blocks)),
        results=results,
        images=tuple(block for block in blocks if _kind(block) in ("image", "image_url")),
        name=message.get("name"),
    )


def openai_message(
    role: str, text: str, calls: Sequence[Any] | None, call_id: str | None
) -> Message:
    """A message of our own short form, in OpenAI's; calls may be {'id', 'name', 'arguments'}."""
    message: Message = {"role": role, "content": clean_text(text, "text")}
    if calls:
        message["tool_calls"] = [_long_call(call) for call in calls]
    if call_id is not None:
        message["tool_call_id"] = clean_text(call_id, "tool_call_id")
    return message


def to_openai(original: Message, shape: str, said: Said) -> list[Message]:
    """The message in OpenAI's chat shape: results of an Anthropic message become messages of their
    own.
    """
    if shape == OPENAI:
        return [original]
    messages: list[Message] = [
        {"role": "tool", "tool_call_id": result.id, "content": as_text(result.content)}
        for result in said.results
    ]
    if said.text or said.calls or said.images:
        content: Any = said.text or None
        if said.images:
            parts = [{"type": "text", "text": said.text}] if said.text else []
            images = [_openai_image(image) for image in said.images]
            content = [*parts, *(image for image in images if image is not None)]
        message: Message = {"role": said.role, "content": content}
        if said.calls:
            message["tool_calls"] = [_call_to_openai(call) for call in said.calls]
        messages.append(message)
    return messages


def to_anthropic(original: Message, shape: str, said: Said) -> list[Message]:
    """The message in Anthropic's shape: no system message, and tool results are the user's."""
    if said.role == "system":
        return []
    if shape == ANTHROPIC:
        return [original]
    if said.role == "tool":
        return [{"role": "user", "content": [_result_to_anthropic(said.results[0])]}]
    if not said.calls and not said.images:
        return [{"role": said.role, "content": said.text}] if said.text else []
    blocks: list[Any] = [{"type": "text", "text": said.text}] if said.text else []
    blocks += [_anthropic_image(image) for image in said.images]
    blocks += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": _input(call.arguments)}
        for call in said.calls
    ]
    return [{"role": said.role, "content": blocks}]


def merged_turns(messages: Iterable[Message]) -> list[Message]:
    """Anthropic wants all results of a turn in the next user message, before its text."""
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last and last["role"] == message["role"] == "user" and _has_results(last):
            blocks = [*last["content"], *_blocks(message["content"])]
            blocks.sort(key=lambda block: _kind(block) != "tool_result")
            merged[-1] = {**last, "content": blocks}
        else:
            merged.append(message)
    return merged


def _has_results(message: Message) -> bool:
    content = message["content"]
    return isinstance(content, list) and any(_kind(block) == "tool_result" for block in content)


def _blocks(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def _kind(block: Any) -> Any:
    return block.get("type") if isinstance(block, Mapping) else None


def _texts(blocks: Iterable[Any]) -> str:
    found = [block for block in blocks if _kind(block) in ("text", "input_text", "output_text")]
    return "\n".join(str(block.get("text", "")) for block in found)


def _other_blocks(message: Message) -> bool:
    """Whether it holds blocks that are kept though their text is unknown to us."""
    content = message.get("content")
    return isinstance(content, list) and any(_kind(b) not in ("text", None) for b in content)


def as_text(content: Any) -> str:
    """What a tool's result says, whatever its form."""
    if isinstance(content, str):
        return content
    return _texts(content) if isinstance(content, list) else to_json(content)


def _openai_calls(message: Message) -> list[Call]:
    calls = []
    for call in message.get("tool_calls") or ():
        function = call.get("function") or call.get("custom") or {}
        arguments = function.get("arguments", function.get("input", ""))
        text = arguments if isinstance(arguments, str) else to_json(arguments)
        calls.append(Call(str(call.get("id", "")), str(function.get("name", "")), text))
    return calls


def _anthropic_calls(blocks: Iterable[Any]) -> list[Call]:
    return [
        Call(str(block.get("id", "")), str(block.get("name", "")), to_json(block.get("input", {})))
        for block in blocks
        if _kind(block) == "tool_use"
    ]


def _long_call(call: Any) -> Message:
    if not isinstance(call, Mapping) or not call.get("id"):
        raise InvalidInput(
            "A tool call has no id.", hint="Pass {'id': ..., 'name': ..., 'arguments': ...}."
        )
    if "function" in call or "name" not in call:
        return dict(call)
    arguments = call.get("arguments", {})
    text = arguments if isinstance(arguments, str) else to_json(plain(arguments, "arguments"))
    return _call_to_openai(Call(str(call["id"]), str(call["name"]), text))


def _call_to_openai(call: Call) -> Message:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _result(block: Mapping[str, Any]) -> Result:
    return Result(str(block.get("tool_use_id") or ""), block.get("content", ""))


def _result_to_anthropic(result: Result) -> Message:
    return {"type": "tool_result", "tool_use_id": result.id, "content": result.content}


def _input(arguments: str) -> Any:
    """Arguments as Anthropic's input, an object; other text is kept under a name."""
    try:
        found = json.loads(arguments or "{}")
    except ValueError:
        found = arguments
    return found if isinstance(found, dict) else {"arguments": found}


def _openai_image(block: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The image by its address or data; None for one that lies in the other provider's files."""
    if _kind(block) == "image_url":
        return block
    source = block.get("source", {})
    if "url" in source:
        return {"type": "image_url", "image_url": {"url": source["url"]}}
    if "data" not in source:
        return None
    url = f"data:{source.get('media_type')};base64,{source['data']}"
    return {"type": "image_url", "image_url": {"url": url}}


def _anthropic_image(block: Mapping[str, Any]) -> Mapping[str, Any]:
    if _kind(block) == "image":
        return block
    link = block.get("image_url", {})
    url = str(link.get("url", "") if isinstance(link, Mapping) else link)
    if url.startswith("data:") and ";base64," in url:
        media, _, data = url.removeprefix("data:").partition(";base64,")
        return {"type": "image", "source": {"type": "base64", "media_type": media, "data": data}}
    return {"type": "image", "source": {"type": "url", "url": url}}
