"""A handle for somebody: what it writes goes to its owner, what it sees are at most four owners.

The order in which it reads, narrowest first: its private records, its user's, its agent's own, and
what is common to the tenant.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from .engine import Engine
from .errors import Denied, InvalidInput, NotFound
from .knowledge.facts import ARGUMENTS, Statement, plan_edit, plan_statements, statement
from .preferences import Preferences
from .recall import ask
from .store.contract import Erase
from .store.plan import Plan
from .thread import Thread
from .values.hit import Found, Hit, Page
from .values.owner import EVERYONE, Owner, Sight, clean_thread_id
from .values.receipts import ErasureReceipt, Receipt
from .values.record import CHECKPOINT, EPISODE, FACT, STEP, Record
from .values.text import clean_text, count, fraction, optional_count
from .values.views import as_hit

_LISTED = (FACT, EPISODE)
_EDITABLE = {"text", "tags", "metadata", "confidence", "importance"}


class Scope:
    """What one user, agent and tenant see and write; stateless, make as many as you like."""

    def __init__(self, engine: Engine, owner: Owner) -> None:
        tenant, user, agent = owner
        self._engine = engine
        self._agent = agent
        self._owner = Owner(tenant, user, "") if user else owner
        owners = [self._owner]
        if user and agent:
            owners = [owner, self._owner, Owner(tenant, "", agent)]
        self._writable = owners[:2] if user and agent else owners[:1]
        if user != EVERYONE:
            owners = [*owners, Owner(tenant, EVERYONE, "")]
        self._sight = Sight(tuple(owners), "" if user == EVERYONE else user)

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
        ttl: timedelta | float | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        at: datetime | None = None,
        about: str | None = None,
        private: bool = False,
        idempotency_key: str | None = None,
    ) -> Receipt:
        """Store a fact, durable on return: added, merged, or superseding what has its key."""
        said = self._statement(
            text, kind=kind, key=key, source=source, importance=importance, tags=tags,
            confidence=confidence, metadata=metadata, ttl=ttl, valid_from=valid_from,
            valid_to=valid_to, at=at, about=about, private=private,
        )  # fmt: skip
        return self._remember([said], idempotency_key)[0]

    def remember_many(
        self, facts: Sequence[str | Mapping[str, Any]], *, idempotency_key: str | None = None
    ) -> list[Receipt]:
        """Store several facts in one batch: texts, or mappings of remember's arguments."""
        if isinstance(facts, str | Mapping) or not isinstance(facts, Sequence):
            raise InvalidInput("facts is not a list.", hint="Pass a list, or use remember().")
        said = [self._given(number, fact) for number, fact in enumerate(facts)]
        return self._remember(said, idempotency_key)

    def _given(self, number: int, fact: object) -> Statement:
        if isinstance(fact, str):
            return self._statement(fact)
        if not isinstance(fact, Mapping) or "text" not in fact:
            raise InvalidInput(f"Fact {number} has no text.", hint="Pass a text or {'text': ...}.")
        if not fact.keys() <= ARGUMENTS:
            raise InvalidInput(f"Fact {number} has an unknown argument.", hint="Pass remember's.")
        return self._statement(**fact)

    def _statement(self, text: str, *, private: bool = False, **rest: Any) -> Statement:
        """What remember's arguments say, for this scope's owner."""
        if private and len(self._writable) < 2:
            raise InvalidInput(
                "A private record belongs to one agent of one user.",
                hint="Open the scope with user= and agent=.",
            )
        owner = self._writable[0] if private else self._owner
        return statement(owner, text, author=self._agent, **rest)

    def _remember(self, said: Sequence[Statement], key: str | None) -> list[Receipt]:
        def make(now_us: int) -> Plan:
            plan = Plan(now_us)
            plan_statements(plan, self._engine.store, said)
            return plan

        shown = [asdict(one) for one in said] if key is not None else None
        answers = self._engine.write(make, self._owner, key=key, arguments=shown)
        return [answer for answer in answers if isinstance(answer, Receipt)]

    def get(self, id: str) -> Hit | None:
        """The record, or None for one that is not there, has expired, or is not yours to see."""
        record = self._engine.store.record(self._sight, clean_text(id, "id"))
        if record is None or record.expired(self._engine.now()) or record.form not in _LISTED:
            return None
        return self._hit(record)

    def _hit(self, record: Record) -> Hit:
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
        if not changes or not changes.keys() <= _EDITABLE:
            raise InvalidInput(
                "edit cannot change that.", hint=f"Pass some of {', '.join(sorted(_EDITABLE))}."
            )
        seen = optional_count(expected, "expected")

        def make(now_us: int) -> Plan:
            plan = Plan(now_us)
            plan_edit(plan, self._engine.store, self._mine(id), changes, seen)
            return plan

        arguments = {"id": id, "expected": expected, **changes} if idempotency_key else None
        answers = self._engine.write(make, self._owner, key=idempotency_key, arguments=arguments)
        return next(answer for answer in answers if isinstance(answer, Receipt))

    def _mine(self, id: str) -> Record:
        """A record that this handle may change: NotFound when not in sight, else Denied."""
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
        """Erase a record, its versions and what its key superseded; empty when there is none."""
        try:
            record = self._mine(id)
        except NotFound:
            return self._engine.forget(Erase(self._owner))
        # What a keyed fact superseded is in no listing any more: it goes with it.
        slot = record.slot if record.key and record.retired_us is None else None
        return self._engine.forget(Erase(record.owner, ids=(id,), slot=slot))

    def recent(self, *, kinds: Sequence[str] | None = None, limit: int = 20) -> list[Hit]:
        """What was stored last, newest first."""
        return list(self.records(kinds=kinds, limit=limit))

    def records(
        self, *, kinds: Sequence[str] | None = None, limit: int = 100, after: str | None = None
    ) -> Page:
        """Facts, messages and notes in sight, newest first; `after` takes a page's `.next`."""
        wanted = count(limit, "limit")
        found = self._engine.store.scan(
            self._sight, now_us=self._engine.now(), forms=_LISTED, kinds=_kinds(kinds),
            before=_cursor(after), limit=wanted + 1,
        )  # fmt: skip
        shown = found[:wanted]
        more = f"{shown[-1].recorded_us}.{shown[-1].id}" if len(found) > wanted and shown else None
        return Page([self._hit(record) for record in shown], more)

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
        asked = ask.Question(
            text=None if query is None else clean_text(query, "query"),
            now_us=self._engine.now(),
            limit=optional_count(limit, "limit"),
            budget_tokens=optional_count(budget_tokens, "budget_tokens"),
            kinds=_kinds(kinds),
            min_relevance=0.0
            if min_relevance is None
            else fraction(min_relevance, "min_relevance"),
        )
        found, records = ask.recall(self._engine.store, self._sight, asked, self._engine.hits)
        self._engine.count_recall(records, asked.now_us)
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
        prompt = clean_text(system_prompt, "system_prompt")
        asked = ask.Question(
            text=None if query is None else clean_text(query, "query"),
            now_us=self._engine.now(),
            limit=count(limit, "limit"),
            budget_tokens=optional_count(budget_tokens, "budget_tokens"),
        )
        text, records = ask.inject(self._engine.store, self._sight, asked, self._engine.hits)
        self._engine.count_recall(records, asked.now_us)
        return "\n\n".join(part for part in (prompt, text) if part) if text else prompt

    @property
    def preferences(self) -> Preferences:
        """The user's preferences as a mapping; they never expire."""
        return Preferences(self._engine, self._sight, self._owner, self._agent)

    def thread(self, id: str) -> Thread:
        """A line of work that can be resumed by its id. No I/O: the first write creates it."""
        name = clean_thread_id(id, self._owner.user)
        return Thread(self._engine, self._owner, name, self._statement, self._agent)


def _kinds(kinds: Sequence[str] | None) -> Sequence[str] | None:
    if isinstance(kinds, str) or not isinstance(kinds, Iterable | None):
        raise InvalidInput("kinds is not a list of texts.", hint="Pass a list of kinds.")
    return None if kinds is None else tuple(clean_text(kind, "kind") for kind in kinds)


def _cursor(after: str | None) -> tuple[int, str] | None:
    if after is None:
        return None
    recorded, dot, id = clean_text(after, "after").partition(".")
    if not dot or not recorded.isascii() or not recorded.isdigit() or len(recorded) > 18:
        raise InvalidInput("after is not a cursor.", hint="Pass the .next of the page before.")
    return int(recorded), id
