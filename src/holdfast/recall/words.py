"""Recall by words alone: BM25 over what the handle sees, in memory.

The first form, plain on purpose: it reads everything in sight for each question and keeps no index.
Terms are folded (NFKC, case), CJK runs become pairs, English endings and stop words go.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from ..values.record import Record
from ..values.views import body_of

_K1, _B = 0.9, 0.5
_WORD = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]+|[^\W_]+")
_CJK = re.compile(r"[぀-ヿ㐀-鿿豈-﫿가-힯]")
_STOPPED = """
a about am an and are as at be been but by can could did do does for from had has have he her him
his how i if in into is it its just like me my no not of on or our she should so than that the their
them then there these they this to us was we were what when where which who whom why will with would
you your
"""
_STOP = frozenset(_STOPPED.split())


class Match(NamedTuple):
    """A record that shares words with the question."""

    record: Record
    score: float
    relevance: float


def matches(records: Sequence[Record], question: str) -> list[Match]:
    """The records that share an informative word with the question, best first.

    Relevance is absolute: the share of the question's informative words that the record holds.
    """
    wanted = [*dict.fromkeys(terms(question))]
    held = [Counter(terms(_searched(record))) for record in records]
    if not wanted or not held:
        return []
    mean = sum(map(Counter.total, held)) / len(held) or 1.0
    weights = {term: _weight(sum(term in words for words in held), len(held)) for term in wanted}
    found = []
    for record, words in zip(records, held, strict=True):
        shared = [term for term in wanted if term in words]
        if shared:
            norm = _K1 * (1 - _B + _B * words.total() / mean)
            score = sum(weights[t] * words[t] * (_K1 + 1) / (words[t] + norm) for t in shared)
            found.append(Match(record, score, round(len(shared) / len(wanted), 3)))
    found.sort(key=lambda match: (match.score, match.record.recorded_us), reverse=True)
    return found


def terms(text: str) -> list[str]:
    """The informative words of a text; all of its words where none is informative."""
    words = []
    for run in _WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if _CJK.match(run):
            words += [run[n : n + 2] for n in range(max(1, len(run) - 1))]
        else:
            words.append(run)
    return [_stem(word) for word in words if word not in _STOP] or words


@lru_cache(maxsize=20_000)
def _stem(word: str) -> str:
    """The commonest English endings off; the recall issue's analyzer replaces this."""
    for ending, rest in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending) and len(word) > len(ending) + 2 and not word.endswith("ss"):
            return word.removesuffix(ending) + rest
    return word


def _searched(record: Record) -> str:
    body = body_of(record)
    tags = " ".join(body.get("tags", ()))
    return f"{record.key} {tags} {body.get('text', '')}"


def _weight(holding: int, total: int) -> float:
    return math.log(1 + (total - holding + 0.5) / (holding + 0.5))
