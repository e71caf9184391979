"""Facts: what is held true, with its source and validity; a preference is a fact of kind
"preference".

K1  A current fact is alone in its slot: owner, subject, kind, and its key, or its text where it has
    none.
K2  The same text in the slot is merged into the record that is there; a new one supersedes it.
K3  History stays: a superseded or edited version is retired, never overwritten.

Nothing here writes. A plan is made from what the slots hold and names that as seen, so two writers
of one fact end as one record whatever their order.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import Conflict, InvalidInput
from ..store.contract import Expected, Store, Tally
from ..store.plan import Plan
from ..values.hashing import keyed
from ..values.owner import Owner, clean_id, home_subject
from ..values.receipts import Receipt
from ..values.record import FACT, Record, new_id
from ..values.text import clean_tags, fraction, plain_mapping, said_text, same_text, to_json
from ..values.times import optional_micros, span_micros
from ..values.views import body_of

_DEFAULT_IMPORTANCE = 0.5


@dataclass(frozen=True, slots=True)
class Statement:
    """What is to be remembered, checked but not yet compared with what is known."""

    owner: Owner
    text: str
    kind: str
    subject: str
    key: str
    body: Mapping[str, Any]
    sources: tuple[str, ...]
    importance: float
    thread: str
    at_us: int | None
    ttl_us: int | None
    valid_from_us: int | None
    valid_to_us: int | None

    def slot(self, salt: bytes) -> bytes:
        """The place that it holds while it is current (K1)."""
        named = ("key", self.key) if self.key else ("text", same_text(self.text))
        return keyed(salt, "fact", self.subject, self.kind, *named)


def statement(
    owner: Owner,
    text: str,
    *,
    kind: str = "fact",
    key: str | None = None,
    source: str | None = None,
    importance: float = _DEFAULT_IMPORTANCE,
    confidence: float = 1.0,
    tags: Sequence[str] = (),
    metadata: Mapping[str, Any] | None = None,
    ttl: Any = None,
    valid_from: Any = None,
    valid_to: Any = None,
    at: Any = None,
    about: str | None = None,
    author: str = "",
    thread: str = "",
    value: Any = None,
) -> Statement:
    """Check the arguments of `remember`; each error names the argument to mend."""
    begins, ends = optional_micros(valid_from, "valid_from"), optional_micros(valid_to, "valid_to")
    if begins is not None and ends is not None and ends <= begins:
        raise InvalidInput("valid_to is not after valid_from.", hint="Swap them, or leave one out.")
    body: dict[str, Any] = {"text": said_text(text, "text")}
    if value is not None:
        body["value"] = value
    optional = {
        "tags": list(clean_tags(tags)),
        "metadata": plain_mapping(metadata, "metadata"),
        "author": author,
        "confidence": fraction(confidence, "confidence"),
    }
    body |= {name: found for name, found in optional.items() if found not in (None, "", [], {})}
    return Statement(
        owner=owner,
        text=text,
        kind=clean_id(kind, "kind"),
        subject=home_subject(owner) if about is None else clean_id(about, "about"),
        key="" if key is None else clean_id(key, "key"),
        body=json.loads(to_json(body)),  # a copy: what the caller changes later is not meant
        sources=() if source is None else (said_text(source, "source"),),
        importance=fraction(importance, "importance"),
        thread=thread,
        at_us=optional_micros(at, "at"),
        ttl_us=None if ttl is None else span_micros(ttl, "ttl"),
        valid_from_us=begins,
        valid_to_us=ends,
    )


ARGUMENTS = {"text", "private", *(statement.__kwdefaults__ or ())} - {"author", "thread", "value"}
"""What `remember` takes, by name."""


def plan_statements(plan: Plan, store: Store, said: Sequence[Statement]) -> None:
    """Add to the plan what remembering these takes, one after the other (K2)."""
    slots = [one.slot(store.salt) for one in said]
    for owner in {one.owner for one in said}:
        plan.look(
            store, owner, (s for one, s in zip(said, slots, strict=True) if one.owner == owner)
        )
    for one, slot in zip(said, slots, strict=True):
        plan.receipts.append(_plan_one(plan, one, slot))


def _plan_one(plan: Plan, one: Statement, slot: bytes) -> Receipt:
    there = plan.current.get((one.owner, slot))
    holder = None if there is None or there.expired(plan.now_us) else there
    if holder is not None and _says_the_same_text(one, holder):
        record = _merged(one, holder, plan.now_us)
        if record != holder:
            plan.put(record, "drop")
        _plan_importance(plan, record, max(one.importance, holder.importance))
        return Receipt(record.id, "merged", "the same text is already known")
    record = _new_record(one, slot, plan.now_us)
    plan.put(record, "append" if there is None else "retire")
    _plan_importance(plan, record, one.importance)
    if holder is None:
        return Receipt(record.id, "added")
    return Receipt(record.id, "superseded", f"takes the place of {holder.id}")


def _says_the_same_text(one: Statement, holder: Record) -> bool:
    known = body_of(holder)
    return same_text(known["text"]) == same_text(one.text) and known.get("value") == one.body.get(
        "value"
    )


def _new_record(one: Statement, slot: bytes, now_us: int) -> Record:
    return Record(
        id=new_id(now_us),
        owner=one.owner,
        form=FACT,
        kind=one.kind,
        body=to_json(one.body),
        occurred_us=now_us if one.at_us is None else one.at_us,
        subject=one.subject,
        thread=one.thread,
        key=one.key,
        slot=slot,
        valid_from_us=one.valid_from_us,
        valid_to_us=one.valid_to_us,
        expires_us=None if one.ttl_us is None else now_us + one.ttl_us,
        sources=one.sources,
    )


def _merged(one: Statement, holder: Record, now_us: int) -> Record:
    """The holder with the tags of both, the sources of both, and the higher confidence."""
    body = body_of(holder)
    tags = [*dict.fromkeys([*body.get("tags", ()), *one.body.get("tags", ())])]
    metadata = {**body.get("metadata", {}), **one.body.get("metadata", {})}
    confidence = max(body.get("confidence", 1.0), one.body.get("confidence", 1.0))
    body |= {"confidence": confidence}
    body |= {name: found for name, found in (("tags", tags), ("metadata", metadata)) if found}
    expires = None
    if one.ttl_us is not None and holder.expires_us is not None:
        expires = max(holder.expires_us, now_us + one.ttl_us)
    return holder._replace(
        body=to_json(body),
        sources=_joined(holder.sources, one.sources),
        expires_us=expires,
        valid_from_us=one.valid_from_us if one.valid_from_us is not None else holder.valid_from_us,
        valid_to_us=one.valid_to_us if one.valid_to_us is not None else holder.valid_to_us,
    )


def _joined(known: tuple[str, ...], told: tuple[str, ...]) -> tuple[str, ...]:
    """The sources of both. Where one of them named none, '' stands for it: the fact was also said
    by itself, and does not go when the other's source is erased."""
    if not known and not told:
        return ()
    return tuple(dict.fromkeys([*(known or ("",)), *(told or ("",))]))


def _plan_importance(plan: Plan, record: Record, importance: float) -> None:
    if importance != record.importance:
        plan.tallies.append(Tally(record.owner, record.id, importance=importance))


def plan_edit(
    plan: Plan, store: Store, record: Record, changes: Mapping[str, Any], expected: int | None
) -> None:
    """Add to the plan a new version of a fact."""
    if record.form != FACT:
        raise InvalidInput(
            "A message or note is history and is not edited.",
            hint="Add a new one, or forget this one.",
        )
    if record.retired_us is not None:
        raise Conflict(
            f"Record {record.id} was superseded.", hint="Edit the one that took its place."
        )
    if expected is not None and expected != record.version:
        raise Conflict(
            f"Record {record.id} is at version {record.version}, you wrote on {expected}.",
            hint="Reload it with get() and retry.",
            id=record.id,
            actual=record.version,
            expected=expected,
        )
    body = _edited(body_of(record), changes)
    slot = record.slot
    if not record.key:
        slot = keyed(
            store.salt, "fact", record.subject, record.kind, "text", same_text(body["text"])
        )
        if slot != record.slot:
            _refuse_repeated(plan, store, record.owner, slot)
    plan.seen.append(Expected(record.owner, record.version, id=record.id))
    plan.put(record._replace(body=to_json(body), slot=slot), "retire")
    if "importance" in changes:
        _plan_importance(plan, record, fraction(changes["importance"], "importance"))
    plan.receipts.append(Receipt(record.id, "edited", f"version {record.version + 1}"))


def _edited(body: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """The body with the changes, each checked as `remember` does."""
    if "text" in changes:
        body.pop("value", None)
        body["text"] = said_text(changes["text"], "text")
    if "tags" in changes:
        body["tags"] = list(clean_tags(changes["tags"]))
    if "metadata" in changes:
        body["metadata"] = plain_mapping(changes["metadata"], "metadata")
    if "confidence" in changes:
        body["confidence"] = fraction(changes["confidence"], "confidence")
    return body


def _refuse_repeated(plan: Plan, store: Store, owner: Owner, slot: bytes) -> None:
    """A text that another current fact has already would make two of one."""
    plan.look(store, owner, [slot])
    there = plan.current.get((owner, slot))
    if there is not None and not there.expired(plan.now_us):
        raise Conflict(
            f"Record {there.id} says this already.", hint="Forget one of the two.", id=there.id
        )
