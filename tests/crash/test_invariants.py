"""Goal: the judge finds a breach of every invariant, and none in a right store.

Method: hand-made findings, each wrong in one way, stand before it. The broken writers of the other
files show the same on real files; here every name has its case, so that no invariant can be lost
silently.
"""

from collections import Counter
from dataclasses import replace

import pytest

from tests.crash.invariants import INVARIANTS, Kept, Violation, expected, judge
from tests.crash.story import Log, Turn, effects, parse, texts

FIRST, SECOND, THIRD = (Turn("p0t0", number) for number in (1, 2, 3))
LOG = Log.read(
    f"{verb} {turn.worker} {turn.number}\n"
    for verb, turn in [
        ("begin", FIRST), ("ack", FIRST),
        ("begin", SECOND), ("ack", SECOND), ("step", SECOND), ("stepped", SECOND),
        ("begin", THIRD),
    ]
)  # fmt: skip
RAN = Counter({SECOND: 1})


def right() -> Kept:
    """What a right store keeps of the log above."""
    return Kept(turns={t: expected(t) for t in (FIRST, SECOND)}, steps={SECOND: "done"})


def names(
    kept: Kept, log: Log = LOG, ran: Counter[Turn] = RAN, *, suffix: bool = False
) -> set[str]:
    """The names of all breaches."""
    return {breach.name for breach in judge(kept, log, ran, suffix_may_miss=suffix)}


def test_a_right_store_passes_with_and_without_the_turn_that_was_cut_off() -> None:
    """The turn begun last may be there as a whole or not at all."""
    with_the_last = right()
    with_the_last.turns[THIRD] = expected(THIRD)

    assert names(right()) == set()
    assert names(with_the_last) == set()


def lost() -> set[str]:
    kept = right()
    del kept.turns[SECOND], kept.steps[SECOND]
    return names(kept, ran=Counter())


def half() -> set[str]:
    kept = right()
    kept.turns[SECOND].texts.pop("1")
    return names(kept)


def phantom() -> set[str]:
    kept = right()
    kept.turns[Turn("p0t0", 4)] = expected(Turn("p0t0", 4))
    return names(kept)


def twice() -> set[str]:
    return names(right(), ran=Counter({SECOND: 2}))


def noeffect() -> set[str]:
    return names(right(), ran=Counter())


def gap() -> set[str]:
    kept = right()
    del kept.turns[FIRST]
    return names(kept, suffix=True)


def unsettled() -> set[str]:
    kept = right()
    kept.steps[SECOND] = "running"
    return names(kept)


FOUND_BY_THE_JUDGE = (lost, half, phantom, twice, noeffect, gap, unsettled)
FOUND_BY_THE_READER = ("corrupt", "noopen", "disagree", "nowrite", "gaveup")


@pytest.mark.parametrize("case", FOUND_BY_THE_JUDGE)
def test_each_breach_is_found_by_name(case) -> None:
    """One thing is wrong; the judge names it."""
    assert case.__name__ in case()


@pytest.mark.parametrize("name", FOUND_BY_THE_READER)
def test_a_breach_that_the_reader_saw_is_passed_on(name: str) -> None:
    """The judge drops nothing that the reader reports."""
    kept = right()
    kept.breaches.append(Violation(name, "seen"))

    assert names(kept) == {name}


def test_every_invariant_has_its_case() -> None:
    """A new invariant without a case fails here."""
    covered = {case.__name__ for case in FOUND_BY_THE_JUDGE} | set(FOUND_BY_THE_READER)

    assert covered == set(INVARIANTS)


def test_changed_words_are_half_a_turn() -> None:
    """Being there is not enough: every text is compared to the letter."""
    kept = right()
    kept.turns[FIRST].texts["0"] += "!"

    assert names(kept) == {"half"}


def test_a_message_told_twice_is_half_a_turn() -> None:
    """A message that was written again is not what was written."""
    kept = right()
    kept.turns[FIRST] = replace(kept.turns[FIRST], surplus=1)

    assert names(kept) == {"half"}


def test_a_missing_suffix_is_forgiven_under_normal_and_only_there() -> None:
    """'normal' may lose the last turns, but no step that had returned."""
    kept = right()
    del kept.turns[SECOND]
    log = Log(LOG.events[:4])
    kept.steps = {}

    assert names(kept, log, Counter(), suffix=True) == set()
    assert names(kept, log, Counter()) == {"lost"}
    assert "lost" in names(kept, suffix=True)


def test_an_effect_without_a_claim_counts_as_run_twice() -> None:
    """The resumed agent would find the step absent and run it again."""
    kept = right()
    kept.steps = {}

    assert "twice" in names(kept)


def test_a_text_names_its_turn_and_part() -> None:
    """What is read back can be told apart without knowing what was written."""
    assert parse(texts(SECOND)[1]) == (SECOND, "1")
    assert parse("a stranger's text") is None


def test_a_torn_line_of_the_effects_file_did_not_happen() -> None:
    """Only whole lines count."""
    assert effects(b"p0t0 2\np0t0 5") == Counter({SECOND: 1})
