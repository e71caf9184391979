"""The store on SQLite: the contract's reads as SQL, its writes handed to the file's writer."""

import json
import threading
from collections.abc import Sequence
from itertools import product
from typing import Any

from ...errors import Busy, Misconfigured, Unavailable, Unsupported
from ...values.owner import Owner, Sight
from ...values.record import CHECKPOINT, EPISODE, SYSTEM, Record
from ..contract import Applied, Batch, Cursor, Durability, Head, Once
from ..wire import COLUMNS, from_row
from . import file as files
from .session import answered

_FIELDS = ", ".join(f"r.{name}" for name in COLUMNS)
_EXTRA = """
o.tenant, o.user, o.agent,
(SELECT json_group_array(source) FROM
    (SELECT source FROM sources WHERE owner = r.owner AND id = r.id ORDER BY rowid)),
t.importance, t.hits, t.accessed_us
"""
_JOINED = "owners AS o JOIN records AS r ON r.owner = o.owner"
_FULL = f"SELECT {_FIELDS}, {_EXTRA} FROM {_JOINED} LEFT JOIN tallies AS t ON t.id = r.id"
_PLAIN = f"SELECT {_FIELDS}, o.tenant, o.user, o.agent, NULL, NULL, NULL, NULL"
_EPISODE = """r.seq, r.id, r.version, r.kind, r.about, r.occurred_us, r.recorded_us, r.created_us,
r.expires_us, r.codec, r.checksum, r.body"""
_NOTHING = ((), None, None, None)
_AT_ONCE = 500
"""How many slots one query names; SQLite limits the values of a statement."""
_THIS_OWNER = "o.tenant = ? AND o.user = ? AND o.agent = ?"
_HEADS = """
WITH RECURSIVE threads (owner, thread) AS (
    SELECT o.owner, (SELECT min(thread) FROM records WHERE owner = o.owner AND thread >= :thread)
    FROM owners AS o WHERE {whose}
    UNION ALL
    SELECT t.owner, (SELECT min(thread) FROM records WHERE owner = t.owner AND thread > t.thread)
    FROM threads AS t WHERE t.thread IS NOT NULL AND :all
)
{plain} FROM threads AS n CROSS JOIN records AS r JOIN owners AS o ON o.owner = r.owner
WHERE n.thread IS NOT NULL AND (:all OR n.thread = :thread) AND r.seq = (
    SELECT seq FROM records
    WHERE owner = n.owner AND thread = n.thread AND form = 'episode' AND kind = 'message'
    ORDER BY seq DESC LIMIT 1
)
"""
_OPEN_STEPS = """
{plain} FROM owners AS o CROSS JOIN records AS r INDEXED BY steps_open ON r.owner = o.owner
WHERE {whose} AND r.form = 'step' AND r.kind <> 'done' AND r.retired_us IS NULL
AND (:all OR r.thread = :thread)
"""


class SqliteStore:
    """A handle on a database file; several may share one file, in one process or many."""

    def __init__(
        self, path: files.Location, *, durability: Durability, read_only: bool, version: str
    ) -> None:
        self._path = path
        self._durability = durability
        self._read_only = read_only
        self._version = version
        self._closed = False
        self._reopening = threading.Lock()
        self._attach()

    def _attach(self) -> None:
        read_only = self._read_only and not isinstance(self._path, str)
        self._file = files.acquire(self._path, read_only=read_only, version=self._version)
        self.salt: bytes = self._file.salt
        self._number = self._file.new_worker()
        self.worker = str(self._number)

    def _live(self) -> files.DatabaseFile:
        """The file, opened anew in a forked child."""
        if self._closed:
            raise Misconfigured("The memory is closed.", hint="Open it again.")
        if self._file.inherited:
            if isinstance(self._path, str):
                raise Misconfigured("A memory:// store does not pass a fork.", hint="Use a file.")
            with self._reopening:
                if self._file.inherited:
                    self._attach()
        return self._file

    def apply(self, batch: Batch) -> Applied:
        """See Store.apply."""
        writer = self._live().writer
        if writer is None or self._read_only:
            raise Unsupported("The memory was opened read-only.", hint="Open it for writing.")
        return writer.apply(batch, batch.durability or self._durability)

    def answered(self, once: Once, now_us: int) -> str | None:
        """See Store.answered."""
        with self._live().reading() as connection:
            return answered(connection.execute, self.salt, once, now_us)

    def record(self, sight: Sight, id: str) -> Record | None:
        """See Store.record."""
        sql = _FULL + " WHERE r.id = ? ORDER BY r.version DESC LIMIT 1"
        found = self._read(sql, (id,))
        seen = [record for record in found if sight.admits(record.owner, record.subject)]
        return seen[0] if seen else None

    def holders(self, owner: Owner, slots: Sequence[bytes]) -> dict[bytes, Record]:
        """See Store.holders."""
        found: list[Record] = []
        for part in (slots[n : n + _AT_ONCE] for n in range(0, len(slots), _AT_ONCE)):
            which = f"r.retired_us IS NULL AND r.slot IN ({_marks(part)})"
            found += self._read(f"{_FULL} WHERE {_THIS_OWNER} AND {which}", (*owner, *part))
        return {record.slot: record for record in found if record.slot is not None}

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
        """See Store.scan. One branch an owner and form: each reads an index in order."""
        where = "(r.expires_us IS NULL OR r.expires_us > ?)"
        values: list[Any] = [now_us]
        if kinds is not None:
            where += f" AND r.kind IN ({_marks(kinds)})"
            values += kinds
        if before is not None:
            where += " AND (r.recorded_us, r.id) < (?, ?)"
            values += before
        branches: list[str] = []
        arguments: list[Any] = []
        for owner, form in product(sight.owners, forms):
            current = "" if form == EPISODE else "AND r.retired_us IS NULL"
            hidden = "AND (r.about IS NULL OR r.about = ?)" if not owner.user and sight.user else ""
            branches.append(
                f"SELECT * FROM ({_FULL} WHERE {_THIS_OWNER} AND r.form = ? {current} AND {where}"
                f" {hidden} ORDER BY r.seq DESC LIMIT ?)"
            )
            arguments += [*owner, form, *values, *([sight.user] if hidden else [])]
            arguments.append(-1 if limit is None else limit)
        records = self._read(" UNION ALL ".join(branches), arguments)
        records.sort(key=lambda record: (record.recorded_us, record.id), reverse=True)
        return records if limit is None else records[:limit]

    def episodes(
        self,
        owner: Owner,
        thread: str,
        *,
        now_us: int,
        kinds: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[Record]:
        """See Store.episodes. The hottest read: only what an episode can have is fetched."""
        # A thread has few system messages among thousands; the planner does not know it.
        system = kinds == (SYSTEM,)
        index = "INDEXED BY records_system" if system else ""
        which = "" if kinds is None else f"AND r.kind IN ({_marks(kinds)})"
        if system:
            which, kinds = "AND r.kind = 'system'", None
        sql = (
            f"SELECT {_EPISODE} FROM owners AS o JOIN records AS r {index} ON r.owner = o.owner"
            f" WHERE {_THIS_OWNER} AND r.thread = ? AND r.form = 'episode'"
            f" AND (r.expires_us IS NULL OR r.expires_us > ?)"
            f" {which} ORDER BY r.seq DESC LIMIT ?"
        )
        values = (*owner, thread, now_us, *(kinds or ()))
        with self._live().reading() as connection:
            rows = connection.execute(sql, (*values, -1 if limit is None else limit)).fetchall()
        return [_episode(owner, thread, row) for row in rows]

    def states(self, owner: Owner, thread: str, *, number: int | None = None) -> Record | None:
        """See Store.states."""
        which, values = ("", ()) if number is None else (" AND r.version = ?", (number,))
        sql = (
            f"{_PLAIN} FROM {_JOINED}"
            + f" WHERE {_THIS_OWNER} AND r.thread = ? AND r.form = ?{which}"
            + " ORDER BY r.seq DESC LIMIT 1"
        )
        found = self._read(sql, (*owner, thread, CHECKPOINT, *values))
        return found[0] if found else None

    def heads(self, tenant: str | None, user: str | None, thread: str | None = None) -> list[Head]:
        """See Store.heads: threads are found by skipping through their index, not by reading it
        all.
        """
        given = {"tenant": tenant, "user": user}
        whose = [f"o.{name} = :{name}" for name, value in given.items() if value is not None]
        parts = {"whose": " AND ".join(whose) or "TRUE", "plain": _PLAIN}
        values = {**given, "thread": thread or "", "all": thread is None}
        with self._live().reading() as connection:
            newest = connection.execute(_HEADS.format(**parts), values).fetchall()
            steps = connection.execute(_OPEN_STEPS.format(**parts), values).fetchall()
        messages = {(found.owner, found.thread): found for found in map(_record, newest)}
        opened: dict[tuple[Owner, str], list[Record]] = {place: [] for place in messages}
        for step in sorted(map(_record, steps), key=lambda record: record.seq):
            opened.setdefault((step.owner, step.thread), []).append(step)
        return [
            Head(*place, messages.get(place), tuple(found))
            for place, found in sorted(opened.items())
        ]

    def alive(self, worker: str) -> bool:
        """See Store.alive."""
        return self._live().worker_alive(int(worker))

    def scrub(self) -> bool:
        """See Store.scrub."""
        writer = self._live().writer
        try:
            return writer is None or writer.truncate_log()
        except (Busy, Unavailable):
            return False

    def close(self) -> None:
        """See Store.close."""
        if not self._closed:
            self._closed = True
            if not self._file.inherited:
                self._file.drop_worker(self._number)
                files.release(self._file)

    def _read(self, sql: str, values: Sequence[Any]) -> list[Record]:
        with self._live().reading() as connection:
            rows = connection.execute(sql, values).fetchall()
        return [_record(row) for row in rows]


def _episode(owner: Owner, thread: str, row: Sequence[Any]) -> Record:
    (seq, id, version, kind, about, occurred, recorded, created, expires, codec, checksum, body) = (
        row
    )
    whole = (
        seq, 0, id, version, EPISODE, kind, about, thread, None, None, occurred, recorded, created,
        None, None, expires, None, codec, checksum, body,
    )  # fmt: skip
    return from_row(whole, owner, _NOTHING)


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _record(row: Sequence[Any]) -> Record:
    width = len(COLUMNS)
    sources = row[width + 3]
    learned_from = () if sources is None or sources == "[]" else tuple(json.loads(sources))
    extra = (learned_from, *row[width + 4 :])
    return from_row(row[:width], Owner(*row[width : width + 3]), extra)
