"""What all handles of one opened memory share: the store, the clock, the tally of recalls.

Handles (Memory, Scope, Thread) hold no state of a call; two threads never meet in a field of
theirs.
"""

import os
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from .errors import Busy, Conflict, HoldfastError, Misconfigured
from .lifecycle.forget import forget
from .store.contract import Batch, Durability, Erase, Once, Store, Tally
from .store.plan import Answers, Plan, answers_from_json, answers_to_json
from .values.hashing import keyed
from .values.owner import Owner
from .values.receipts import ErasureReceipt
from .values.record import Record
from .values.text import canonical_json, said_text

_TRIES = 100


class Engine:
    """A store with a clock, and the one way to write a plan."""

    def __init__(self, store: Store, now: Callable[[], int], *, read_only: bool) -> None:
        self.store = store
        self.now = now
        self.read_only = read_only
        self.running: dict[bytes, object] = {}
        """Slots of the steps that run in this handle right now."""
        self.pending_erasure = False
        self._closed = False
        self._tally: dict[str, Tally] = {}
        self._tally_lock = threading.Lock()
        self._counted_in = os.getpid()

    def write(
        self,
        make: Callable[[int], Plan],
        owner: Owner,
        *,
        key: str | None = None,
        arguments: Any = None,
        durability: Durability | None = None,
    ) -> Answers:
        """Make a plan and write it whole; made anew while others are faster.

        With an idempotency key the answer of the first write is given again.
        """
        once = None
        if key is not None:
            shown = keyed(self.store.salt, "arguments", canonical_json(arguments))
            once = Once(owner, said_text(key, "idempotency_key"), shown)
        for _ in range(_TRIES):
            try:
                plan = make(self.now())
            except HoldfastError:
                # A retry that can no longer be planned has its answer all the same.
                receipt = None if once is None else self.store.answered(once, self.now())
                if receipt is not None:
                    return answers_from_json(receipt)
                raise
            if plan.empty and once is None:
                return plan.receipts
            if once is not None:
                once = replace(once, receipt=answers_to_json(plan.receipts))
            try:
                applied = self.store.apply(plan.batch(once, durability))
            except Conflict as conflict:
                if "actual" in conflict.facts:
                    continue  # something seen has moved on: plan from what is there now
                raise
            if applied.replayed is not None:
                return answers_from_json(applied.replayed)
            return plan.receipts
        raise Busy("Others kept changing the same record.", hint="Retry in a moment.")

    def count_recall(self, records: Iterable[Record], now_us: int) -> None:
        """Count a recall in memory; recall never writes, `flush` does."""
        if self.read_only:
            return
        with self._tally_lock:
            if self._counted_in != os.getpid():
                # After a fork the parent writes what was counted before it.
                self._tally, self._counted_in = {}, os.getpid()
            for record in records:
                before = self._tally.get(record.id)
                hits = before.hits + 1 if before else 1
                self._tally[record.id] = Tally(record.owner, record.id, hits, now_us)

    def hits(self, record: Record) -> int:
        """How often a record was recalled, the recalls not yet written included."""
        waiting = self._tally.get(record.id)
        return record.hits + (waiting.hits if waiting else 0)

    def flush(self) -> None:
        """Write the tally, and finish what an erasure had to leave in the log."""
        if self._closed:
            raise Misconfigured("The memory is closed.", hint="Open it again.")
        with self._tally_lock:
            waiting, self._tally = list(self._tally.values()), {}
        if waiting and self._counted_in == os.getpid():
            self.store.apply(Batch(self.now(), tallies=waiting))
        if self.pending_erasure:
            self.pending_erasure = not self.store.scrub()

    def forget(self, what: Erase) -> ErasureReceipt:
        """Erase for good; what stays in a log that others hold is finished by `flush`."""
        receipt = forget(self.store, what, self.now())
        self.pending_erasure = self.pending_erasure or receipt.pending
        return receipt

    def close(self) -> None:
        """Flush what can be flushed, and close the store."""
        if not self._closed:
            try:
                self.flush()
            finally:
                self._closed = True
                self.store.close()
