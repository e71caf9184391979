"""The contract of a store: what every backend promises, on one page.

S1  `apply` is the only way to write: all of the batch or nothing, durable on return.
S2  What the batch expects is checked inside the same transaction, before anything is written.
S3  An idempotency key is used up by the batch that commits with it, for seven days: the same key
    with the same fingerprint answers what was answered then, with another one it is a Conflict.
    When a record named in the receipt is erased, the receipt goes and the key stays refused.
S4  Within an owner `seq` grows with each write, and a deletion takes one too; `recorded_us` grows
    strictly, never goes back with the clock, and lies after the last erasure of the record's
    subject.
S5  A read takes a sight or an owner; nothing outside of it is returned, counted or told apart from
    absent.
S6  A record is returned as it was written (its checksum fits), or Corrupt is raised.
S7  After an erasure no read returns the record or any version of it, and no write brings its id
    back.

An id is unique over the whole store. Text is ordered by its UTF-8 bytes. A thread's name is unique
within its owner; as a source it is looked for with the owner's user, or where there is none with
the owner's agent alone. Counts of what was erased are of records, not of versions.

A store knows nothing of prompts, ranking or message shapes. No error of a driver leaves it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from ..values.owner import Owner, Sight
from ..values.record import Record

Durability = Literal["full", "normal"]
Over = Literal["append", "retire", "drop"]
KEY_KEPT_US = 7 * 24 * 3600 * 1_000_000


@dataclass(frozen=True, slots=True)
class Put:
    """One record to write.

    `over` says what becomes of the current record with the same id, and of the one in the same
    slot: 'append' looks for neither (an episode has no slot), 'retire' keeps them as history,
    'drop' removes them. The new record's version is one above theirs.
    """

    record: Record
    over: Over = "append"


@dataclass(frozen=True, slots=True)
class Expected:
    """What the caller last saw: the current version in a slot or of an id; 0: none."""

    owner: Owner
    version: int
    slot: bytes | None = None
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Once:
    """An idempotency key: unique within the owner, used up by the batch that commits with it.

    `receipt` is a JSON list of lists, each beginning with the id of a record: when that is erased,
    the receipt goes too.
    """

    owner: Owner
    key: str
    fingerprint: bytes
    receipt: str = ""


@dataclass(frozen=True, slots=True)
class Erase:
    """What to erase: records by id, all that ever held a slot, a thread, or a subject in a tenant.

    What was derived from it goes too: a record whose only sources are erased; one that has others
    loses the edge alone. Ids and threads need the owner, a subject only the tenant.
    """

    owner: Owner
    ids: tuple[str, ...] = ()
    slot: bytes | None = None
    thread: str | None = None
    subject: str | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a record was recalled, and its importance: kept outside its row."""

    owner: Owner
    id: str
    hits: int = 0
    accessed_us: int | None = None
    importance: float | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """What is written together or not at all.

    `durability` None is the store's own; 'full' survives a power cut whatever the store's setting.
    """

    now_us: int
    puts: Sequence[Put] = ()
    expected: Sequence[Expected] = ()
    erase: Erase | None = None
    tallies: Sequence[Tally] = ()
    once: Once | None = None
    durability: Durability | None = None


@dataclass(frozen=True, slots=True)
class Applied:
    """What the store made of a batch: versions in the order of the puts; counts of what was erased
    by form; `replayed` is the receipt kept under the idempotency key when nothing was written
    now.
    """

    versions: tuple[int, ...] = ()
    erased: Mapping[str, int] = field(default_factory=dict)
    replayed: str | None = None


@dataclass(frozen=True, slots=True)
class Head:
    """Where a thread stands: its newest message (None: it has none) and its steps that are not
    done.
    """

    owner: Owner
    thread: str
    message: Record | None = None
    steps: tuple[Record, ...] = ()


Cursor = tuple[int, str]


class Store(Protocol):
    """Records of many owners. Safe to use from several threads."""

    salt: bytes
    """32 random bytes of this store, made once: the key of its keyed hashes."""

    worker: str
    """Names the process (or handle) that works here, for claims."""

    def apply(self, batch: Batch) -> Applied:
        """Write a batch: all of it or nothing, durable on return (S1 to S4, S7).

        Raises Conflict when something expected has moved on (`error.slot`, `error.id` name it),
        when the key was used for other arguments, or when an id was erased; Busy when the store
        cannot be had in time; Unavailable when the disk or the server fails; Unsupported on a
        read-only store.
        """

    def answered(self, once: Once, now_us: int) -> str | None:
        """The receipt kept under the key; None when it is free. Raises as `apply` does (S3)."""

    def record(self, sight: Sight, id: str) -> Record | None:
        """The newest version of a record, superseded or not, expired or not; None when not in
        sight.
        """

    def holders(self, owner: Owner, slots: Sequence[bytes]) -> dict[bytes, Record]:
        """The current records in these slots, expired ones too; a free slot is absent."""

    def scan(
        self,
        sight: Sight,
        *,
        now_us: int,
        forms: Sequence[str],
        kinds: Sequence[str] | None = None,
        before: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Record]:
        """Current records in sight, newest first by (recorded_us, id), without expired ones.

        `before` continues after the record with that recorded time and id.
        """

    def episodes(
        self,
        owner: Owner,
        thread: str,
        *,
        now_us: int,
        kinds: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[Record]:
        """A thread's episodes, newest first by sequence, without expired ones and tallies."""

    def states(self, owner: Owner, thread: str, *, number: int | None = None) -> Record | None:
        """The thread's checkpoint of that number, or its newest; None when there is none."""

    def heads(self, tenant: str | None, user: str | None, thread: str | None = None) -> list[Head]:
        """Threads of a tenant (None: of all) and user (None: of all), in order of owner and id."""

    def alive(self, worker: str) -> bool:
        """False only when that worker is known to be gone."""

    def scrub(self) -> bool:
        """Remove what erasures left outside the rows (logs); False when somebody still holds it."""

    def close(self) -> None:
        """Release everything; a second call does nothing. Other calls raise Misconfigured then."""
