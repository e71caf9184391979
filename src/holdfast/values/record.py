"""A record as the stores keep it: a header of plain columns and one body.

In the header stands only what is searched or can never be recovered. The body is text (JSON) for
messages and knowledge, so that any SQL tool can read it, and bytes for states. `sources`,
`importance`, `hits` and `accessed_us` live outside the checksummed row: they change without moving
the sequence.
"""

import os
from typing import NamedTuple

from .owner import Owner

EPISODE, FACT, CHECKPOINT, STEP = "episode", "fact", "checkpoint", "step"
MESSAGE, SYSTEM, PREFERENCE = "message", "system", "preference"
CODEC = 1


class Record(NamedTuple):
    """One version of one record. The store assigns `seq`, `version` and `recorded_us`.

    A named tuple, since thousands are made for one recall: a frozen dataclass costs four times
    that.
    """

    id: str
    owner: Owner
    form: str
    kind: str
    body: str | bytes
    occurred_us: int
    subject: str = ""
    thread: str = ""
    key: str = ""
    slot: bytes | None = None
    valid_from_us: int | None = None
    valid_to_us: int | None = None
    expires_us: int | None = None
    codec: int = CODEC
    version: int = 0
    seq: int = 0
    recorded_us: int = 0
    created_us: int = 0
    retired_us: int | None = None
    sources: tuple[str, ...] = ()
    importance: float = 0.5
    hits: int = 0
    accessed_us: int | None = None

    def __repr__(self) -> str:
        return f"<Record {self.id} version {self.version}>"  # the body is nobody else's business

    def expired(self, now_us: int) -> bool:
        """Whether its time to live has run out."""
        return self.expires_us is not None and self.expires_us <= now_us


def new_id(now_us: int) -> str:
    """A UUIDv7 of the injected clock: it sorts by time, its rest is random."""
    millis, micros = divmod(max(now_us, 0), 1_000)
    random = int.from_bytes(os.urandom(8)) >> 2
    number = (millis & (1 << 48) - 1) << 80 | 7 << 76 | (micros * 4_096 // 1_000) << 64
    text = f"{number | 2 << 62 | random:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
