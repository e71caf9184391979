"""holdfast through its public API: the writer, and the reader that checks a file after a crash.

The reader is a fresh handle in another process. It reads all that is there, takes up the steps that
were left open as a resumed agent would, writes one more turn, and reads all again.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import holdfast
from holdfast.store.sqlite import writer

from .invariants import Kept, Violation
from .story import Log, Turn, canonical, fact, outcome, parse, state, step_name, texts

Send = Callable[[str, int], str]
USER = "crew"
HABITS = ("full", "normal")


class HoldfastStore:
    """Turns and steps in holdfast: every worker has a thread, all of them one owner."""

    def __init__(self, path: Path, habit: str, checkpoint_pages: int | None = None) -> None:
        if checkpoint_pages is not None:
            # So that a short run holds several checkpoints of the log.
            writer._CHECKPOINT_PAGES = checkpoint_pages
        self.memory = holdfast.open(str(path), durability=habit)
        self.scope = self.memory.scope(user=USER)

    def write(self, turn: Turn) -> None:
        thread = self.scope.thread(turn.worker)
        if turn.number % 20 == 0:
            self.memory.flush()
        if not turn.is_batch:
            thread.add(*_messages(turn)[0])
            return
        with thread.batch() as batch:
            for role, text in _messages(turn):
                batch.add(role, text)
            batch.remember(fact(turn))
            batch.checkpoint(state(turn))

    def step(self, turn: Turn, send: Send) -> None:
        self.scope.thread(turn.worker).once(step_name(turn), send, turn.worker, turn.number)

    def close(self) -> None:
        self.memory.close()


def _messages(turn: Turn) -> list[tuple[str, str]]:
    return list(zip(("user", "assistant", "user"), texts(turn), strict=False))


def read(store: HoldfastStore, log: Log) -> Kept:
    """All that this handle finds of the workers named in the log."""
    kept = Kept()
    for worker in sorted({turn.worker for _, turn in log.events}):
        _read_thread(store, worker, kept)
    for record in _facts(store):
        claim = parse(record)
        if claim is None:
            kept.strangers += 1
        else:
            kept.piece(claim[0]).facts.append(record)
    for turn in log.named("step"):
        kept.steps[turn] = store.scope.thread(turn.worker).step_status(step_name(turn))
    return kept


def _read_thread(store: HoldfastStore, worker: str, kept: Kept) -> None:
    thread = store.scope.thread(worker)
    told = [episode.text for episode in thread.episodes()]
    batches = []
    for text in told:
        claim = parse(text)
        if claim is None or claim[0].worker != worker:
            kept.strangers += 1
            continue
        turn, part = claim
        piece = kept.piece(turn)
        piece.surplus += part in piece.texts
        piece.texts[part] = text
        if turn.is_batch:
            batches.append(turn)
    kept.breaches += _disagreements(thread, told, batches)
    for saved in _states(thread):
        owner = Turn(str(saved["worker"]), int(saved["turn"]))
        kept.piece(owner).states.append(canonical(saved))


def _disagreements(
    thread: "holdfast.Thread", told: list[str], batches: list[Turn]
) -> Iterable[Violation]:
    """messages() is the tail of the episodes, restore() the state of the newest batch."""
    shown = [message["content"] for message in thread.messages()]
    if shown != told[-20:]:
        yield Violation("disagree", f"messages() tells {len(shown)}, not the last of {len(told)}")
    restored = thread.restore()
    wanted = state(batches[-1]) if batches else None
    if restored != wanted:
        yield Violation("disagree", f"restore() is not the state of {batches[-1:]}")


def _states(thread: "holdfast.Thread") -> Iterable[dict[str, object]]:
    """Every checkpoint by number, from 1 until there is none."""
    number = 1
    while (saved := _state(thread, number)) is not None:
        yield saved
        number += 1


def _state(thread: "holdfast.Thread", number: int) -> dict[str, object] | None:
    try:
        return thread.restore(checkpoint=number)
    except holdfast.NotFound:
        return None


def _facts(store: HoldfastStore) -> Iterable[str]:
    after = None
    while True:
        page = store.scope.records(kinds=["fact"], limit=500, after=after)
        yield from (record.text for record in page)
        after = page.next
        if after is None:
            return


def resume(store: HoldfastStore, log: Log, effects: Counter[Turn], send: Send) -> list[Violation]:
    """Take up every step that was called and did not return, as a resumed agent would."""
    found = []
    for turn in sorted(log.open("step", "stepped")):
        thread, name = store.scope.thread(turn.worker), step_name(turn)
        status = thread.step_status(name)
        if status == "in_doubt":
            found += _settle(thread, turn, send, ran=effects[turn] > 0)
        result = thread.once(name, send, turn.worker, turn.number)
        if result != outcome(turn) or thread.step_status(name) != "done":
            found.append(
                Violation("unsettled", f"step of {turn} was {status}, once() gave {result!r}")
            )
    return found


def _settle(thread: "holdfast.Thread", turn: Turn, send: Send, *, ran: bool) -> list[Violation]:
    name, found = step_name(turn), []
    try:
        thread.once(name, send, turn.worker, turn.number)
        found.append(Violation("unsettled", f"once() of {turn} in doubt did not raise InDoubt"))
    except holdfast.InDoubt:
        pass
    if ran:
        thread.settle(name, result=outcome(turn))
    else:
        thread.settle(name, retry=True)
    return found
