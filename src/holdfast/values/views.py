"""Records as callers see them: the JSON body unpacked, counts of microseconds as datetimes."""

import json
from collections.abc import Mapping
from typing import Any

from .hit import Hit
from .message import Episode
from .record import EPISODE, FACT, Record
from .times import moment

_decoder = json.JSONDecoder()


def body_of(record: Record) -> dict[str, Any]:
    """The JSON body of a message, note or fact."""
    # Written by us and covered by the checksum: no white space to skip, nothing behind it.
    body: dict[str, Any] = _decoder.raw_decode(str(record.body))[0]
    return body


def as_hit(
    record: Record,
    *,
    score: float = 0.0,
    relevance: float = 1.0,
    why: Mapping[str, Any] | None = None,
    access_count: int | None = None,
) -> Hit:
    """A fact, message or note as a hit."""
    body = body_of(record)
    return Hit(
        id=record.id,
        text=body.get("text", ""),
        kind=record.kind,
        tier=tier_of(record),
        at=moment(record.occurred_us),
        created_at=moment(record.created_us),
        version=record.version,
        key=record.key or None,
        score=score,
        relevance=relevance,
        why=why or {},
        sources=tuple(source for source in record.sources if source),
        thread=record.thread or None,
        role=body.get("role"),
        name=body.get("name"),
        metadata=body.get("metadata", {}),
        tags=tuple(body.get("tags", ())),
        subject=record.subject or None,
        author=body.get("author"),
        channel=body.get("channel", "agent"),
        importance=record.importance,
        confidence=body.get("confidence", 1.0),
        valid_from=_optional(record.valid_from_us),
        valid_to=_optional(record.valid_to_us),
        expires_at=_optional(record.expires_us),
        accessed_at=_optional(record.accessed_us),
        access_count=record.hits if access_count is None else access_count,
    )


def as_episode(record: Record) -> Episode:
    """A message or note of a thread."""
    body = body_of(record)
    message = original_of(body) if "role" in body else None
    return Episode(
        id=record.id,
        kind=record.kind,
        text=body.get("text", ""),
        at=moment(record.occurred_us),
        recorded_at=moment(record.recorded_us),
        metadata=body.get("metadata", {}),
        role=body.get("role"),
        name=body.get("name"),
        message=message,
        shape=body.get("shape", "openai") if message is not None else None,
        emotion=body.get("emotion"),
        outcome=body.get("outcome"),
        payload=body.get("payload"),
    )


def original_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The message as it was given; a plain one is kept as its role and text alone."""
    given = body.get("original")
    if given is not None:
        original: dict[str, Any] = given
        return original
    message = {"role": body["role"], "content": body["text"]}
    if body.get("name"):
        message["name"] = body["name"]
    return message


def tier_of(record: Record) -> str:
    """Facts are semantic, unless they expire; what happened is episodic."""
    if record.form == FACT and record.expires_us is None:
        return "semantic"
    return "episodic" if record.form in (EPISODE, FACT) else "state"


def _optional(micros: int | None) -> Any:
    return None if micros is None else moment(micros)
