"""What the writers write: every turn's content follows from its worker and number alone.

So a checker that knows nothing but "turn 17 of p0t1 was acknowledged" can tell what has to be
there, to the letter. A worker is one thread of one process; it has a conversation of its own.

The log is what the world outside the store was told: lines `verb worker number`, in real order.
    begin   the turn is about to be written          ack      it was acknowledged
    step    the once-step is about to be called      stepped  it has returned
An effect is a line `worker number` in a file that is appended to and synced.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

ROLES = ("user", "assistant", "user")


class Turn(NamedTuple):
    """Names a turn: the worker and its number, from 1."""

    worker: str
    number: int

    def __str__(self) -> str:
        return f"{self.worker}/{self.number}"

    @property
    def is_batch(self) -> bool:
        """A batch of three messages, a checkpoint and a fact; else a single message."""
        return self.number % 4 != 3

    @property
    def has_step(self) -> bool:
        """Whether a once-step with an effect follows the turn."""
        return self.number % 3 == 2


def texts(turn: Turn) -> list[str]:
    """The texts of the turn's messages."""
    return [_text(turn, str(part)) for part in range(3 if turn.is_batch else 1)]


def fact(turn: Turn) -> str:
    """The fact that the turn remembers."""
    return _text(turn, "fact")


def state(turn: Turn) -> dict[str, object]:
    """The state that the turn's checkpoint keeps."""
    return {
        "worker": turn.worker,
        "turn": turn.number,
        "draft": _text(turn, "state"),
        "open": [1, 2],
    }


def step_name(turn: Turn) -> str:
    """The name of the once-step that follows the turn."""
    return f"send-{turn.number}"


def outcome(turn: Turn) -> str:
    """What the once-step returns."""
    return f"sent {turn}"


def parse(text: str) -> tuple[Turn, str] | None:
    """The turn and the part that a stored text claims to be; None when it claims nothing."""
    worker, _, rest = text.partition("/")
    number, _, rest = rest.partition("/")
    if not worker or not number.isdigit() or not rest:
        return None
    return Turn(worker, int(number)), rest.partition(" ")[0]


def _text(turn: Turn, part: str) -> str:
    """Short most of the time; every seventh turn long enough for several overflow pages."""
    digest = hashlib.sha256(f"{turn}/{part}".encode()).hexdigest()
    length = 9000 if turn.number % 7 == 0 else 20 + int(digest[:2], 16)
    return f"{turn}/{part} Grüße 🙂 " + (digest * (length // len(digest) + 1))[:length]


@dataclass
class Log:
    """What the outside was told, in order."""

    events: list[tuple[str, Turn]] = field(default_factory=list)

    @classmethod
    def read(cls, lines: Iterable[str]) -> "Log":
        """The log in these lines; what is no whole line of it is not part of it."""
        log = cls()
        for line in lines:
            words = line.split(" ")
            if len(words) == 3 and line.endswith("\n") and words[2].strip().isdigit():
                log.events.append((words[0], Turn(words[1], int(words[2]))))
        return log

    def named(self, verb: str) -> set[Turn]:
        """The turns of all events of that verb."""
        return {turn for said, turn in self.events if said == verb}

    def open(self, begun: str, ended: str) -> set[Turn]:
        """What was begun and not ended: where a kill fell."""
        return self.named(begun) - self.named(ended)

    def last(self, worker: str) -> int:
        """The highest number that the worker has begun."""
        return max((t.number for verb, t in self.events if t.worker == worker), default=0)

    def lines(self) -> list[str]:
        """The log as it would be read again."""
        return [f"{verb} {turn.worker} {turn.number}\n" for verb, turn in self.events]


def effects(data: bytes) -> Counter[Turn]:
    """How often each effect ran, from the effects file; a torn last line did not run."""
    lines = data.split(b"\n")[:-1]
    words = [line.split() for line in lines]
    return Counter(Turn(w[0].decode(), int(w[1])) for w in words if len(w) == 2 and w[1].isdigit())


def canonical(value: object) -> str:
    """One spelling for equal plain values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
