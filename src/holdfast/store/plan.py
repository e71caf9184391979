"""What a room wants written, collected before it becomes one batch.

A plan is made from what was read, and names it as seen; when another writer was faster, it is made
anew from what is there now. What the caller expected is compared while it is made.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ..values.owner import Owner
from ..values.receipts import Receipt, Saved
from ..values.record import Record
from ..values.text import to_json
from .contract import Batch, Durability, Expected, Once, Over, Put, Store, Tally

Answers = list[Receipt | Saved]


@dataclass(slots=True)
class Plan:
    """Puts, expectations and tallies to come, and the receipts that they will earn."""

    now_us: int
    puts: list[Put] = field(default_factory=list)
    seen: list[Expected] = field(default_factory=list)
    tallies: list[Tally] = field(default_factory=list)
    receipts: Answers = field(default_factory=list)
    looked: set[tuple[Owner, bytes]] = field(default_factory=set)
    current: dict[tuple[Owner, bytes], Record] = field(default_factory=dict)
    """What the slots hold once the puts so far are made."""

    def look(self, store: Store, owner: Owner, slots: Iterable[bytes]) -> None:
        """Read what slots hold that this plan has not seen yet, and expect it to stay so."""
        unseen = [slot for slot in dict.fromkeys(slots) if (owner, slot) not in self.looked]
        held = store.holders(owner, unseen) if unseen else {}
        for slot in unseen:
            self.looked.add((owner, slot))
            self.seen.append(Expected(owner, held[slot].version if slot in held else 0, slot=slot))
            if slot in held:
                self.current[owner, slot] = held[slot]

    def put(self, record: Record, over: Over) -> int:
        """Add a put; the version that its record will have."""
        held = None if record.slot is None else self.current.get((record.owner, record.slot))
        version = held.version + 1 if held else 1
        self.puts.append(Put(record, over))
        if record.slot is not None:
            self.current[record.owner, record.slot] = record._replace(version=version)
        return version

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return not self.puts and not self.tallies

    def batch(self, once: Once | None, durability: Durability | None) -> Batch:
        """The plan as one batch."""
        return Batch(
            self.now_us,
            tuple(self.puts),
            tuple(self.seen),
            tallies=tuple(self.tallies),
            once=once,
            durability=durability,
        )


def answers_to_json(receipts: Sequence[Receipt | Saved]) -> str:
    """Receipts as they are kept under an idempotency key; they hold no content."""
    return to_json(
        [
            [r.id, "saved", r.number] if isinstance(r, Saved) else [r.id, r.action, r.why]
            for r in receipts
        ]
    )


def answers_from_json(text: str) -> Answers:
    """The receipts of `answers_to_json`."""
    return [
        Saved(id, what) if action == "saved" else Receipt(id, action, what)
        for id, action, what in json.loads(text)
    ]
