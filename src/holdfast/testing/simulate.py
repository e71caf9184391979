"""A seeded run of random operations, crashes and clock jumps, checked against a plain model.

    simulate(seed, stores)        raises Violation, whose message names the seed that replays it

The model is a nested dictionary of what each user should see. An operation is applied to a copy of
it and to the memory under test; then everything is read and compared. After a crash in the middle
of an operation both the state before and the state after are right, and nothing in between.
"""

import random
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from copy import deepcopy
from typing import Any, Protocol

from ..engine import Engine
from ..errors import Conflict, HoldfastError, InDoubt
from ..memory import Memory
from ..scope import Scope
from ..store.contract import Batch, Expected, Put, Store
from ..store.points import POINTS
from ..values.owner import Owner
from ..values.record import FACT, Record, new_id
from ..values.times import micros, ticker
from .clock import FakeClock
from .faults import Crash, at

PEOPLE = (("", "alice"), ("", "bob"), ("acme", "alice"))
_THREADS = ("main", "side")
_WORDS = ("tea", "coffee", "trains", "chess", "Oslo", "CSV", "mornings", "jazz")
_COMMITS = [name for name in POINTS if name.startswith("commit.")]

World = dict[str, Any]
Operation = Callable[["Run", Any, World, str], None]


class Violation(AssertionError):
    """What was read is not what the model allows."""


class Stores(Protocol):
    """How the simulator opens the store under test, and lets its process die."""

    def open(self) -> Store:
        """A handle on what survives; several may be open."""

    def freeze(self) -> None:
        """Called in the moment of a crash, inside the commit: keep the disk as it is now."""

    def crashed(self, stores: list[Store]) -> None:
        """The process that held these handles is dead."""


class Run:
    """One simulated life of a memory."""

    def __init__(self, seed: int, stores: Stores) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self.clock = FakeClock()
        self._stores = stores
        self.stores: list[Store] = []
        self._handles: list[Memory] = []
        self.effect_ran = False
        self.world: World = {_name(*person): _nobody() for person in PEOPLE}
        self._reopen()

    def _reopen(self) -> None:
        self.stores = [self._stores.open(), self._stores.open()]
        now = ticker(self.clock)
        self._handles = [Memory(Engine(store, now, read_only=False)) for store in self.stores]

    def go(self, steps: int) -> None:
        """Do that many operations, checking after each."""
        for step in range(steps):
            self.clock.advance(seconds=self.random.choice((0, 0, 1, 60, -30, 3600)))
            operation = self.random.choice(OPERATIONS)
            name = self.random.choice(sorted(self.world))
            self._do(step, operation, name)
        self._compare(f"seed {self.seed}, at the end", self.world, self.world)
        for memory in self._handles:
            memory.close()

    def _do(self, step: int, operation: Operation, name: str) -> None:
        self.effect_ran = False
        label = f"seed {self.seed}, step {step}, {operation.__name__} for {name}"
        after = deepcopy(self.world)
        memory = self.random.choice(self._handles)
        crash = self.random.random() < 0.15
        try:
            with self._crashing() if crash else _nothing():
                operation(self, self.scope(memory, name), after[name], name)
        except Crash:
            self._stores.crashed(self.stores)
            self._reopen()
            self.world = self._survived(label, after)
            return
        except HoldfastError as error:
            raise Violation(f"{label}: {type(error).__name__}: {error}") from error
        if self.random.random() < 0.05:
            self._restart()
        self._compare(label, after, {name, self.random.choice(sorted(after))})
        self.world = after

    def _survived(self, label: str, after: World) -> World:
        """What a crash left: the state before, or after, or a step in doubt between them."""
        seen = self._observe(after)
        doubt = deepcopy(after)
        for name, whole in doubt.items():
            for id, thread in whole["threads"].items():
                if thread["mail"] != self.world[name]["threads"][id]["mail"]:
                    thread["mail"] = "in_doubt"
        allowed = [doubt, after] if self.effect_ran else [self.world, doubt, after]
        if seen not in allowed:
            raise Violation(f"{label}: half done after a crash: {_difference(seen, after)}")
        return seen

    def _compare(self, label: str, wanted: World, names: Iterable[str]) -> None:
        seen = self._observe(names)
        if any(seen[name] != wanted[name] for name in seen):
            raise Violation(f"{label}: {_difference(seen, wanted)}")

    @contextmanager
    def _crashing(self) -> Any:
        def die() -> None:
            self._stores.freeze()
            raise Crash

        with at(self.random.choice(_COMMITS), die, nth=self.random.choice((1, 1, 2))):
            yield

    def _restart(self) -> None:
        for memory in self._handles:
            memory.close()
        self._reopen()

    def scope(self, memory: Memory, name: str) -> Scope:
        """The scope of one of the people."""
        tenant, _, user = name.partition("/")
        return memory.scope(user=user, agent="agent", tenant=tenant)

    def word(self) -> str:
        """A text that says something, of few so that they repeat."""
        return f"likes {self.random.choice(_WORDS)}"

    def _observe(self, names: Iterable[str]) -> World:
        """Everything that these people see, through any handle."""
        memory = self.random.choice(self._handles)
        return {name: self._seen(memory, name) for name in names}

    def _seen(self, memory: Memory, name: str) -> World:
        scope = self.scope(memory, name)
        facts = scope.records(kinds=["fact"], limit=1000)
        threads = {}
        for id in _THREADS:
            thread = scope.thread(id)
            episodes = thread.episodes()
            times = [episode.recorded_at for episode in episodes]
            if times != sorted(set(times)):
                raise Violation(f"seed {self.seed}: recorded time went back in {name}/{id}")
            threads[id] = {
                "episodes": [episode.text for episode in episodes],
                "state": thread.restore(),
                "mail": thread.step_status("mail"),
            }
        return {
            "facts": sorted((hit.key or "", hit.text) for hit in facts),
            "preferences": dict(scope.preferences),
            "threads": threads,
        }


def simulate(seed: int, stores: Stores, *, steps: int = 40) -> None:
    """One run; Violation when the memory under test and the model part ways."""
    Run(seed, stores).go(steps)


def _remember(run: Run, scope: Scope, world: World, _: str) -> None:
    text, key = run.word(), run.random.choice((None, None, "drink", "game"))
    _learn(world, key or "", text)
    scope.remember(text, key=key)


def _remember_many(run: Run, scope: Scope, world: World, _: str) -> None:
    facts = [(run.word(), run.random.choice((None, "drink"))) for _ in range(4)]
    for text, key in facts:
        _learn(world, key or "", text)
    scope.remember_many([{"text": text, "key": key} for text, key in facts])


def _remember_twice(run: Run, scope: Scope, world: World, name: str) -> None:
    """An idempotency key: a retry gives the same receipt, other arguments are refused."""
    key, text = f"k{run.random.randrange(10**9)}", f"{run.word()} {run.random.randrange(99)}"
    _learn(world, "", text)
    receipt = scope.remember(text, idempotency_key=key)
    if scope.remember(text, idempotency_key=key) != receipt:
        raise Violation(f"seed {run.seed}: a retry got another receipt")
    _refused(run, lambda: scope.remember("something else", idempotency_key=key))


def _edit(run: Run, scope: Scope, world: World, _: str) -> None:
    facts = scope.records(kinds=["fact"])
    if not facts:
        return
    hit = run.random.choice(facts)
    text = f"edited {run.random.randrange(10**9)}"
    _refused(run, lambda: scope.edit(hit.id, text=text, expected=hit.version + 1))
    key = hit.key or ""
    world["facts"] = sorted([(k, t) for k, t in world["facts"] if (k, t) != (key, hit.text)])
    _learn(world, key, text)
    scope.edit(hit.id, text=text, expected=hit.version)


def _prefer(run: Run, scope: Scope, world: World, _: str) -> None:
    key, value = run.random.choice("ab"), run.random.choice(("x", 7, ["y"], True))
    world["preferences"][key] = value
    scope.preferences[key] = value


def _unprefer(run: Run, scope: Scope, world: World, _: str) -> None:
    world["preferences"].pop("a", None)
    scope.preferences.delete("a")


def _add(run: Run, scope: Scope, world: World, _: str) -> None:
    id, text = run.random.choice(_THREADS), run.word()
    world["threads"][id]["episodes"].append(text)
    scope.thread(id).add(run.random.choice(("user", "assistant", "system")), text)


def _batch(run: Run, scope: Scope, world: World, _: str) -> None:
    id, text, state = run.random.choice(_THREADS), run.word(), {"n": run.random.randrange(99)}
    world["threads"][id]["episodes"] += [text, "noted", "done"]
    world["threads"][id]["state"] = state
    _learn(world, "", f"{text} a lot")
    with scope.thread(id).batch() as batch:
        batch.add("user", text)
        batch.note("decision", "noted")
        batch.checkpoint(state)
        batch.remember(f"{text} a lot", source="elsewhere")
        batch.add("assistant", "done")


def _checkpoint(run: Run, scope: Scope, world: World, _: str) -> None:
    id, state = run.random.choice(_THREADS), [run.random.randrange(99), "x", None]
    world["threads"][id]["state"] = state
    saved = scope.thread(id).checkpoint(state)
    _refused(run, lambda: scope.thread(id).checkpoint("stale", expected=saved.number - 1))


def _stale(run: Run, scope: Scope, world: World, name: str) -> None:
    """A batch that expects what never was is refused by the store itself."""
    tenant, _, user = name.partition("/")
    owner = Owner(tenant, user)
    now_us = micros(run.clock(), "clock")
    record = Record(new_id(now_us), owner, FACT, "fact", '{"text":"stale"}', now_us, user)
    batch = Batch(now_us, (Put(record),), (Expected(owner, 7, slot=b"free"),))
    _refused(run, lambda: run.random.choice(run.stores).apply(batch))


def _once(run: Run, scope: Scope, world: World, name: str) -> None:
    """The effect must never run twice; in doubt after a crash, it is settled."""
    id = run.random.choice(_THREADS)
    before = world["threads"][id]["mail"]
    world["threads"][id]["mail"] = "done"

    def send() -> None:
        run.effect_ran = True

    try:
        scope.thread(id).once("mail", send)
    except InDoubt:
        scope.thread(id).settle("mail", result=None)
    if run.effect_ran and before != "absent":
        raise Violation(f"seed {run.seed}: an effect ran twice in {name}/{id}")


def _forget(run: Run, scope: Scope, world: World, _: str) -> None:
    facts = scope.records(kinds=["fact"])
    if facts:
        hit = run.random.choice(facts)
        world["facts"].remove((hit.key or "", hit.text))
        scope.forget(hit.id)


def _forget_thread(run: Run, scope: Scope, world: World, _: str) -> None:
    id = run.random.choice(_THREADS)
    world["threads"][id] = _no_thread()
    scope.thread(id).forget()


def _forget_user(run: Run, scope: Scope, world: World, name: str) -> None:
    if run.random.random() < 0.5:
        world.clear()
        world.update(_nobody())
        tenant, _, user = name.partition("/")
        run.random.choice(run._handles).forget(user=user, tenant=tenant)


OPERATIONS: tuple[Operation, ...] = (
    _remember, _remember, _remember_many, _remember_twice, _edit, _prefer, _unprefer, _add, _add,
    _batch, _batch, _checkpoint, _stale, _once, _forget, _forget_thread, _forget_user,
)  # fmt: skip


def _refused(run: Run, act: Callable[[], object]) -> None:
    try:
        act()
    except Conflict:
        return
    raise Violation(f"seed {run.seed}: a stale or mismatched write was accepted")


def _learn(world: World, key: str, text: str) -> None:
    facts = world["facts"]
    if key:
        facts[:] = [(k, t) for k, t in facts if k != key]
    if (key, text) not in facts:
        facts.append((key, text))
    facts.sort()


def _nobody() -> World:
    return {"facts": [], "preferences": {}, "threads": {id: _no_thread() for id in _THREADS}}


def _no_thread() -> World:
    return {"episodes": [], "state": None, "mail": "absent"}


def _name(tenant: str, user: str) -> str:
    return f"{tenant}/{user}"


def _difference(seen: World, wanted: World) -> str:
    """Where two worlds differ; they hold made-up words only."""
    for name, whole in seen.items():
        for part, value in whole.items():
            if value != wanted[name][part]:
                return f"{name} {part}: read {value!r}, expected {wanted[name][part]!r}"
    return "nothing"


@contextmanager
def _nothing() -> Any:
    yield
