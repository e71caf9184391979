"""Episodes: what happened in a thread, appended and never changed. Messages and typed notes."""

from collections.abc import Mapping
from typing import Any

from ..errors import InvalidInput
from ..values.message import ROLES, Message
from ..values.owner import Owner, clean_id, home_subject
from ..values.record import EPISODE, MESSAGE, SYSTEM, Record, new_id
from ..values.text import clean_text, plain, plain_mapping, said_text, to_json
from .shapes import as_text, checked, openai_message, shape_of

_CHANNELS = {"user": "user", "tool": "tool"}
_OF_MESSAGES = (MESSAGE, SYSTEM)


def message_body(
    said: str | Mapping[str, Any],
    text: str | None,
    *,
    name: str | None,
    metadata: Mapping[str, Any] | None,
    tool_calls: Any,
    tool_call_id: str | None,
) -> dict[str, Any]:
    """The body of a message given as role and text, or as a message in another's shape."""
    if isinstance(said, str):
        if said not in ROLES:
            raise InvalidInput("The role is unknown.", hint=f"Use one of {', '.join(ROLES)}.")
        short = text is not None and not tool_calls and tool_call_id is None and said != "tool"
        if short and text is not None:
            body: dict[str, Any] = {"role": said, "text": said_text(text, "text")}
            return _with(body, name, metadata)
        message: Any = openai_message(said, text or "", tool_calls, tool_call_id)
    elif text is not None or tool_calls is not None or tool_call_id is not None:
        raise InvalidInput(
            "Both a whole message and parts of one were given.", hint="Put the parts into it."
        )
    else:
        message = said
    original, normal = checked(message)
    text = normal.text or "\n".join(as_text(result.content) for result in normal.results)
    body = {"role": original["role"], "text": text}
    if original != body_of_short(body):
        body |= {"shape": shape_of(original), "original": original}
    return _with(body, name or normal.name, metadata)


def body_of_short(body: Mapping[str, Any]) -> Message:
    """The message that a body without an original stands for."""
    return {"role": body["role"], "content": body["text"]}


def _with(
    body: dict[str, Any], name: str | None, metadata: Mapping[str, Any] | None
) -> dict[str, Any]:
    if name is not None:
        body["name"] = clean_text(name, "name")
    if metadata is not None:
        body["metadata"] = plain_mapping(metadata, "metadata")
    return body


def note_body(
    text: str, emotion: str | None, outcome: str | None, payload: Any, metadata: Any
) -> dict[str, Any]:
    """The body of a typed note: a decision, an error, its resolution, an insight, any word."""
    body: dict[str, Any] = {"text": said_text(text, "text")}
    if emotion is not None:
        body["emotion"] = said_text(emotion, "emotion")
    if outcome is not None:
        body["outcome"] = said_text(outcome, "outcome")
    if payload is not None:
        body["payload"] = plain(payload, "payload")
    return _with(body, None, metadata)


def note_kind(kind: str) -> str:
    """The kind of a note: any word but those that stand for messages."""
    if clean_id(kind, "kind") in _OF_MESSAGES:
        raise InvalidInput("That kind is kept for messages.", hint="Use thread.add().")
    return kind


def message_kind(body: Mapping[str, Any]) -> str:
    """System messages have a kind of their own, so that a thread's is found among thousands."""
    return SYSTEM if body["role"] in ("system", "developer") else MESSAGE


def episode_body(body: dict[str, Any], author: str) -> str:
    """The body as it is kept, with who wrote it and by which door it came.

    Made at once: what the caller changes afterwards in the objects given is not meant.
    """
    provenance = {"author": author} if author else {}
    channel = _CHANNELS.get(body.get("role", ""), "agent")
    return to_json({**body, **provenance, "channel": channel})


def episode(
    owner: Owner, thread: str, kind: str, body: str, at_us: int | None, now_us: int
) -> Record:
    """The record of an episode; `at_us` is when it happened if that was not now."""
    return Record(
        id=new_id(now_us), owner=owner, form=EPISODE, kind=kind, body=body,
        occurred_us=now_us if at_us is None else at_us, subject=home_subject(owner), thread=thread,
    )  # fmt: skip
