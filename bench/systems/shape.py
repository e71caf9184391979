"""The one small shape that holdfast, the floor and every peer are measured through."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

Operation = Callable[[str, str], object]


class System(Protocol):
    """One opened system. Calls may come from several threads, each on a thread name of its own."""

    def operations(self) -> dict[str, Operation]:
        """The writes it knows, each as `write(thread, text)` that returns once acknowledged.

        "message" is one message of a conversation, "fact" one remembered statement, and "turn"
        all that one turn of an agent leaves behind, in the way the system itself does that.
        """

    def readers(self) -> dict[str, Callable[[str], Sequence[Any]]]:
        """The ways to read the newest twenty messages of a thread."""

    def fill(self, thread: str, texts: Sequence[str]) -> None:
        """Bring messages in as fast as the system allows; no measurement is taken here."""

    def kept(self, thread: str) -> int:
        """How many messages of the thread a reader finds."""

    def close(self) -> None:
        """Close as a well-behaved program does."""
