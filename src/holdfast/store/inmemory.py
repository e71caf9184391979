"""The store in memory: the contract without a disk, for tests and throw-away agents.

It keeps the same promises as the others except durability, and is the plainest reading of the
contract: lists and dictionaries under one lock.
"""

import os
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import islice

from ..errors import Conflict, Misconfigured, Unsupported
from ..values.hashing import keyed
from ..values.owner import Owner, Sight
from ..values.record import CHECKPOINT, EPISODE, FACT, MESSAGE, STEP, Record
from .contract import (
    KEY_KEPT_US,
    Applied,
    Batch,
    Cursor,
    Erase,
    Expected,
    Head,
    Once,
    Put,
)
from .points import reach

_Answer = tuple[Owner | None, bytes | None, str | None, int]


@dataclass(slots=True)
class _Tally:
    importance: float = 0.5
    hits: int = 0
    accessed_us: int | None = None


@dataclass
class Shelf:
    """What the handles of one in-memory database share."""

    salt: bytes = field(default_factory=lambda: os.urandom(32))
    lock: threading.RLock = field(default_factory=threading.RLock)
    places: dict[Owner, list[Record]] = field(default_factory=dict)
    versions: dict[str, list[Record]] = field(default_factory=dict)
    slots: dict[tuple[Owner, bytes], Record] = field(default_factory=dict)
    order: dict[Owner, tuple[int, int]] = field(default_factory=dict)
    sources: dict[str, list[str]] = field(default_factory=dict)
    tallies: dict[str, _Tally] = field(default_factory=dict)
    answers: dict[bytes, _Answer] = field(default_factory=dict)
    graves: dict[bytes, int] = field(default_factory=dict)
    workers: set[str] = field(default_factory=set)


class InMemoryStore:
    """A handle on a shelf; two handles on one shelf are two users of one database."""

    def __init__(self, shelf: Shelf | None = None, *, read_only: bool = False) -> None:
        self._shelf = shelf or Shelf()
        self._read_only = read_only
        self._closed = False
        self.salt = self._shelf.salt
        self.worker = os.urandom(8).hex()
        self._shelf.workers.add(self.worker)

    @contextmanager
    def _live(self) -> Iterator[Shelf]:
        if self._closed:
            raise Misconfigured("The memory is closed.", hint="Open it again.")
        with self._shelf.lock:
            yield self._shelf

    def apply(self, batch: Batch) -> Applied:
        """See Store.apply."""
        if self._read_only:
            raise Unsupported("The memory was opened read-only.", hint="Open it for writing.")
        with self._live() as shelf:
            if batch.once is not None:
                replayed = self._replay(batch.once, batch.now_us)
                if replayed is not None:
                    return Applied(replayed=replayed)
            for expected in batch.expected:
                self._check(expected)
            for put in batch.puts:
                self._refuse_erased(put.record)
            reach("commit.checked")
            erased = _Erasure(shelf, batch.erase, batch.now_us).run() if batch.erase else {}
            versions = tuple([self._put(put, batch.now_us) for put in batch.puts])
            self._tally(batch)
            if batch.once is not None:
                self._use_up(batch.once, batch.now_us)
        return Applied(versions, erased)

    def _key(self, once: Once) -> bytes:
        return keyed(self.salt, "batch", *once.owner, once.key)

    def _replay(self, once: Once, now_us: int) -> str | None:
        _, fingerprint, receipt, at = self._shelf.answers.get(self._key(once), _UNUSED)
        if at <= now_us - KEY_KEPT_US:
            return None
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
        return receipt

    def _use_up(self, once: Once, now_us: int) -> None:
        answers = self._shelf.answers
        for key in [key for key, answer in answers.items() if answer[3] <= now_us - KEY_KEPT_US]:
            del answers[key]
        answers[self._key(once)] = (once.owner, once.fingerprint, once.receipt, now_us)

    def _check(self, expected: Expected) -> None:
        if expected.slot is not None:
            found = self._shelf.slots.get((expected.owner, expected.slot))
        else:
            found = self._current(expected.owner, expected.id or "")
        actual = found.version if found else 0
        if actual != expected.version:
            raise Conflict(
                f"It is at version {actual}, you wrote on {expected.version}.",
                hint="Reload and retry.",
                actual=actual,
                expected=expected.version,
                slot=expected.slot,
                id=expected.id,
            )

    def _current(self, owner: Owner, id: str) -> Record | None:
        versions = self._shelf.versions.get(id)
        if versions and versions[-1].owner == owner and versions[-1].retired_us is None:
            return versions[-1]
        return None

    def _refuse_erased(self, record: Record) -> None:
        if keyed(self.salt, "record", record.id) in self._shelf.graves:
            raise Conflict(
                f"Record {record.id} was erased.", hint="Say it anew to store it.", id=record.id
            )

    def _put(self, put: Put, now_us: int) -> int:
        shelf, record = self._shelf, put.record
        seq, last = shelf.order.get(record.owner) or (0, self._erasure_of(record))
        if record.subject != record.owner.user:
            last = max(last, self._erasure_of(record))
        recorded = max(now_us, last + 1)
        version, created = 1, recorded
        if put.over != "append":
            version, created = self._make_room(put, recorded)
        sealed = replace(
            record, seq=seq + 1, version=version, recorded_us=recorded, created_us=created,
            sources=(), importance=0.5,
        )  # fmt: skip
        shelf.order[record.owner] = (seq + 1, recorded)
        shelf.places.setdefault(record.owner, []).append(sealed)
        shelf.versions.setdefault(record.id, []).append(sealed)
        if record.slot is not None:
            shelf.slots[record.owner, record.slot] = sealed
        if record.sources:
            edges = shelf.sources.setdefault(record.id, [])
            edges += [source for source in record.sources if source not in edges]
        return version

    def _erasure_of(self, record: Record) -> int:
        grave = keyed(self.salt, "subject", record.owner.tenant, record.subject)
        return self._shelf.graves.get(grave, 0) if record.subject else 0

    def _make_room(self, put: Put, recorded: int) -> tuple[int, int]:
        shelf, record = self._shelf, put.record
        same = self._current(record.owner, record.id)
        held = shelf.slots.get((record.owner, record.slot)) if record.slot else None
        before = [found for found in (same, held) if found is not None]
        for found in {found.seq: found for found in before}.values():
            if found.slot is not None:
                shelf.slots.pop((record.owner, found.slot), None)
            if put.over == "retire":
                self._swap(found, replace(found, retired_us=recorded))
            else:
                self._swap(found, None)
        version = max([found.version for found in before], default=0) + 1
        return version, same.created_us if same else recorded

    def _swap(self, old: Record, new: Record | None) -> None:
        for rows in (self._shelf.places[old.owner], self._shelf.versions[old.id]):
            place = next(n for n in range(len(rows) - 1, -1, -1) if rows[n].seq == old.seq)
            rows[place : place + 1] = [new] if new else []

    def _tally(self, batch: Batch) -> None:
        for change in batch.tallies:
            if not self._shelf.versions.get(change.id):
                continue
            tally = self._shelf.tallies.setdefault(change.id, _Tally())
            tally.hits += change.hits
            if change.accessed_us is not None:
                tally.accessed_us = change.accessed_us
            if change.importance is not None:
                tally.importance = change.importance

    def _whole(self, record: Record) -> Record:
        """The record with what lies outside of its row."""
        if record.form == EPISODE:
            return record
        tally = self._shelf.tallies.get(record.id) or _Tally()
        return replace(
            record, sources=tuple(self._shelf.sources.get(record.id, ())),
            importance=tally.importance, hits=tally.hits, accessed_us=tally.accessed_us,
        )  # fmt: skip

    def record(self, sight: Sight, id: str) -> Record | None:
        """See Store.record."""
        with self._live() as shelf:
            versions = shelf.versions.get(id)
            if not versions or not sight.admits(versions[-1].owner, versions[-1].subject):
                return None
            return self._whole(versions[-1])

    def holders(self, owner: Owner, slots: Sequence[bytes]) -> dict[bytes, Record]:
        """See Store.holders."""
        with self._live() as shelf:
            found = {slot: shelf.slots.get((owner, slot)) for slot in slots}
            return {slot: self._whole(record) for slot, record in found.items() if record}

    def scan(
        self,
        sight: Sight,
        *,
        now_us: int,
        forms: Sequence[str],
        kinds: Sequence[str] | None = None,
        thread: str | None = None,
        before: Cursor | None = None,
        limit: int | None = None,
    ) -> list[Record]:
        """See Store.scan."""

        def wanted(record: Record) -> bool:
            return (
                record.form in forms
                and (kinds is None or record.kind in kinds)
                and (thread is None or record.thread == thread)
                and (before is None or (record.recorded_us, record.id) < before)
                and (record.retired_us is None or record.form == EPISODE)
                and not record.expired(now_us)
                and sight.admits(record.owner, record.subject)
            )

        with self._live() as shelf:
            found: list[Record] = []
            for owner in sight.owners:
                newest = filter(wanted, reversed(shelf.places.get(owner, [])))
                found += newest if limit is None else islice(newest, limit)
            found.sort(key=lambda record: (record.recorded_us, record.id), reverse=True)
            return [self._whole(record) for record in found[:limit]]

    def states(self, owner: Owner, thread: str, *, number: int | None = None) -> Record | None:
        """See Store.states."""
        with self._live() as shelf:
            for record in reversed(shelf.places.get(owner, [])):
                mine = (record.form, record.thread) == (CHECKPOINT, thread)
                if mine and number in (None, record.version):
                    return record
        return None

    def heads(self, tenant: str | None, user: str | None, thread: str | None = None) -> list[Head]:
        """See Store.heads."""
        heads: dict[tuple[Owner, str], Head] = {}
        with self._live() as shelf:
            for owner, rows in shelf.places.items():
                if tenant not in (None, owner.tenant) or user not in (None, owner.user):
                    continue
                for record in rows:
                    if thread not in (None, record.thread) or not record.thread:
                        continue
                    head = heads.get((owner, record.thread)) or Head(owner, record.thread)
                    if (record.form, record.kind) == (EPISODE, MESSAGE):
                        head = replace(head, message=record)
                    elif record.form == STEP and record.kind != "done" and not record.retired_us:
                        head = replace(head, steps=(*head.steps, record))
                    if head.message or head.steps:
                        heads[owner, record.thread] = head
        return [heads[place] for place in sorted(heads)]

    def alive(self, worker: str) -> bool:
        """See Store.alive."""
        return worker in self._shelf.workers

    def scrub(self) -> bool:
        """See Store.scrub: nothing is left outside the rows."""
        return True

    def close(self) -> None:
        """See Store.close."""
        self._closed = True
        self._shelf.workers.discard(self.worker)


class _Erasure:
    """One erasure on a shelf: what is named, then what was derived from it alone."""

    def __init__(self, shelf: Shelf, what: Erase, now_us: int) -> None:
        self._shelf = shelf
        self._what = what
        tenant = [
            order for owner, order in shelf.order.items() if owner.tenant == what.owner.tenant
        ]
        self._at = max([now_us, *(recorded + 1 for _, recorded in tenant)])

    def run(self) -> dict[str, int]:
        """Erase, leave tombstones, and count the records by form."""
        shelf, what = self._shelf, self._what
        named = {id for id, rows in shelf.versions.items() if any(map(self._named, rows))}
        victims = named | self._derived(named)
        forms = Counter(shelf.versions[id][-1].form for id in victims)
        touched = {shelf.versions[id][-1].owner for id in victims}
        for id in victims:
            self._delete(id)
        for owner in touched:
            seq, _ = shelf.order[owner]
            shelf.order[owner] = (seq + 1, self._at)
        if what.subject is not None:
            shelf.graves[keyed(shelf.salt, "subject", what.owner.tenant, what.subject)] = self._at
            for owner in [owner for owner in shelf.order if self._own(owner)]:
                shelf.order.pop(owner)
                shelf.places.pop(owner, None)
        self._forget_receipts(victims, touched)
        return dict(forms)

    def _own(self, owner: Owner) -> bool:
        return (owner.tenant, owner.user) == (self._what.owner.tenant, self._what.subject)

    def _named(self, row: Record) -> bool:
        what = self._what
        if what.subject is not None:
            about = row.subject == what.subject and row.owner.tenant == what.owner.tenant
            return about or self._own(row.owner)
        return row.owner == what.owner and (
            row.id in what.ids
            or (what.slot is not None and row.slot == what.slot)
            or (what.thread is not None and row.thread == what.thread and row.form != FACT)
        )

    def _derived(self, named: set[str]) -> set[str]:
        shelf, what = self._shelf, self._what
        roots: list[tuple[str, str | None]] = [(id, None) for id in named]
        if what.thread is not None:
            roots.append((what.thread, what.owner.user))
        gone: set[str] = set()
        while roots:
            source, user = roots.pop()
            for id, edges in shelf.sources.items():
                owner = shelf.versions[id][-1].owner
                near = owner.tenant == what.owner.tenant and user in (None, owner.user)
                if source in edges and near:
                    edges.remove(source)
                    if not edges and id not in named | gone:
                        gone.add(id)
                        roots.append((id, None))
        return gone

    def _delete(self, id: str) -> None:
        shelf = self._shelf
        for row in shelf.versions.pop(id):
            if row.slot is not None and row.retired_us is None:
                shelf.slots.pop((row.owner, row.slot), None)
            rows = shelf.places[row.owner]
            rows[:] = [other for other in rows if other.seq != row.seq]
        shelf.sources.pop(id, None)
        shelf.tallies.pop(id, None)
        shelf.graves[keyed(shelf.salt, "record", id)] = self._at

    def _forget_receipts(self, victims: set[str], touched: set[Owner]) -> None:
        answers = self._shelf.answers
        for key, (owner, _, receipt, at) in list(answers.items()):
            if owner is None or receipt is None:
                continue
            named = owner in touched and any(id in receipt for id in victims)
            if named or (self._what.subject is not None and self._own(owner)):
                answers[key] = (None, None, None, at)


_UNUSED: _Answer = (None, None, None, -(1 << 62))
