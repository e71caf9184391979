"""The numbered invariants, and the judge that checks them against what the outside was told.

The judge is pure: it sees what a fresh reader found in the store (`Kept`), the log of
acknowledgements and the effects that ran. It knows no store, so the broken writers stand before the
same judge.

    I1  lost       an acknowledged turn or step is missing
    I2  half       a turn is there in part, or in other words than it was written
    I3  phantom    something is there that nobody began to write
    I4  twice      an effect ran more than once, or would run again when the agent resumes
    I5  noeffect   a step counts as done, but its effect never ran
    I6  corrupt    SQLite's own integrity check finds a fault, or a whole file is called Corrupt
    I7  noopen     the store cannot be opened or read
    I8  gap        a turn is missing although a turn begun after its acknowledgement is there
    I9  disagree   messages() or restore() tell something else than the episodes
    I10 unsettled  a step in doubt is not reported as such, or cannot be settled
    I11 nowrite    the recovered store takes no new turn
    I12 gaveup     a writer stopped with an error although nothing was broken
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from .story import Log, Turn, canonical, fact, state, texts

INVARIANTS = (
    "lost",
    "half",
    "phantom",
    "twice",
    "noeffect",
    "corrupt",
    "noopen",
    "gap",
    "disagree",
    "unsettled",
    "nowrite",
    "gaveup",
)


class Violation(NamedTuple):
    """One breach of an invariant: its name, and what was seen (never more than a line)."""

    name: str
    what: str


@dataclass
class Piece:
    """What was found of one turn."""

    texts: dict[str, str] = field(default_factory=dict)
    states: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    surplus: int = 0


@dataclass
class Kept:
    """What a fresh reader found: pieces of turns, the status of steps, and breaches of its own."""

    turns: dict[Turn, Piece] = field(default_factory=dict)
    steps: dict[Turn, str] = field(default_factory=dict)
    strangers: int = 0
    breaches: list[Violation] = field(default_factory=list)

    def piece(self, turn: Turn) -> Piece:
        """The piece of that turn, an empty one at first."""
        return self.turns.setdefault(turn, Piece())

    def altered(self) -> int:
        """How many texts, states and facts are there in other words than they were written."""
        return self.strangers + sum(map(_altered, self.turns, self.turns.values()))

    def whole(self) -> set[Turn]:
        """The turns that are there to the letter."""
        return {turn for turn, piece in self.turns.items() if piece == expected(turn)}


def _altered(turn: Turn, piece: Piece) -> int:
    wanted = expected(turn)
    return (
        piece.surplus
        + sum(wanted.texts.get(part) != text for part, text in piece.texts.items())
        + sum(state not in wanted.states for state in piece.states)
        + sum(fact not in wanted.facts for fact in piece.facts)
    )


def expected(turn: Turn) -> Piece:
    """All that the turn writes, as the reader is to find it."""
    piece = Piece(texts={str(part): text for part, text in enumerate(texts(turn))})
    if turn.is_batch:
        piece.states = [canonical(state(turn))]
        piece.facts = [fact(turn)]
    return piece


def judge(
    kept: Kept, log: Log, effects: Counter[Turn], *, suffix_may_miss: bool = False
) -> list[Violation]:
    """Every breach. `suffix_may_miss`: the last turns may be gone, as under 'normal'."""
    found = list(kept.breaches)
    if any(breach.name == "noopen" for breach in found):
        return found
    found += _turns(kept, log, suffix_may_miss=suffix_may_miss)
    found += _order(kept, log)
    found += _steps(kept, log, effects)
    return found


def _turns(kept: Kept, log: Log, *, suffix_may_miss: bool) -> list[Violation]:
    begun, whole = log.named("begin"), kept.whole()
    found = [
        Violation("lost", f"turn {turn} was acknowledged")
        for turn in sorted(log.named("ack") - set(kept.turns))
        if not suffix_may_miss
    ]
    found += [
        Violation("half", f"turn {turn}: {_difference(kept.turns[turn], turn)}")
        for turn in sorted(set(kept.turns) & begun - whole)
    ]
    found += [
        Violation("phantom", f"turn {turn} was never begun")
        for turn in sorted(set(kept.turns) - begun)
    ]
    if kept.strangers:
        found.append(Violation("phantom", f"{kept.strangers} texts that no writer writes"))
    return found


def _difference(piece: Piece, turn: Turn) -> str:
    wanted = expected(turn)
    parts = [f"texts {sorted(piece.texts)} of {sorted(wanted.texts)}"]
    parts += [f"text {p} differs" for p, t in piece.texts.items() if wanted.texts.get(p) != t]
    if piece.states != wanted.states:
        parts.append(f"{len(piece.states)} states for {len(wanted.states)}")
    if piece.facts != wanted.facts:
        parts.append(f"{len(piece.facts)} facts for {len(wanted.facts)}")
    return ", ".join([*parts, *(["surplus"] if piece.surplus else [])])


def _order(kept: Kept, log: Log) -> list[Violation]:
    """Only a suffix may miss: what is kept was not begun after what is missing was promised."""
    there = {("begin", turn) for turn in kept.turns}
    there |= {("step", turn) for turn, status in kept.steps.items() if status != "absent"}
    newest = max((at for at, event in enumerate(log.events) if event in there), default=-1)
    done = {turn for turn, status in kept.steps.items() if status == "done"}
    missing = {"ack": log.named("ack") - set(kept.turns), "stepped": log.named("stepped") - done}
    return [
        Violation(
            "gap", f"{verb} of {turn} precedes the begin of {log.events[newest][1]}, which is there"
        )
        for at, (verb, turn) in enumerate(log.events)
        if at < newest and turn in missing.get(verb, ())
    ]


def _steps(kept: Kept, log: Log, effects: Counter[Turn]) -> list[Violation]:
    """Steps are durable under 'normal' too, and an effect that ran must have left its claim."""
    done = {turn for turn, status in kept.steps.items() if status == "done"}
    found = [
        Violation("lost", f"step of {turn} had returned") for turn in log.named("stepped") - done
    ]
    found += [
        Violation("phantom", f"step of {turn} is {status}, but was never called")
        for turn, status in kept.steps.items()
        if status != "absent" and turn not in log.named("step")
    ]
    found += [
        Violation("twice", f"effect of {t} ran {n} times") for t, n in effects.items() if n > 1
    ]
    found += [
        Violation("twice", f"effect of {turn} ran, its step is absent and would run again")
        for turn in effects
        if kept.steps.get(turn, "absent") == "absent"
    ]
    found += [Violation("noeffect", f"step of {turn} is done") for turn in done - set(effects)]
    found += [
        Violation("unsettled", f"step of {turn} is {status} although its worker is gone")
        for turn, status in kept.steps.items()
        if status not in ("absent", "done", "in_doubt")
    ]
    return found
