"""Steps: an effect that happens once, or is said to be in doubt. Never a silent repeat.

What is on disk around `once`, and what a crash at each moment leaves:

    before the claim        nothing: the step is absent and may run
    claim committed         'claimed' by a worker: in doubt once that worker is gone
    the effect itself       the same: nobody can know whether it happened
    result committed        'done': the result is given again, the effect is not repeated

The claim and the result are each durable before the next line runs, even where the store's own
setting is weaker. A worker that lost its claim cannot record a result: its expectation fails.
"""

import inspect
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from ..errors import Busy, Conflict, HoldfastError, InDoubt, InvalidInput, NotFound
from ..store.contract import Batch, Expected, Put, Store
from ..values.hashing import keyed
from ..values.owner import Owner, home_subject
from ..values.record import STEP, Record, new_id
from ..values.text import canonical_json, plain, to_json
from ..values.views import body_of

CLAIMED, DONE, IN_DOUBT = "claimed", "done", "in_doubt"
_FREED = "freed"


@dataclass(frozen=True, slots=True)
class Step:
    """What a function with a keyword-only parameter `step` is given."""

    name: str
    key: str
    """The same at every try of this step: pass it to outside services as their idempotency key."""


@dataclass(frozen=True, slots=True)
class Place:
    """A step of a thread: its name is its identity."""

    store: Store
    now: Callable[[], int]
    running: dict[bytes, object]
    owner: Owner
    thread: str
    name: str

    @property
    def slot(self) -> bytes:
        """The slot that holds its claim, then its result."""
        return keyed(self.store.salt, STEP, *self.owner, self.thread, self.name)

    def held(self) -> Record | None:
        """The claim or result, if any."""
        return self.store.holders(self.owner, [self.slot]).get(self.slot)

    def write(self, id: str, seen: int, kind: str, body: dict[str, Any]) -> int:
        """Put the step's next state in the place of version `seen`; the new version.

        Conflict when another worker was faster: that is the fence.
        """
        now_us = self.now()
        record = Record(
            id=id,
            owner=self.owner,
            form=STEP,
            kind=kind,
            body=to_json(body),
            occurred_us=now_us,
            subject=home_subject(self.owner),
            thread=self.thread,
            key=self.name,
            slot=self.slot,
        )
        expected = Expected(self.owner, seen, slot=self.slot)
        batch = Batch(now_us, (Put(record, "drop"),), (expected,), durability="full")
        return self.store.apply(batch).versions[0]


def look(place: Place) -> tuple[Record | None, str]:
    """The step's record, and absent, running, done or in_doubt.

    A claim is in doubt when its worker is gone and it is still there after that was seen: a worker
    may have recorded its result and left between two glances.
    """
    held = place.held()
    while held is not None and held.kind == CLAIMED and not _alive(place, held):
        again = place.held()
        if again is not None and again.version == held.version:
            return held, IN_DOUBT
        held = again
    if held is None or held.kind == _FREED:
        return held, "absent"
    return held, "running" if held.kind == CLAIMED else held.kind


def _alive(place: Place, claim: Record) -> bool:
    worker = body_of(claim)["worker"]
    mine = worker == place.store.worker
    return place.slot in place.running if mine else place.store.alive(worker)


def once(place: Place, function: Callable[..., Any], args: Sequence[Any], named: Any) -> Any:
    """Run the function unless it has run; its result, now or from the record."""
    what = fingerprint(place.store, function, args, named)
    held, found = look(place)
    if held is not None and found != "absent":
        return _known(place, held, found, what)
    slot, mine = place.slot, object()
    if place.running.setdefault(slot, mine) is not mine:
        raise _busy(place)
    try:
        id = held.id if held else new_id(place.now())
        version = _claim(place, id, held.version if held else 0, what)
        return _run(place, id, version, what, (function, args, named))
    finally:
        del place.running[slot]


def _claim(place: Place, id: str, seen: int, what: str) -> int:
    try:
        return place.write(id, seen, CLAIMED, {"function": what, "worker": place.store.worker})
    except Conflict:
        # Another worker was faster; whatever it made of the step is for the next call to tell.
        raise _busy(place) from None


def _run(place: Place, id: str, version: int, what: str, call: tuple[Any, Any, Any]) -> Any:
    function, args, named = call
    if "step" in _keyword_only(function):
        named = {**named, "step": Step(place.name, id)}
    try:
        result = plain(function(*args, **named), "the step's result", finite=False)
    except BaseException:
        # Whether the effect happened before it failed, nobody knows.
        with suppress(HoldfastError):
            place.write(id, version, IN_DOUBT, {"function": what})
        raise
    place.write(id, version, DONE, {"function": what, "result": result})
    return result


def settle(place: Place, *, result: Any, retry: bool) -> None:
    """Say what became of a step in doubt: its result, or that it may run again."""
    held, found = look(place)
    if held is None or found == "absent":
        raise NotFound(
            f"Step '{place.name}' has not begun.", hint="See thread.step_status().", step=place.name
        )
    if found == "running":
        raise _busy(place)
    if found == DONE:
        raise Conflict(f"Step '{place.name}' is done.", hint="Nothing is to be settled.")
    body = body_of(held)
    if retry:
        place.write(held.id, held.version, _FREED, {"function": body["function"]})
    else:
        value = plain(result, "result", finite=False)
        place.write(held.id, held.version, DONE, {"function": body["function"], "result": value})


def fingerprint(store: Store, function: Callable[..., Any], args: Sequence[Any], named: Any) -> str:
    """Names function and arguments, so that another call under the same step name is noticed."""
    while isinstance(function, partial):
        args, named = [*function.args, *args], {**function.keywords, **named}
        function = function.func
    try:
        given = canonical_json([plain(list(args), "arguments"), plain(dict(named), "arguments")])
    except InvalidInput as error:
        raise InvalidInput(
            "The arguments of a step are not plain data.",
            hint="Pass plain data, or a function that closes over the rest. " + error.hint,
        ) from None
    name = getattr(function, "__qualname__", type(function).__qualname__)
    module = getattr(function, "__module__", "")
    return keyed(store.salt, "call", str(module), name, given).hex()


def _known(place: Place, held: Record, found: str, what: str) -> Any:
    body = body_of(held)
    if body["function"] != what:
        raise Conflict(
            f"Step '{place.name}' was begun with another function or other arguments.",
            hint="Give each piece of work its own step name.",
            step=place.name,
        )
    if found == DONE:
        return json.loads(held.body)["result"]
    if found == "running":
        raise _busy(place)
    raise InDoubt(
        f"Step '{place.name}' may or may not have happened.",
        hint="Find out, then thread.settle(name, result=...) or thread.settle(name, retry=True).",
        step=place.name,
        thread=place.thread,
    )


def _busy(place: Place) -> Busy:
    return Busy(
        f"Step '{place.name}' is running in another worker.", hint="Retry later.", step=place.name
    )


def _keyword_only(function: Callable[..., Any]) -> set[str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return set()
    return {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
