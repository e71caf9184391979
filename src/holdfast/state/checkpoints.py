"""Checkpoints: the whole state of a thread, saved under a number; each is kept.

The state is plain data and is stored as bytes with a type tag, so that no database reads meaning
into it. What JSON would change without a word is refused with the place inside the state.
"""

import json
from typing import Any

from ..errors import Conflict, Corrupt, NotFound
from ..store.contract import Store
from ..store.plan import Plan
from ..values.hashing import keyed
from ..values.owner import Owner, Sight, home_subject
from ..values.receipts import Saved
from ..values.record import CHECKPOINT, Record, new_id
from ..values.text import clean_text, count, plain, to_json

_TAG = b"json\n"


def slot_of(store: Store, thread: str) -> bytes:
    """The slot whose version is the thread's newest checkpoint number."""
    return keyed(store.salt, CHECKPOINT, thread)


def encode(state: Any) -> bytes:
    """A state as bytes; InvalidInput names what in it is not plain data."""
    return _TAG + to_json(plain(state, "state", finite=False)).encode()


def decode(record: Record) -> Any:
    """The state of a checkpoint, or Corrupt; never something else in its place."""
    body = record.body
    if not isinstance(body, bytes) or not body.startswith(_TAG):
        raise Corrupt(
            f"Checkpoint {record.id} has an unknown form.", hint="Upgrade holdfast, then retry."
        )
    return json.loads(body[len(_TAG) :])


def plan_checkpoint(
    plan: Plan, store: Store, owner: Owner, thread: str, state: bytes, expected: int | None
) -> None:
    """Add to the plan the thread's next checkpoint."""
    slot = slot_of(store, thread)
    plan.look(store, owner, [slot])
    held = plan.current.get((owner, slot))
    number = held.version if held else 0
    if expected is not None and expected != number:
        raise Conflict(
            f"Thread '{thread}' is at checkpoint {number}, you wrote on {expected}.",
            hint="Reload with thread.restore() and retry.",
            thread=thread,
            actual=number,
            expected=expected,
        )
    record = Record(
        id=new_id(plan.now_us), owner=owner, form=CHECKPOINT, kind=CHECKPOINT, body=state,
        occurred_us=plan.now_us, subject=home_subject(owner), thread=thread, slot=slot,
    )  # fmt: skip
    plan.receipts.append(Saved(record.id, plan.put(record, "retire")))


def find_checkpoint(
    store: Store, owner: Owner, thread: str, which: str | int | Saved | None
) -> Record | None:
    """The newest checkpoint, or the one named; NotFound when it is named and absent."""
    if isinstance(which, Saved):
        which = which.id
    if which is None:
        return store.states(owner, thread)
    if isinstance(which, str):
        found = store.record(Sight((owner,), owner.user), clean_text(which, "checkpoint"))
    else:
        found = store.states(owner, thread, number=count(which, "checkpoint"))
    if found is None or (found.form, found.thread) != (CHECKPOINT, thread):
        raise NotFound("The thread has no such checkpoint.", hint="restore() gives the newest one.")
    return found
