"""What a write answers: proof without content."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Receipt:
    """What became of a write: `.id`, `.action` (added, merged, superseded, edited) and `.why`."""

    id: str
    action: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Saved:
    """A checkpoint that is kept: `.id` and its `.number` within the thread."""

    id: str
    number: int


@dataclass(frozen=True, slots=True)
class ErasureReceipt:
    """What was erased, in counts by form of record; never content.

    `.pending` says that the rows are gone but their bytes may still stand in the write-ahead log,
    because another reader holds it; `memory.flush()` tries again.
    """

    counts: dict[str, int]
    at: datetime
    pending: bool = False

    @property
    def total(self) -> int:
        """How many records were erased."""
        return sum(self.counts.values())

    @property
    def empty(self) -> bool:
        """True when nothing matched, so that nothing was erased."""
        return self.total == 0


@dataclass(frozen=True, slots=True)
class WelcomeBack:
    """Where a thread was left: the last `.message`, its time, and the `.step` that was open."""

    message: str
    at: datetime
    step: str | None = None

    def __str__(self) -> str:
        left = f"step '{self.step}'" if self.step else self.message
        end = "" if left.endswith((".", "?", "!", "…")) else "."
        return f"Welcome back. You left off at: {left}{end} Continue?"


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A thread that waits: for a reply, for an open step, or for a step in doubt to be settled."""

    tenant: str
    user: str
    agent: str
    thread: str
    why: str
    at: datetime
    step: str | None = None
