"""What a checker process is asked about a file after a crash, and what it answers: plain data."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from .invariants import Kept, Violation, judge
from .story import Log, Turn, effects


@dataclass
class Request:
    """What to check. `suffix`: the last turns may miss. `leave`: end without closing the store.

    `damaged`: somebody changed the file behind our back; it is only read, and may be refused.
    """

    store: str
    habit: str
    path: str
    effects: str
    log: list[str]
    suffix: bool = False
    leave: bool = False
    damaged: bool = False


@dataclass
class Answer:
    """What was found there. `refused`: turns that are there although the writer got an error.

    `altered`: texts, states and facts that are there in other words than they were written.
    `error`: the type of the error of ours with which a damaged file was refused.
    """

    violations: list[Violation] = field(default_factory=list)
    turns: int = 0
    in_doubt: int = 0
    missing: int = 0
    refused: int = 0
    altered: int = 0
    error: str = ""
    told: list[str] = field(default_factory=list)


def ran(request: Request) -> Counter[Turn]:
    """How often each effect ran so far."""
    path = Path(request.effects)
    return effects(path.read_bytes()) if path.exists() else Counter()


def answer_of(kept: Kept, log: Log, request: Request) -> Answer:
    """The judgement of what was found."""
    return Answer(
        violations=judge(kept, log, ran(request), suffix_may_miss=request.suffix),
        turns=len(kept.whole()),
        in_doubt=sum(status == "in_doubt" for status in kept.steps.values()),
        missing=len(log.named("ack") - set(kept.turns)),
        refused=len(log.named("refused") & set(kept.turns) - log.named("ack")),
        altered=kept.altered(),
    )
