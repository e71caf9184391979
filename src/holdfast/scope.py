"""A handle for somebody: what it writes goes to its owner, what it sees are at most four owners.

The order in which it reads, narrowest first: its private records, its user's, its agent's own, and
what is common to the tenant.
"""

import json
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any

from .engine import Engine
from .errors import Denied, InvalidInput, NotFound
from .knowledge.facts import plan_edit, plan_statements, statement
from .recall import ask
from .store.contract import Erase
from .store.plan import Plan
from .thread import Thread
from .values.hit import Found, Hit, Page
from .values.owner import EVERYONE, Owner, Sight, clean_id, clean_thread_id, home_subject
from .values.receipts import ErasureReceipt, Receipt
from .values.record import CHECKPOINT, EPISODE, FACT, PREFERENCE, STEP, Record
from .values.text import clean_text, fraction, plain, said_text, to_json
from .values.views import as_hit, body_of

_LISTED = (FACT, EPISODE)


class Scope:
    """What one user, agent and tenant see and write; stateless, make as many as you like."""

    def __init__(self, engine: Engine, tenant: str, user: str, agent: str) -> None:
        self._engine = engine
        self._owner = Owner(tenant, user, "") if user else Owner(tenant, "", agent)
        self._private = Owner(tenant, user, agent) if user and agent else None
        self._agent = agent
        if user == EVERYONE:
            owners = [self._owner]
        else:
            agents_own = Owner(tenant, "", agent) if user and agent else None
            common = Owner(tenant, EVERYONE, "")
            owners = [o for o in (self._private, self._owner, agents_own, common) if o]
        self._sight = Sight(tuple(owners), "" if user == EVERYONE else user)
        self._writable = {owner for owner in (self._owner, self._private) if owner}

    def remember(
        self,
        text: str,
        *,
        kind: str = "fact",
        key: str | None = None,
        source: str | None = None,
        importance: float = 0.5,
        confidence: float = 1.0,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        ttl: Any = None,
        valid_from: Any = None,
        valid_to: Any = None,
        at: Any = None,
        about: str | None = None,
        private: bool = False,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Store a fact, durable on return: added, merged with the same text, or superseding its
        key.
        """
        given = {
            "text": text, "kind": kind, "key": key, "source": source, "importance": importance,
            "confidence": confidence, "tags": tags, "metadata": metadata, "ttl": ttl,
            "valid_from": valid_from, "valid_to": valid_to, "at": at, "about": about,
            "private": private,
        }  # fmt: skip
        return self._remember([given], idempotency_key, given)[0]

    def remember_many(
        self, facts: Sequence[str | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> list[Receipt]:
        """Store several facts in one batch: texts, or mappings of remember's arguments."""
        if isinstance(facts, str | Mapping):
            raise InvalidInput("One fact was given.", hint="Pass a list, or use remember().")
        given = [_given(number, fact) for number, fact in enumerate(facts)]
        return self._remember(given, idempotency_key, given)

    def _remember(
        self, given: Sequence[Mapping[str, Any]], key: str | None, arguments: Any
    ) -> list[Receipt]:
        said = [self._statement(**one) for one in given]

        def make(now_us: int) -> Plan:
            plan = Plan(now_us)
            plan_statements(plan, self._engine.store, said)
            return plan

        shown = json.loads(json.dumps(arguments, default=str)) if key is not None else None
        answers = self._engine.write(make, self._owner, key=key, arguments=shown)
        return [answer for answer in answers if isinstance(answer, Receipt)]

    def _statement(self, text: str, *, private: bool = False, **rest: Any) -> Any:
        if private and self._private is None:
            raise InvalidInput(
                "A private record belongs to one agent of one user.",
                hint="Open the scope with user= and agent=.",
            )
        owner = self._private if private and self._private else self._owner
        try:
            return statement(owner, text, author=self._agent, **rest)
        except TypeError:
            unknown = sorted(set(rest) - set(statement.__kwdefaults__ or ()))
            raise InvalidInput(
                f"remember has no argument {', '.join(unknown)}.", hint="See Scope.remember."
            ) from None

    def get(self, id: str) -> Hit | None:
        """The record, or None for one that is not there, has expired, or is not yours to see."""
        record = self._engine.store.record(self._sight, clean_text(id, "id"))
        if record is None or record.expired(self._engine.now()) or record.form not in _LISTED:
            return None
        return as_hit(record, access_count=self._engine.hits(record))

    def edit(
        self,
        id: str,
        *,
        expected: int | None = None,
        idempotency_key: str | None = None,
        **changes: Any,
    ) -> Receipt:
        """A new version of a fact: text, tags, metadata, confidence, importance; the old one stays.

        `expected` is the version that you saw; Conflict when it is no longer the newest.
        """
        unknown = sorted(set(changes) - {"text", "tags", "metadata", "confidence", "importance"})
        if unknown or not changes:
            raise InvalidInput(
                f"edit cannot change {', '.join(unknown) or 'nothing'}.",
                hint="Pass text=, tags=, metadata=, confidence= or importance=.",
            )

        def make(now_us: int) -> Plan:
            plan = Plan(now_us)
            plan_edit(plan, self._engine.store, self._mine(id), changes, expected)
            return plan

        arguments = {"id": id, "expected": expected, **changes}
        shown = json.loads(json.dumps(arguments, default=str)) if idempotency_key else None
        answers = self._engine.write(make, self._owner, key=idempotency_key, arguments=shown)
        assert isinstance(answers[0], Receipt)
        return answers[0]

    def _mine(self, id: str) -> Record:
        """A record that this handle may change: NotFound when not in sight, Denied when not its
        own.
        """
        record = self._engine.store.record(self._sight, clean_text(id, "id"))
        if record is None or record.form in (CHECKPOINT, STEP):
            raise NotFound("There is no such record.", hint="See records() for what there is.")
        if record.owner not in self._writable:
            raise Denied(
                "The record is not this scope's to change.",
                hint="Use the scope of its agent, or memory.common() for common knowledge.",
                record=id,
            )
        return record

    def forget(self, id: str) -> ErasureReceipt:
        """Erase a record with all its versions, for good; an empty receipt when there is none."""
        try:
            record = self._mine(id)
        except NotFound:
            return self._engine.forget(Erase(self._owner))
        return self._engine.forget(Erase(record.owner, ids=(id,)))

    def recent(self, *, kinds: Sequence[str] | None = None, limit: int = 20) -> list[Hit]:
        """What was stored last, newest first."""
        return list(self.records(kinds=kinds, limit=limit))

    def records(
        self, *, kinds: Sequence[str] | None = None, limit: int = 100, after: str | None = None
    ) -> Page:
        """Facts, messages and notes in sight, newest first; `after` takes a page's `.next`."""
        wanted = _count(limit, "limit")
        found = self._engine.store.scan(
            self._sight,
            now_us=self._engine.now(),
            forms=_LISTED,
            kinds=_kinds(kinds),
            before=_cursor(after),
            limit=wanted + 1,
        )
        shown = found[:wanted]
        more = f"{shown[-1].recorded_us}.{shown[-1].id}" if len(found) > wanted and shown else None
        return Page([as_hit(r, access_count=self._engine.hits(r)) for r in shown], more)

    def recall(
        self,
        query: str | None = None,
        *,
        limit: int | None = 10,
        budget_tokens: int | None = None,
        kinds: Sequence[str] | None = None,
        min_relevance: float | None = None,
    ) -> Found:
        """What matters for the question, of all in sight; str() is the prompt block."""
        now_us = self._engine.now()
        found, records = ask.recall(
            self._engine.store,
            self._sight,
            None if query is None else clean_text(query, "query"),
            now_us=now_us,
            hits=self._engine.hits,
            limit=None if limit is None else _count(limit, "limit"),
            budget_tokens=None if budget_tokens is None else _count(budget_tokens, "budget_tokens"),
            kinds=_kinds(kinds),
            min_relevance=None
            if min_relevance is None
            else fraction(min_relevance, "min_relevance"),
        )
        self._engine.count_recall(records, now_us)
        return found

    def inject(
        self,
        system_prompt: str,
        *,
        query: str | None = None,
        limit: int = 15,
        budget_tokens: int | None = 400,
    ) -> str:
        """The prompt with a block of known facts; the very same prompt when nothing is known."""
        now_us = self._engine.now()
        prompt, records = ask.inject(
            self._engine.store,
            self._sight,
            clean_text(system_prompt, "system_prompt"),
            None if query is None else clean_text(query, "query"),
            now_us=now_us,
            hits=self._engine.hits,
            limit=_count(limit, "limit"),
            budget_tokens=None if budget_tokens is None else _count(budget_tokens, "budget_tokens"),
        )
        self._engine.count_recall(records, now_us)
        return prompt

    @property
    def preferences(self) -> "Preferences":
        """The user's preferences as a mapping; they never expire."""
        return Preferences(self._engine, self._sight, self._owner, self._agent)

    def thread(self, id: str) -> Thread:
        """A line of work that can be resumed by its id. No I/O: the first write creates it."""
        user = self._owner.user
        return Thread(
            self._engine, self._owner, clean_thread_id(id, user), self._statement, self._agent
        )


class Preferences(MutableMapping[str, Any]):
    """Preferences of a scope by key: plain values, kept without expiry, read narrowest first."""

    def __init__(self, engine: Engine, sight: Sight, owner: Owner, agent: str) -> None:
        self._engine = engine
        self._sight = sight
        self._owner = owner
        self._agent = agent

    def set(self, key: str, value: Any, *, source: str | None = None) -> Receipt:
        """Keep a value under a key; the one before becomes history."""
        plain(value, "value")
        if value is None:
            raise InvalidInput("A preference has no value.", hint="Delete it instead.")
        said = isinstance(value, str) and bool(value.strip())
        text = value if said else to_json(value)
        one = statement(
            self._owner, text, kind=PREFERENCE, key=said_text(key, "key"), source=source,
            author=self._agent, value=None if said else value,
        )  # fmt: skip

        def make(now_us: int) -> Plan:
            plan = Plan(now_us)
            plan_statements(plan, self._engine.store, [one])
            return plan

        (receipt,) = self._engine.write(make, self._owner)
        assert isinstance(receipt, Receipt)
        return receipt

    def delete(self, key: str) -> ErasureReceipt:
        """Erase a preference with its history; an empty receipt when there is none."""
        one = statement(self._owner, "-", kind=PREFERENCE, key=clean_id(key, "key"))
        return self._engine.forget(Erase(self._owner, slot=one.slot(self._engine.store.salt)))

    def _all(self) -> dict[str, Any]:
        found = self._engine.store.scan(
            self._sight, now_us=self._engine.now(), forms=(FACT,), kinds=(PREFERENCE,)
        )
        narrowest = sorted(found, key=lambda record: self._sight.owners.index(record.owner))
        values: dict[str, Any] = {}
        for record in narrowest:
            if record.key and record.subject == home_subject(record.owner):
                body = body_of(record)
                values.setdefault(record.key, body.get("value", body["text"]))
        return values

    def __getitem__(self, key: str) -> Any:
        return self._all()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def __delitem__(self, key: str) -> None:
        if self.delete(key).empty:
            raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __repr__(self) -> str:
        return f"<Preferences of {self._owner!r}>"


def _given(number: int, fact: object) -> Mapping[str, Any]:
    """One of many facts as a mapping of remember's arguments."""
    if isinstance(fact, str):
        return {"text": fact}
    if not isinstance(fact, Mapping) or "text" not in fact:
        raise InvalidInput(f"Fact {number} has no text.", hint="Pass a text or {'text': ...}.")
    return fact


def _count(value: object, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidInput(f"{name} is not a count.", hint=f"Pass {name} as a whole number.")
    return value


def _kinds(kinds: Sequence[str] | None) -> Sequence[str] | None:
    if isinstance(kinds, str):
        raise InvalidInput("kinds is one text.", hint="Pass a list of kinds.")
    return None if kinds is None else tuple(clean_text(kind, "kind") for kind in kinds)


def _cursor(after: str | None) -> tuple[int, str] | None:
    if after is None:
        return None
    recorded, dot, id = clean_text(after, "after").partition(".")
    if not dot or not recorded.isdigit():
        raise InvalidInput("after is not a cursor.", hint="Pass the .next of the page before.")
    return int(recorded), id
