"""One question: gather what is in sight, rank it, render it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..store.contract import Store
from ..values.hit import Found, Hit
from ..values.owner import Sight
from ..values.record import EPISODE, FACT, SYSTEM, Record
from ..values.views import as_hit, body_of
from .render import context_line, fact_line, fitted, knowledge_line
from .words import Match, matches

_RECENT = 3
_RECENT_US = 24 * 3600 * 1_000_000
_KNOWN = "What You Know About This User"

Hits = Callable[[Record], int]


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and within which bounds."""

    text: str | None
    now_us: int
    limit: int | None
    budget_tokens: int | None
    kinds: Sequence[str] | None = None
    min_relevance: float = 0.0


def recall(store: Store, sight: Sight, asked: Question, hits: Hits) -> tuple[Found, list[Record]]:
    """What matters for the question, with the records; without a text the facts used most."""
    best = _best(store, sight, asked, hits)
    found = [match for match in best if match.relevance >= asked.min_relevance][: asked.limit]
    seen = [_as_hit(match, hits) for match in found]
    recent = _recent(store, sight, asked.now_us) if asked.kinds is None and seen else []

    def sections(count: int, context: int = 0) -> list[tuple[str, list[str]]]:
        return [
            ("Recent context", [context_line(hit) for hit in recent[len(recent) - context :]]),
            ("Relevant knowledge", [knowledge_line(hit) for hit in seen[:count]]),
        ]

    shown, text = fitted(sections, len(seen), asked.budget_tokens, store.salt)
    if shown == len(seen):
        # All hits are in: what room is left goes to the newest of what was said lately.
        _, more = fitted(
            lambda context: sections(shown, context), len(recent), asked.budget_tokens, store.salt
        )
        text = more or text
    return Found(tuple(seen[:shown]), text), [match.record for match in found[:shown]]


def inject(store: Store, sight: Sight, asked: Question, hits: Hits) -> tuple[str, list[Record]]:
    """A block of what is known, asked for first, then by use; '' when nothing is."""
    facts = _in_sight(store, sight, (FACT,), asked)
    ranked = matches(facts, asked.text) if asked.text is not None else []
    named = {match.record.id for match in ranked}
    rest = [match for match in _by_use(facts, hits) if match.record.id not in named]
    found = [*ranked, *rest][: asked.limit]
    seen = [_as_hit(match, hits) for match in found]

    def sections(count: int) -> list[tuple[str, list[str]]]:
        return [(_KNOWN, [fact_line(hit) for hit in seen[:count]])]

    shown, text = fitted(sections, len(seen), asked.budget_tokens, store.salt)
    return text, [match.record for match in found[:shown]]


def _best(store: Store, sight: Sight, asked: Question, hits: Hits) -> list[Match]:
    if asked.text is None:
        return _by_use(_in_sight(store, sight, (FACT,), asked), hits)
    return matches(_in_sight(store, sight, (FACT, EPISODE), asked), asked.text)


def _in_sight(store: Store, sight: Sight, forms: Sequence[str], asked: Question) -> list[Record]:
    """Current records that hold now: what is not yet or no longer true is left out."""
    found = store.scan(sight, now_us=asked.now_us, forms=forms, kinds=asked.kinds)
    return [record for record in found if record.kind != SYSTEM and _valid(record, asked.now_us)]


def _valid(record: Record, now_us: int) -> bool:
    begins, ends = record.valid_from_us, record.valid_to_us
    return (begins is None or begins <= now_us) and (ends is None or now_us < ends)


def _by_use(facts: Sequence[Record], hits: Hits) -> list[Match]:
    """Facts by access count, then newest."""
    ordered = sorted(facts, key=lambda fact: (hits(fact), fact.recorded_us), reverse=True)
    return [Match(fact, 0.0, 1.0) for fact in ordered]


def _recent(store: Store, sight: Sight, now_us: int) -> list[Hit]:
    newest = store.scan(sight, now_us=now_us, forms=(EPISODE,), limit=_RECENT)
    fresh = [record for record in newest if record.occurred_us > now_us - _RECENT_US]
    told = [record for record in fresh if record.kind != SYSTEM and body_of(record)["text"]]
    return [as_hit(record) for record in reversed(told)]


def _as_hit(match: Match, hits: Hits) -> Hit:
    why = {"words": match.score, "relevance": "share of words"} if match.score else {"uses": 0.0}
    return as_hit(
        match.record,
        score=match.score,
        relevance=match.relevance,
        why=why,
        access_count=hits(match.record),
    )
