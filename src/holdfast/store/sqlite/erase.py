"""Erasing: the rows of every table, and what was derived from them.

E1  Every table of the schema has a rule here; a test compares the two lists.
E2  What had an erased source alone goes too; what has other sources loses that edge.
E3  What stays behind holds no content and no name: keyed hashes and times.
"""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ...values.hashing import keyed
from ..contract import Erase

Sql = Callable[..., sqlite3.Cursor]
Victims = dict[str, int]
"""Ids of the records to erase, with the number of their owner."""


class Moment(NamedTuple):
    """The sequence number and the time that an erasure takes."""

    seq: int
    erased_us: int


RULES = {
    "records": "all versions of each record go",
    "sources": "edges from and to each record go",
    "tallies": "go with their record",
    "batches": "the receipt goes; the hashed key stays for its seven days to refuse a late retry",
    "owners": "a subject's own places go once empty",
    "tombstones": "one is written: keyed hashes only",
    "meta": "holds nothing of a user",
    "migrations": "holds nothing of a user",
}


def erase(sql: Sql, salt: bytes, what: Erase, moment: Moment) -> dict[str, int]:
    """Delete what is named, and return how many records went, by form."""
    victims = dict(_named(sql, what))
    victims |= _derived(sql, what, victims)
    counts = _delete(sql, victims)
    own = _own_places(sql, what) if what.subject is not None else []
    _forget_receipts(sql, what.owner.tenant, victims, own)
    for number in own:
        sql("DELETE FROM owners WHERE owner = ?", (number,))
    for number in {*victims.values()}.difference(own):
        sql(
            "UPDATE owners SET seq = ?, recorded_us = ? WHERE owner = ?",
            (moment.seq, moment.erased_us, number),
        )
    _bury(sql, salt, what, victims, moment.erased_us)
    return counts


def _named(sql: Sql, what: Erase) -> Iterator[tuple[str, int]]:
    owner = "(SELECT owner FROM owners WHERE tenant = ? AND user = ? AND agent = ?)"
    if what.subject is not None:
        for number in _own_places(sql, what):
            yield from sql("SELECT DISTINCT id, owner FROM records WHERE owner = ?", (number,))
        yield from sql(
            "SELECT DISTINCT r.id, r.owner FROM records AS r JOIN owners AS o ON o.owner = r.owner"
            " WHERE r.about = ? AND o.tenant = ?",
            (what.subject, what.owner.tenant),
        )
    if what.thread is not None:
        yield from sql(
            "SELECT DISTINCT id, owner FROM records"
            f" WHERE thread = ? AND form <> 'fact' AND owner = {owner}",
            (what.thread, *what.owner),
        )
    if what.slot is not None:
        # Every record that ever held the slot: the superseded ones as well.
        yield from sql(
            f"SELECT DISTINCT id, owner FROM records WHERE slot = ? AND owner = {owner}",
            (what.slot, *what.owner),
        )
    for id in what.ids:
        yield from sql(
            f"SELECT DISTINCT id, owner FROM records WHERE id = ? AND +owner = {owner}",
            (id, *what.owner),
        )


def _own_places(sql: Sql, what: Erase) -> list[int]:
    return [
        number
        for (number,) in sql(
            "SELECT owner FROM owners WHERE tenant = ? AND user = ?",
            (what.owner.tenant, what.subject),
        )
    ]


def _derived(sql: Sql, what: Erase, named: Victims) -> Victims:
    """Records whose last source goes, and what was derived from those in turn (E2).

    An id is unique, so its edges are looked for in the whole tenant. A thread's name is not: only
    with its user (private records too), or where it has none with its agent.
    """
    near = "o.user = ? AND (o.user <> '' OR o.agent = ?)"
    roots: list[tuple[str, bool]] = [(id, False) for id in named]
    if what.thread is not None:
        roots.append((what.thread, True))
    gone: Victims = {}
    while roots:
        source, is_thread = roots.pop()
        edges = sql(
            "SELECT s.id, s.owner FROM sources AS s JOIN owners AS o ON o.owner = s.owner"
            f" WHERE s.source = ? AND o.tenant = ? {f'AND {near}' if is_thread else ''}",
            (source, what.owner.tenant, *(what.owner[1:] if is_thread else ())),
        ).fetchall()
        for id, owner in edges:
            sql(
                "DELETE FROM sources WHERE owner = ? AND id = ? AND source = ?", (owner, id, source)
            )
            left = sql("SELECT 1 FROM sources WHERE owner = ? AND id = ?", (owner, id)).fetchone()
            if left is None and id not in named and id not in gone:
                gone[id] = owner
                roots.append((id, False))
    return gone


def _delete(sql: Sql, victims: Victims) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for id, owner in victims.items():
        form = sql("SELECT form FROM records WHERE id = ? LIMIT 1", (id,)).fetchone()
        if form is not None:
            counts[form[0]] += 1
        sql("DELETE FROM records WHERE id = ?", (id,))
        sql("DELETE FROM tallies WHERE id = ?", (id,))
        sql("DELETE FROM sources WHERE owner = ? AND id = ?", (owner, id))
    return dict(counts)


def _forget_receipts(sql: Sql, tenant: str, victims: Victims, own: Iterable[int]) -> None:
    """Blank receipts that name a victim; a private record's lies in its user's place."""
    receipts = sql(
        "SELECT b.key, b.receipt FROM batches AS b JOIN owners AS o ON o.owner = b.owner"
        " WHERE o.tenant = ? AND b.receipt IS NOT NULL AND o.user IN (SELECT user FROM owners"
        f" WHERE owner IN ({', '.join(str(number) for number in {*victims.values()})}))",
        (tenant,),
    ).fetchall()
    for key, receipt in receipts:
        if any(f'["{id}"' in receipt for id in victims):
            _blank(sql, "key = ?", key)
    for number in own:
        _blank(sql, "owner = ?", number)


def _blank(sql: Sql, where: str, value: object) -> None:
    sql(
        f"UPDATE batches SET owner = NULL, fingerprint = NULL, receipt = NULL WHERE {where}",
        (value,),
    )


def _bury(sql: Sql, salt: bytes, what: Erase, victims: Victims, erased_us: int) -> None:
    """Leave tombstones: for the ids, and for a subject as a whole (E3)."""
    graves = [keyed(salt, "record", id) for id in victims]
    if what.subject is not None:
        graves.append(keyed(salt, "subject", what.owner.tenant, what.subject))
    for grave in graves:
        sql("INSERT OR REPLACE INTO tombstones VALUES (?, ?)", (grave, erased_us))
