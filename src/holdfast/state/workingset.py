"""The working set: what an LLM is shown of a thread.

A projection over the newest episodes: nothing is stored for it, so a crash cannot lose it.
P1  A tool call is never shown without its results, nor a result without its call, however it is
    cut: they are one unit, at the place of the call. A call that was not answered (yet) is left
    out, its text stays.
P2  The newest unit is never cut away; the system message is always there.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from ..values.message import Message, Messages
from ..values.record import Record
from ..values.views import body_of, original_of
from .shapes import OPENAI, Said, merged_turns, normal, to_anthropic, to_openai

MAX_ITEMS = 20
_NONE: set[str] = set()
FORMATS = ("openai", "anthropic", "original")


@dataclass(frozen=True, slots=True)
class Item:
    """A message that is shown: the original with its shape, and its normal form."""

    original: Message
    shape: str
    said: Said


Unit = list[Item]
"""Items that are shown together or not at all: a message, or a call with its results."""


def item_of(record: Record) -> Item:
    """The item of a message's record."""
    body = body_of(record)
    original = original_of(body)
    if "original" not in body:
        return Item(original, OPENAI, Said(body["role"], body["text"]))
    return Item(original, body["shape"], normal(original))


@dataclass(slots=True)
class _Turn:
    """A unit in the making, with the ids of the calls that have no result yet."""

    items: Unit
    missing: set[str]


def units(items: Iterable[Item]) -> list[Unit]:
    """Items, oldest first, as units (P1)."""
    turns: list[_Turn] = []
    waiting: dict[str, _Turn] = {}
    for item in items:
        said = item.said
        if said.results:
            turns += _answer(item, waiting)
            continue
        turn = _Turn([item], {call.id for call in said.calls} if said.calls else _NONE)
        turns.append(turn)
        if said.calls:
            waiting |= dict.fromkeys(turn.missing, turn)
    shown = (_texts_alone(turn.items) if turn.missing else turn.items for turn in turns)
    return [unit for unit in shown if unit]


def _answer(item: Item, waiting: dict[str, _Turn]) -> list[_Turn]:
    """Give each result to the call that waits for it; what remains is a turn of its own, if
    anything.
    """
    places: dict[int, list[int]] = {}
    answered: dict[int, _Turn] = {}
    for place, result in enumerate(item.said.results):
        turn = waiting.pop(result.id, None)
        if turn is not None:
            turn.missing.discard(result.id)
            answered[id(turn)] = turn
            places.setdefault(id(turn), []).append(place)
    if len(answered) == 1 and sum(map(len, places.values())) == len(item.said.results):
        next(iter(answered.values())).items.append(item)
        return []
    for number, turn in answered.items():
        turn.items.append(_results_alone(item, places[number]))
    return [_Turn(rest, set())] if (rest := _texts_alone([item])) else []


def _texts_alone(unit: Unit) -> Unit:
    """What the messages say, without their calls and results."""
    return [
        Item(
            {"role": item.said.role, "content": item.said.text},
            OPENAI,
            replace(item.said, calls=(), results=(), images=()),
        )
        for item in unit
        if item.said.text and item.said.role != "tool"
    ]


def _results_alone(item: Item, places: Sequence[int]) -> Item:
    """A message with these of its results and nothing else."""
    blocks = [block for block in item.original["content"] if block.get("type") == "tool_result"]
    original = {**item.original, "content": [blocks[place] for place in places]}
    results = tuple(item.said.results[place] for place in places)
    return Item(original, item.shape, replace(item.said, text="", images=(), results=results))


def newest_that_fit(
    found: Sequence[Unit], max_items: int, budget: int | None, count: Callable[[Unit], int]
) -> list[Unit]:
    """The newest units within the number of items and the budget of tokens, oldest first (P2)."""
    kept: list[Unit] = []
    items = tokens = 0
    for unit in reversed(found):
        items += len(unit)
        tokens += count(unit) if budget is not None else 0
        if kept and (items > max_items or (budget is not None and tokens > budget)):
            break
        kept.append(unit)
    return kept[::-1]


def rendered(system: Item | None, shown: Sequence[Unit], format: str) -> Messages:
    """The messages in the format asked for, system first."""
    prompt = system.said.text if system else None
    if format == "anthropic":
        turns = (
            to_anthropic(item.original, item.shape, item.said) for unit in shown for item in unit
        )
        return Messages(merged_turns(message for turn in turns for message in turn), prompt)
    first = [system.original] if system else []
    if format == "original":
        return Messages([*first, *(item.original for unit in shown for item in unit)], prompt)
    return Messages([*first, *(message for unit in shown for message in _openai(unit))], prompt)


def _openai(unit: Unit) -> list[Message]:
    """A unit in OpenAI's shape, where nothing may stand between a call and its results."""
    if len(unit) == 1 and unit[0].shape == OPENAI:
        return [unit[0].original]
    messages = [m for item in unit for m in to_openai(item.original, item.shape, item.said)]
    return messages[:1] + sorted(messages[1:], key=lambda message: message["role"] != "tool")
