"""Preferences: keyed facts of kind "preference" as a mapping of plain values."""

from collections.abc import Iterator, MutableMapping
from typing import Any

from .engine import Engine
from .errors import InvalidInput
from .knowledge.facts import plan_statements, statement
from .store.contract import Erase
from .store.plan import Plan
from .values.owner import Owner, Sight, clean_id, home_subject
from .values.receipts import ErasureReceipt, Receipt
from .values.record import FACT, PREFERENCE, Record
from .values.text import plain, to_json
from .values.views import body_of


class Preferences(MutableMapping[str, Any]):
    """Preferences of a scope by key: kept without expiry, read narrowest first."""

    def __init__(self, engine: Engine, sight: Sight, owner: Owner, agent: str) -> None:
        self._engine = engine
        self._sight = sight
        self._owner = owner
        self._agent = agent

    def set(self, key: str, value: Any, *, source: str | None = None) -> Receipt:
        """Keep a value under a key; the one before becomes history."""
        if value is None:
            raise InvalidInput("A preference has no value.", hint="Delete it instead.")
        said = isinstance(value, str) and bool(value.strip())
        one = statement(
            self._owner, value if said else to_json(plain(value, "value")), kind=PREFERENCE,
            key=clean_id(key, "key"), source=source, author=self._agent,
            value=None if said else value,
        )  # fmt: skip

        def make(now_us: int) -> Plan:
            plan = Plan(now_us)
            plan_statements(plan, self._engine.store, [one])
            return plan

        answers = self._engine.write(make, self._owner)
        return next(answer for answer in answers if isinstance(answer, Receipt))

    def delete(self, key: str) -> ErasureReceipt:
        """Erase a preference with its history; an empty receipt when there is none."""
        one = statement(self._owner, "-", kind=PREFERENCE, key=clean_id(key, "key"))
        return self._engine.forget(Erase(self._owner, slot=one.slot(self._engine.store.salt)))

    def clear(self) -> None:
        """Erase the owner's preferences; those of the agent or common to all stay."""
        for key, record in self._found().items():
            if record.owner == self._owner:
                self.delete(key)

    def _found(self) -> dict[str, Record]:
        found = self._engine.store.scan(
            self._sight, now_us=self._engine.now(), forms=(FACT,), kinds=(PREFERENCE,)
        )
        found.sort(key=lambda record: self._sight.owners.index(record.owner), reverse=True)
        mine = (record for record in found if record.subject == home_subject(record.owner))
        return {record.key: record for record in mine if record.key}

    def __getitem__(self, key: str) -> Any:
        body = body_of(self._found()[key])
        return body.get("value", body["text"])

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def __delitem__(self, key: str) -> None:
        if self.delete(key).empty:
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._found())

    def __len__(self) -> int:
        return len(self._found())

    def items(self) -> Any:
        """All of them, read at once."""
        return {
            k: (b := body_of(r)).get("value", b["text"]) for k, r in self._found().items()
        }.items()
