"""Coming back: which threads wait, and where a thread was left."""

from collections.abc import Iterator

from ..store.contract import Head, Store
from ..values.owner import Owner
from ..values.receipts import Unfinished, WelcomeBack
from ..values.record import SYSTEM, Record
from ..values.times import moment
from ..values.views import body_of
from .steps import Place, look

_CUT = 200
_LOOK_BACK = 10


def unfinished(
    store: Store, running: dict[bytes, object], tenant: str | None, user: str | None
) -> list[Unfinished]:
    """Threads with a step open or in doubt, or whose last message waits for a reply."""
    found = []
    for head in store.heads(tenant, user):
        reason = _reason(store, running, head)
        if reason is not None:
            why, step, at_us = reason
            found.append(Unfinished(*head.owner, head.thread, why, moment(at_us), step))
    return found


def _reason(
    store: Store, running: dict[bytes, object], head: Head
) -> tuple[str, str | None, int] | None:
    for record in head.steps:
        place = Place(store, lambda: 0, running, head.owner, head.thread, record.key)
        _, found = look(place)
        if found != "absent":
            return found, record.key, record.occurred_us
    if head.message is not None and body_of(head.message)["role"] in ("user", "tool"):
        return "reply", None, head.message.occurred_us
    return None


def welcome_back(
    store: Store, running: dict[bytes, object], owner: Owner, thread: str, now_us: int
) -> WelcomeBack | None:
    """Where the thread was left: its last words and the step that is open; None for an empty
    thread.
    """
    heads = store.heads(owner.tenant, owner.user, thread)
    waiting = [_reason(store, running, head) for head in heads if head.owner == owner]
    step = next((reason[1] for reason in waiting if reason and reason[1]), None)
    for record in _newest_first(store, owner, thread, now_us):
        body = body_of(record)
        text = body["text"].strip()
        if text and record.kind != SYSTEM and body.get("role") != "tool":
            shown = text if len(text) <= _CUT else text[: _CUT - 1] + "…"
            return WelcomeBack(shown, moment(record.occurred_us), step)
    if step is not None:
        (at_us,) = (reason[2] for reason in waiting if reason and reason[1] == step)
        return WelcomeBack("", moment(at_us), step)
    return None


def _newest_first(store: Store, owner: Owner, thread: str, now_us: int) -> Iterator[Record]:
    """Episodes, newest first, reading further back only as far as they are wanted."""
    limit, seen = _LOOK_BACK, 0
    while True:
        found = store.episodes(owner, thread, now_us=now_us, limit=limit)
        yield from found[seen:]
        if len(found) < limit:
            return
        limit, seen = 4 * limit, len(found)
