"""One episode of a thread, and the list of messages that goes to an LLM."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Message = dict[str, Any]
ROLES = ("system", "developer", "user", "assistant", "tool")


@dataclass(frozen=True, slots=True)
class Episode:
    """Something that happened in a thread: a message with its role, or a note with its kind.

    `message` is the original as it was given, nothing lost; `shape` names whose form it has.
    """

    id: str
    kind: str
    text: str
    at: datetime
    recorded_at: datetime
    metadata: Mapping[str, Any]
    role: str | None = None
    name: str | None = None
    message: Message | None = None
    shape: str | None = None
    emotion: str | None = None
    outcome: str | None = None
    payload: Any = None


class Messages(list[Message]):
    """Messages ready for an LLM; `.system` is the system prompt alone.

    Anthropic's API takes the system prompt beside the messages, so in that shape it stands here
    only.
    """

    def __init__(self, messages: Iterable[Message], system: str | None) -> None:
        super().__init__(messages)
        self.system = system
