"""Bugs planted into a store, each of a kind that users of other systems were hurt by."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from holdfast.store.contract import Applied, Batch, Put, Store
from holdfast.values.owner import Owner, Sight


class Planted:
    """A store that works but for one bug."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def apply(self, batch: Batch) -> Applied:
        return self._store.apply(batch)


class Half(Planted):
    """A batch of several puts loses its last one."""

    def apply(self, batch: Batch) -> Applied:
        if len(batch.puts) < 4:
            return super().apply(batch)
        done = super().apply(replace(batch, puts=batch.puts[:-1]))
        return replace(done, versions=(*done.versions, 1))


class Lost(Planted):
    """Now and then a write is acknowledged and not made."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self._left = 5

    def apply(self, batch: Batch) -> Applied:
        self._left -= 1
        if self._left % 9 == 0 and batch.puts:
            return Applied(tuple(1 for _ in batch.puts))
        return super().apply(batch)


class Overwriting(Planted):
    """A stale writer is not refused."""

    def apply(self, batch: Batch) -> Applied:
        return super().apply(replace(batch, expected=()))


class Doubling(Planted):
    """A retry with an idempotency key writes again."""

    def apply(self, batch: Batch) -> Applied:
        return super().apply(replace(batch, once=None))


class Leaking(Planted):
    """A listing shows what another user of the tenant owns."""

    def scan(self, sight: Sight, **rest: Any) -> Any:
        other = Owner(sight.owners[0].tenant, "bob", "")
        return self._store.scan(Sight((*sight.owners, other), sight.user), **rest)


class Remembering(Planted):
    """Forgetting a user leaves what they own and says it did not."""

    def apply(self, batch: Batch) -> Applied:
        if batch.erase is not None and batch.erase.subject is not None:
            return Applied(erased={"fact": 1})
        return super().apply(batch)


class Forgetful(Planted):
    """A superseded fact is not retired but stays beside the new one, in no slot."""

    def apply(self, batch: Batch) -> Applied:
        puts = [
            Put(put.record._replace(slot=None)) if put.over == "retire" and put.record.key else put
            for put in batch.puts
        ]
        return super().apply(replace(batch, puts=puts))


class Claimless(Planted):
    """A step's claim is acknowledged and not written: its effect can run twice."""

    def apply(self, batch: Batch) -> Applied:
        if batch.puts and batch.puts[0].record.kind == "claimed":
            return Applied((1,))
        return super().apply(batch)


BUGS: tuple[Callable[[Store], Planted], ...] = (
    Half,
    Lost,
    Overwriting,
    Doubling,
    Leaking,
    Remembering,
    Forgetful,
    Claimless,
)
