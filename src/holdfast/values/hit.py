"""What a caller sees of a record, found by recall or listed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any, overload


def _nothing() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Hit:
    """One record. `score` only orders; `relevance` lies in [0, 1]; `why` names what made them up.

    In a listing nothing was ranked: the score is 0 and the relevance 1.
    """

    id: str
    text: str
    kind: str
    tier: str
    at: datetime
    created_at: datetime
    version: int
    key: str | None = None
    score: float = 0.0
    relevance: float = 1.0
    why: Mapping[str, Any] = field(default_factory=_nothing)
    sources: tuple[str, ...] = ()
    thread: str | None = None
    role: str | None = None
    name: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=_nothing)
    tags: tuple[str, ...] = ()
    subject: str | None = None
    author: str | None = None
    channel: str = "agent"
    importance: float = 0.5
    confidence: float = 1.0
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    accessed_at: datetime | None = None
    access_count: int = 0

    @property
    def source(self) -> str | None:
        """Where it was learned first; `sources` has them all."""
        return self.sources[0] if self.sources else None

    @property
    def length(self) -> int:
        """Characters of the text."""
        return len(self.text)


class Page(list[Hit]):
    """A page of a listing; pass `.next` as `after=` for the following one (None: this was the
    last).
    """

    def __init__(self, hits: Sequence[Hit], next: str | None) -> None:
        super().__init__(hits)
        self.next = next


@dataclass(frozen=True, slots=True)
class Found(Sequence[Hit]):
    """What recall found: a sequence of hits whose `str()` is the block for the prompt."""

    hits: tuple[Hit, ...] = ()
    text: str = field(default="", repr=False)
    incomplete: bool = False

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Hit]: ...
    def __getitem__(self, index: int | slice) -> Hit | Sequence[Hit]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __str__(self) -> str:
        return self.text
