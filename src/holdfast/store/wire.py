"""Records as rows: the columns that every SQL backend shares, and the checksum on both sides of the
disk.

The checksum is bound to the record's id, owner and place, so that a row moved or mixed up by a
fault below us is found as surely as a flipped bit. Retirement, sources and tallies stand outside of
it (they change later), and so does the index row that recall may add.
"""

from collections.abc import Sequence
from hashlib import blake2b
from struct import Struct
from typing import Any

from ..errors import Corrupt, Unsupported
from ..values.owner import Owner, home_subject
from ..values.record import CODEC, Record

COLUMNS = (
    "seq", "owner", "id", "version", "form", "kind", "about", "thread", "key", "slot",
    "occurred_us", "recorded_us", "created_us", "valid_from_us", "valid_to_us", "expires_us",
    "retired_us", "codec", "checksum", "body",
)  # fmt: skip


_NUMBERS = Struct("<9q")
_ABSENT = -(1 << 63)


def checksum(record: Record) -> bytes:
    """8 bytes over the body and every column that does not change once written."""
    begins, ends, expires = record.valid_from_us, record.valid_to_us, record.expires_us
    numbers = _NUMBERS.pack(
        record.seq, record.version, record.codec, record.occurred_us, record.recorded_us,
        record.created_us, _ABSENT if begins is None else begins,
        _ABSENT if ends is None else ends, _ABSENT if expires is None else expires,
    )  # fmt: skip
    owner, body = record.owner, record.body
    names = (
        f"{record.id}\x1f{owner.tenant}\x1f{owner.user}\x1f{owner.agent}\x1f{record.form}\x1f"
        f"{record.kind}\x1f{record.subject}\x1f{record.thread}\x1f{record.key}\x1f"
    )
    words = (names + body).encode() if isinstance(body, str) else names.encode() + body
    return blake2b(numbers + words, digest_size=8).digest()


def to_row(record: Record, owner_number: int) -> tuple[Any, ...]:
    """The row of a record, in the order of COLUMNS; a subject that is the owner's user is not
    repeated.
    """
    return (
        record.seq, owner_number, record.id, record.version, record.form, record.kind,
        None if record.subject == home_subject(record.owner) else record.subject,
        record.thread or None, record.key or None, record.slot,
        record.occurred_us, record.recorded_us, record.created_us, record.valid_from_us,
        record.valid_to_us, record.expires_us, None, record.codec, checksum(record), record.body,
    )  # fmt: skip


def from_row(row: Sequence[Any], owner: Owner, extra: Sequence[Any]) -> Record:
    """The record of a row whose checksum fits, else Corrupt. `extra`: sources, importance, hits,
    time.
    """
    (seq, _, id, version, form, kind, about, thread, key, slot, occurred, recorded, created,
     valid_from, valid_to, expires, retired, codec, written, body) = row  # fmt: skip
    if codec != CODEC:
        raise Unsupported(
            f"Record {id} was written in format {codec}.", hint="Upgrade holdfast.", record=id
        )
    sources, importance, hits, accessed = extra
    record = Record(
        id, owner, form, kind, body, occurred,
        home_subject(owner) if about is None else about, thread or "", key or "", slot,
        valid_from, valid_to, expires, codec, version, seq, recorded, created, retired,
        sources, 0.5 if importance is None else importance, hits or 0, accessed,
    )  # fmt: skip
    if checksum(record) != written:
        raise Corrupt(
            f"Record {id} fails its checksum: it is not what was written.",
            hint="Stop writing to this file and restore a copy.",
            record=id,
        )
    return record
