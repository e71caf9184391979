"""One commit group's work inside its open transaction.

A batch is checked by reads alone before its first write, so that a Conflict leaves nothing to undo
and the other batches of the group go on. An unforeseen error of SQLite may have taken part of a
batch with it: then the writer rolls the whole group back and tries each batch alone.
"""

import sqlite3
from dataclasses import dataclass

from ...errors import Conflict
from ...values.hashing import keyed
from ...values.owner import Owner, home_subject
from ...values.record import Record
from ..contract import KEY_KEPT_US, Applied, Batch, Expected, Once, Put
from ..points import reach
from ..wire import COLUMNS, to_row
from .erase import Moment, Sql, erase

_INSERT = f"INSERT INTO records ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
# Without statistics the planner would rather read an owner's whole place than look an id up.
_BEFORE = """
SELECT seq, id, version, created_us FROM records INDEXED BY records_by_id
WHERE id = :id AND owner = :owner AND retired_us IS NULL
UNION
SELECT seq, id, version, created_us FROM records INDEXED BY records_by_slot
WHERE owner = :owner AND slot = :slot AND retired_us IS NULL
"""
_TALLY = """
INSERT INTO tallies (id, owner, importance, hits, accessed_us) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    importance = coalesce(excluded.importance, importance),
    hits = hits + excluded.hits,
    accessed_us = coalesce(excluded.accessed_us, accessed_us)
"""
_PURGED_AT_ONCE = 16


@dataclass(slots=True)
class Place:
    """Where an owner's order stands: its number, its newest sequence and recorded time."""

    number: int
    seq: int
    recorded_us: int


def answered(sql: Sql, salt: bytes, once: Once, now_us: int) -> str | None:
    """The receipt kept under a key, None when it is free; Conflict when it may not be used (S3)."""
    found = sql(
        "SELECT fingerprint, receipt FROM batches WHERE key = ? AND recorded_us > ?",
        (_key(salt, once), now_us - KEY_KEPT_US),
    ).fetchone()
    if found is None:
        return None
    fingerprint, receipt = found
    if receipt is None:
        raise Conflict(
            "The idempotency key belongs to something that was erased.",
            hint="Use a new key if it is to be stored again.",
        )
    if fingerprint != once.fingerprint:
        raise Conflict(
            "The idempotency key was used with other arguments.",
            hint="Use one key for one write; a retry repeats its arguments exactly.",
        )
    return str(receipt)


def _key(salt: bytes, once: Once) -> bytes:
    return keyed(salt, "batch", *once.owner, once.key)


class Session:
    """Applies batches in one transaction; `wrote` tells whether there is anything to commit."""

    def __init__(self, connection: sqlite3.Connection, salt: bytes) -> None:
        self._sql = connection.execute
        self._salt = salt
        self._places: dict[Owner, Place] = {}
        (self._top,) = self._sql(
            "SELECT max(coalesce((SELECT max(seq) FROM records), 0), value) FROM meta"
            " WHERE name = 'top'"
        ).fetchone()
        (self._erased,) = self._sql("SELECT EXISTS (SELECT 1 FROM tombstones)").fetchone()
        self.wrote = False

    def apply(self, batch: Batch) -> Applied:
        """Check the batch, then write it; an error of ours comes before its first write."""
        if batch.once is not None:
            replayed = answered(self._sql, self._salt, batch.once, batch.now_us)
            if replayed is not None:
                return Applied(replayed=replayed)
        for expected in batch.expected:
            self._check(expected)
        for put in batch.puts:
            self._refuse_erased(put.record)
        reach("commit.checked")
        self.wrote = True
        erased = self._erase(batch)
        versions = tuple([self._put(put, batch.now_us) for put in batch.puts])
        self._tally(batch)
        if batch.once is not None:
            self._use_up(batch.once, batch.now_us)
        reach("commit.written")
        return Applied(versions, erased)

    def finish(self) -> None:
        """Write where each owner's order stands now."""
        for place in self._places.values():
            self._sql(
                "UPDATE owners SET seq = ?, recorded_us = ? WHERE owner = ?",
                (place.seq, place.recorded_us, place.number),
            )

    def _use_up(self, once: Once, now_us: int) -> None:
        self._sql(
            "DELETE FROM batches WHERE key IN"
            " (SELECT key FROM batches WHERE recorded_us <= ? ORDER BY recorded_us LIMIT ?)",
            (now_us - KEY_KEPT_US, _PURGED_AT_ONCE),
        )
        self._sql(
            "INSERT OR REPLACE INTO batches VALUES (?, ?, ?, ?, ?)",
            (
                _key(self._salt, once),
                self._place(once.owner).number,
                once.fingerprint,
                once.receipt,
                now_us,
            ),
        )

    def _check(self, expected: Expected) -> None:
        column = "slot" if expected.slot is not None else "id"
        found = self._sql(
            f"SELECT version FROM records INDEXED BY records_by_{column}"
            f" WHERE {column} = ? AND retired_us IS NULL AND owner ="
            " (SELECT owner FROM owners WHERE tenant = ? AND user = ? AND agent = ?)",
            (expected.slot if expected.slot is not None else expected.id, *expected.owner),
        ).fetchone()
        actual = found[0] if found else 0
        if actual != expected.version:
            raise Conflict(
                f"It is at version {actual}, you wrote on {expected.version}.",
                hint="Reload and retry.",
                actual=actual,
                expected=expected.version,
                slot=expected.slot,
                id=expected.id,
            )

    def _refuse_erased(self, record: Record) -> None:
        if not self._erased:
            return
        what = keyed(self._salt, "record", record.id)
        if self._sql("SELECT 1 FROM tombstones WHERE what = ?", (what,)).fetchone():
            raise Conflict(
                f"Record {record.id} was erased.", hint="Say it anew to store it.", id=record.id
            )

    def _place(self, owner: Owner) -> Place:
        place = self._places.get(owner)
        if place is None:
            found = self._sql(
                "SELECT owner, seq, recorded_us FROM owners"
                " WHERE tenant = ? AND user = ? AND agent = ?",
                owner,
            ).fetchone()
            place = Place(*found) if found else self._new_place(owner)
            self._places[owner] = place
        return place

    def _new_place(self, owner: Owner) -> Place:
        recorded = self._erasure_of(owner.tenant, home_subject(owner))
        (number,) = self._sql(
            "INSERT INTO owners (tenant, user, agent, seq, recorded_us) VALUES (?, ?, ?, ?, ?)"
            " RETURNING owner",
            (*owner, self._top, recorded),
        ).fetchone()
        return Place(number, self._top, recorded)

    def _erasure_of(self, tenant: str, subject: str) -> int:
        if not subject or not self._erased:
            return 0
        found = self._sql(
            "SELECT erased_us FROM tombstones WHERE what = ?",
            (keyed(self._salt, "subject", tenant, subject),),
        ).fetchone()
        return int(found[0]) if found else 0

    def _put(self, put: Put, now_us: int) -> int:
        record = put.record
        place = self._place(record.owner)
        earliest = place.recorded_us
        if record.subject != record.owner.user:
            earliest = max(earliest, self._erasure_of(record.owner.tenant, record.subject))
        recorded = max(now_us, earliest + 1)
        version, created = 1, recorded
        if put.over != "append":
            version, created = self._make_room(put, place.number, recorded)
        self._top = seq = max(self._top, place.seq) + 1
        place.seq, place.recorded_us = seq, recorded
        sealed = record._replace(seq=seq, version=version, recorded_us=recorded, created_us=created)
        self._sql(_INSERT, to_row(sealed, place.number))
        for source in record.sources:
            edge = (place.number, record.id, source)
            self._sql("INSERT OR IGNORE INTO sources VALUES (?, ?, ?)", edge)
        return version

    def _make_room(self, put: Put, owner: int, recorded: int) -> tuple[int, int]:
        """Retire or drop what the new record takes the place of; its version and creation time."""
        record = put.record
        version, created = 0, recorded
        where = {"id": record.id, "owner": owner, "slot": record.slot}
        for seq, id, old_version, old_created in self._sql(_BEFORE, where).fetchall():
            version = max(version, old_version)
            if id == record.id:
                created = old_created
            if put.over == "retire":
                self._sql("UPDATE records SET retired_us = ? WHERE seq = ?", (recorded, seq))
            else:
                self._sql("DELETE FROM records WHERE seq = ?", (seq,))
        return version + 1, created

    def _tally(self, batch: Batch) -> None:
        """Count only what is still there: a recall may be tallied after the record was erased."""
        for tally in batch.tallies:
            there = self._sql("SELECT 1 FROM records WHERE id = ? LIMIT 1", (tally.id,)).fetchone()
            if there:
                self._sql(
                    _TALLY,
                    (
                        tally.id,
                        self._place(tally.owner).number,
                        tally.importance,
                        tally.hits,
                        tally.accessed_us,
                    ),
                )

    def _erase(self, batch: Batch) -> dict[str, int]:
        if batch.erase is None:
            return {}
        # A deletion takes a sequence number and a moment of its own, later than all it erases.
        self.finish()
        self._places.clear()
        (newest,) = self._sql(
            "SELECT coalesce(max(recorded_us), 0) FROM owners WHERE tenant = ?",
            (batch.erase.owner.tenant,),
        ).fetchone()
        erased_us = max(batch.now_us, newest + 1)
        (top,) = self._sql("SELECT coalesce(max(seq), 0) FROM owners").fetchone()
        self._top = max(self._top, top) + 1
        # The rows that held the newest numbers may go; the numbers are not given again.
        self._sql("UPDATE meta SET value = ? WHERE name = 'top'", (self._top,))
        counts = erase(self._sql, self._salt, batch.erase, Moment(self._top, erased_us))
        self._erased = 1
        return counts
