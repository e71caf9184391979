"""Checks a holdfast file after a crash: read, judge, go on as an agent would, judge again."""

import os
from pathlib import Path

import holdfast

from . import ours
from .invariants import Kept, Violation, judge
from .outside import Outside, work
from .questions import Answer, Request, answer_of, ran
from .story import Log


def check(request: Request, log: Log) -> Answer:
    """All that holds after a crash. What is left open is taken up only where nothing was wrong."""
    answer = Answer()
    try:
        store = ours.HoldfastStore(Path(request.path), request.habit)
        kept = ours.read(store, log)
        answer = answer_of(kept, log, request)
        if not answer.violations:
            answer.violations, answer.told = go_on(store, request, _forgiven(log, kept))
        if not request.leave:
            store.close()
    except holdfast.Corrupt as error:
        answer.violations.append(Violation("corrupt", f"{error}"))
    except Exception as error:  # the edge of the process: whatever is raised is the finding
        answer.violations.append(Violation("noopen", f"{type(error).__name__}: {error}"))
    return answer


def check_damaged(request: Request, log: Log) -> Answer:
    """Open, read all, judge what could be read; an error of ours in place of it is right."""
    try:
        store = ours.HoldfastStore(Path(request.path), request.habit)
        kept = ours.read(store, log)
        store.close()
    except holdfast.HoldfastError as error:
        return Answer(error=type(error).__name__)
    except Exception as error:  # the edge of the process: whatever is raised is the finding
        return Answer([Violation("noopen", f"{type(error).__name__}: {error}")])
    return answer_of(kept, log, request)


def _forgiven(log: Log, kept: Kept) -> Log:
    """The story as it goes on after a loss that was allowed: what is missing was never promised."""
    missing = log.named("ack") - set(kept.turns)
    return Log([event for event in log.events if event[0] != "ack" or event[1] not in missing])


def go_on(
    store: ours.HoldfastStore, request: Request, log: Log
) -> tuple[list[Violation], list[str]]:
    """Resume the open steps, write two more turns, and judge everything once more."""
    told = Path(f"{request.effects}.told")
    told.write_bytes(b"")
    descriptor = os.open(told, os.O_WRONLY | os.O_APPEND)
    outside = Outside(descriptor, Path(request.effects))
    found = ours.resume(store, log, ran(request), outside.send)
    for turn in sorted(log.open("step", "stepped")):
        outside.tell("stepped", turn)
    last = log.last("probe")
    try:
        work(store, outside, "probe", range(last + 1, last + 3))
    except Exception as error:  # whatever keeps it from writing is the finding
        found.append(Violation("nowrite", f"{type(error).__name__}: {error}"))
    outside.close()
    os.close(descriptor)
    lines = told.read_text().splitlines(keepends=True)
    later = Log.read([*log.lines(), *lines])
    return found + judge(ours.read(store, later), later, ran(request)), lines
