"""A line of work with an id that can be resumed: its messages, notes, states and steps.

Every `add` is durable when it returns. A thread belongs to the scope's owner, so all agents that
work for a user see it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from .engine import Engine
from .errors import InvalidInput, Misconfigured
from .knowledge.facts import ARGUMENTS, Statement, plan_statements
from .recall.render import tokens
from .state import steps
from .state.checkpoints import decode, encode, find_checkpoint, plan_checkpoint
from .state.episodes import episode, episode_body, message_body, message_kind, note_body, note_kind
from .state.resume import welcome_back
from .state.workingset import (
    FORMATS,
    MAX_ITEMS,
    Item,
    Unit,
    item_of,
    newest_that_fit,
    rendered,
    units,
)
from .store.contract import Erase
from .store.plan import Answers, Plan
from .values.message import Episode, Messages
from .values.owner import Owner, clean_id
from .values.receipts import ErasureReceipt, Receipt, Saved, WelcomeBack
from .values.record import MESSAGE, SYSTEM, Record
from .values.text import optional_count, to_json
from .values.times import optional_micros
from .values.views import as_episode

_T = TypeVar("_T")
_R = TypeVar("_R")
_Ops = list[Callable[[Plan], None]]


class Telling(ABC, Generic[_R]):
    """`add` and `note`: a thread writes them at once, a batch collects them."""

    @abstractmethod
    def _tell(self, kind: str, body: dict[str, Any], at_us: int | None, key: str | None) -> _R: ...

    def add(
        self,
        role: str | Mapping[str, Any],
        text: str | None = None,
        *,
        name: str | None = None,
        at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
        tool_calls: Sequence[Mapping[str, Any]] | None = None,
        tool_call_id: str | None = None,
        idempotency_key: str | None = None,
    ) -> _R:
        """Append a message: a role and a text, or a whole message in OpenAI or Anthropic shape."""
        body = message_body(
            role, text, name=name, metadata=metadata, tool_calls=tool_calls,
            tool_call_id=tool_call_id,
        )  # fmt: skip
        return self._tell(message_kind(body), body, optional_micros(at, "at"), idempotency_key)

    def note(
        self,
        kind: str,
        text: str,
        *,
        emotion: str | None = None,
        outcome: str | None = None,
        payload: Any = None,
        at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> _R:
        """Append a typed episode: decision, error, resolution, outcome, insight, or any word."""
        body = note_body(text, emotion, outcome, payload, metadata)
        return self._tell(note_kind(kind), body, optional_micros(at, "at"), idempotency_key)


class Thread(Telling[Receipt]):
    """A thread of a scope; the same id resumes it in any process."""

    def __init__(
        self, engine: Engine, owner: Owner, id: str, statement: Callable[..., Statement], agent: str
    ) -> None:
        self.id = id
        self._engine = engine
        self._owner = owner
        self._statement = statement
        self._agent = agent

    def _tell(self, kind: str, body: dict[str, Any], at_us: int | None, key: str | None) -> Receipt:
        batch = ThreadBatch(self, key)
        batch._tell(kind, body, at_us, None)
        (receipt,) = batch._write()
        assert isinstance(receipt, Receipt)
        return receipt

    def batch(self, *, idempotency_key: str | None = None) -> "ThreadBatch":
        """Collect writes in a `with` block; they commit together at its end or not at all."""
        return ThreadBatch(self, idempotency_key)

    def episodes(self, limit: int | None = None) -> list[Episode]:
        """The last episodes of the thread, oldest first, complete; all without a limit."""
        return [
            as_episode(record) for record in reversed(self._newest(optional_count(limit, "limit")))
        ]

    def _newest(self, limit: int | None, kinds: tuple[str, ...] | None = None) -> list[Record]:
        engine = self._engine
        return engine.store.episodes(
            self._owner, self.id, now_us=engine.now(), kinds=kinds, limit=limit
        )

    def messages(self, *, budget_tokens: int | None = None, format: str = "openai") -> Messages:
        """The working set, ready for an LLM: system first, then the newest messages that fit.

        A tool call is never parted from its results.
        """
        if format not in FORMATS:
            raise InvalidInput("The format is unknown.", hint=f"Use one of {', '.join(FORMATS)}.")
        system = self._newest(1, (SYSTEM,))
        prompt = item_of(system[0]) if system else None
        budget = optional_count(budget_tokens, "budget_tokens")
        if budget is not None and prompt is not None:
            budget -= _tokens([prompt])
        shown = newest_that_fit(self._units(), MAX_ITEMS, budget, _tokens)
        return rendered(prompt, shown, format)

    def _units(self) -> list[Unit]:
        """The newest units, reading further back only when one call has more results than the
        window.
        """
        limit = MAX_ITEMS
        while True:
            newest = self._newest(limit, (MESSAGE,))
            found = units(map(item_of, reversed(newest)))
            if found or len(newest) < limit:
                return found
            limit *= 2

    def checkpoint(self, state: Any, *, expected: int | None = None) -> Saved:
        """Save the whole state; with `expected` only if that number is still the newest."""
        batch = ThreadBatch(self, None)
        batch.checkpoint(state, expected=expected)
        (saved,) = batch._write()
        assert isinstance(saved, Saved)
        return saved

    def restore(self, checkpoint: str | int | Saved | None = None) -> Any:
        """The newest state, or the one of this checkpoint; None when nothing was saved."""
        found = find_checkpoint(self._engine.store, self._owner, self.id, checkpoint)
        return None if found is None else decode(found)

    def once(self, name: str, function: Callable[..., _T], /, *args: Any, **named: Any) -> _T:
        """Run an effect once: its result if it ran, InDoubt if nobody knows; never a repeat."""
        result: _T = steps.once(self._step(name), function, args, named)
        return result

    def settle(self, name: str, *, result: Any = None, retry: bool = False) -> None:
        """Decide a step in doubt: it happened and gave `result`, or it may run again
        (`retry=True`).
        """
        if retry and result is not None:
            raise InvalidInput("Both result and retry were given.", hint="Pass one of them.")
        steps.settle(self._step(name), result=result, retry=retry)

    def step_status(self, name: str) -> str:
        """absent, running, done or in_doubt."""
        return steps.look(self._step(name))[1]

    def _step(self, name: str) -> steps.Place:
        engine = self._engine
        step = clean_id(name, "step name")
        return steps.Place(engine.store, engine.now, engine.running, self._owner, self.id, step)

    def welcome_back(self) -> WelcomeBack | None:
        """Where this thread was left; None when nothing has happened in it."""
        engine = self._engine
        return welcome_back(engine.store, engine.running, self._owner, self.id, engine.now())

    def forget(self) -> ErasureReceipt:
        """Erase the thread: episodes, states, steps, and facts learned from it alone."""
        return self._engine.forget(Erase(self._owner, thread=self.id))


class ThreadBatch(Telling[None]):
    """Writes that commit together. It has no reads: they show what is committed."""

    def __init__(self, thread: Thread, idempotency_key: str | None) -> None:
        self.receipts: Answers = []
        self._thread = thread
        self._key = idempotency_key
        self._ops: _Ops = []
        self._said: list[Any] = []
        self._closed = False

    def _tell(self, kind: str, body: dict[str, Any], at_us: int | None, key: str | None) -> None:
        thread = self._thread
        if key is not None:
            raise InvalidInput("Inside a batch only the batch takes a key.", hint="Give it there.")

        whole = episode_body(body, thread._agent)

        def op(plan: Plan) -> None:
            record = episode(thread._owner, thread.id, kind, whole, at_us, plan.now_us)
            plan.put(record, "append")
            plan.receipts.append(Receipt(record.id, "added"))

        self._take(op, ["episode", kind, whole, at_us])

    def remember(self, text: str, *, source: str | None = None, **rest: Any) -> None:
        """As Scope.remember; learned from this thread unless another source is named."""
        thread = self._thread
        if not rest.keys() <= ARGUMENTS:
            raise InvalidInput(
                "remember has no such argument here.", hint="A key is given to the batch."
            )
        learned_from = thread.id if source is None else source
        one = replace(thread._statement(text, source=learned_from, **rest), thread=thread.id)
        said = ["remember", asdict(one)] if self._key is not None else None
        self._take(lambda plan: plan_statements(plan, thread._engine.store, [one]), said)

    def checkpoint(self, state: Any, *, expected: int | None = None) -> None:
        """As Thread.checkpoint."""
        thread, seen, encoded = self._thread, optional_count(expected, "expected"), encode(state)
        self._take(
            lambda plan: plan_checkpoint(
                plan, thread._engine.store, thread._owner, thread.id, encoded, seen
            ),
            ["checkpoint", encoded.decode(), seen],
        )

    def _take(self, op: Callable[[Plan], None], said: Any) -> None:
        self._refuse_closed()
        self._ops.append(op)
        if self._key is not None:
            self._said.append(said)

    def _refuse_closed(self) -> None:
        if self._closed:
            raise Misconfigured("The batch is closed.", hint="Open a new one: thread.batch().")

    def _write(self) -> Answers:
        """Commit what was collected, whole."""
        self._closed = True
        thread = self._thread

        def make(now_us: int) -> Plan:
            plan = Plan(now_us)
            for op in self._ops:
                op(plan)
            return plan

        self.receipts = thread._engine.write(
            make, thread._owner, key=self._key, arguments=[thread.id, self._said]
        )
        return self.receipts

    def __enter__(self) -> Self:
        self._refuse_closed()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed = True
        if kind is None and self._ops:
            self._write()


def _tokens(unit: list[Item]) -> int:
    return sum(tokens(to_json(item.original)) for item in unit)
