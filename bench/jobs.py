"""What a worker process can be asked to do with one system."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bench import systems, texts
from bench.measure import one_sync, percentile, timed
from bench.systems.shape import Operation

Found = dict[str, Any]


def write(system: str, folder: str, operation: str, count: int, warm: int = 20) -> Found:
    """One writer, `count` acknowledged writes, each timed."""
    opened = systems.start(system, Path(folder))
    call = opened.operations()[operation]
    words = _texts(operation, count + warm)
    for text in words[:warm]:
        call("main", text)
    cpu, began = time.process_time_ns(), time.perf_counter_ns()
    took = [timed(partial(call, "main", text)) for text in words[warm:]]
    cpu, elapsed = time.process_time_ns() - cpu, time.perf_counter_ns() - began
    opened.close()
    return {
        "p50_us": percentile(took, 0.5),
        "p99_us": percentile(took, 0.99),
        "cpu_us": cpu / count / 1000,
        "late_over_early": _late_over_early(took),
        "per_second": count / elapsed * 1e9,
    }


def duel(system: str, folder: str, operation: str, count: int, warm: int = 20) -> Found:
    """Write with the system and with the floor in turn, each to its own file.

    A ratio of two syncs a second apart says more about the neighbours than about the systems.
    """
    calls = [_operation(name, Path(folder) / name, operation) for name in (system, "floor")]
    took: list[list[int]] = [[], []]
    for text in _texts(operation, count + warm):
        for call, timings in zip(calls, took, strict=True):
            timings.append(timed(partial(call, "main", text)))
    ours, floor = (timings[warm:] for timings in took)
    return {
        "p50_us": percentile(ours, 0.5),
        "p99_us": percentile(ours, 0.99),
        "floor_p50_us": percentile(floor, 0.5),
        "over_floor": percentile(ours, 0.5) / percentile(floor, 0.5),
    }


def crowd(system: str, folder: str, threads: int, each: int) -> Found:
    """Several threads on one file, each with a thread of its own to write to."""
    opened = systems.start(system, Path(folder))
    call = opened.operations()["message"]
    results: list[tuple[list[int], Counter[str]]] = []
    gate = threading.Barrier(threads + 1)

    def one(name: str) -> None:
        words = texts.messages(each, name)
        call(name, f"{name} begins")
        gate.wait()
        results.append(_write_all(call, name, words))

    workers = [threading.Thread(target=one, args=(f"t{k}",)) for k in range(threads)]
    for worker in workers:
        worker.start()
    gate.wait()
    began = time.perf_counter_ns()
    for worker in workers:
        worker.join()
    elapsed = time.perf_counter_ns() - began
    opened.close()
    return _of_all(results, elapsed)


def share(system: str, folder: str, name: str, each: int) -> Found:
    """One of several processes on one file: says when it is open, begins when it is told to."""
    opened = systems.start(system, Path(folder))
    call = opened.operations()["message"]
    words = texts.messages(each, name)
    print("ready", flush=True)
    sys.stdin.readline()
    began = time.perf_counter_ns()
    result = _write_all(call, name, words)
    elapsed = time.perf_counter_ns() - began
    opened.close()
    return _of_all([result], elapsed)


def kept(system: str, folder: str, names: Sequence[str]) -> Found:
    """How many messages a fresh process finds, in all these threads together."""
    opened = systems.start(system, Path(folder))
    found = sum(opened.kept(name) for name in names)
    opened.close()
    return {"kept": found}


def read(system: str, folder: str, lengths: Sequence[int], times: int) -> Found:
    """The newest twenty messages of threads of these lengths, after a reopening."""
    opened = systems.start(system, Path(folder))
    for length in lengths:
        opened.fill(f"long-{length}", texts.messages(length))
    opened.close()

    opened = systems.start(system, Path(folder))
    found: Found = {}
    for length in lengths:
        for how, reader in opened.readers().items():
            found |= _read(f"{how}@{length}", reader, f"long-{length}", times)
    opened.close()
    return found


def sync(folder: str) -> Found:
    """A bare append and fdatasync."""
    took = one_sync(Path(folder))
    return {"p50_us": percentile(took, 0.5), "mean_us": sum(took) / len(took) / 1000}


def _late_over_early(took: Sequence[int]) -> float:
    """The last tenth over the first: above 1, a write costs more the more is kept."""
    tenth = len(took) // 10
    return percentile(took[-tenth:], 0.5) / percentile(took[:tenth], 0.5)


def _read(label: str, reader: Callable[[str], Sequence[Any]], thread: str, times: int) -> Found:
    first = timed(lambda: reader(thread))
    got = len(reader(thread))
    if got != 20:
        raise SystemExit(f"bench: {label} returned {got} messages instead of 20.")
    took = [timed(lambda: reader(thread)) for _ in range(times)]
    return {label: percentile(took, 0.5), f"first {label}": first / 1000}


def _write_all(call: Operation, name: str, words: Sequence[str]) -> tuple[list[int], Counter[str]]:
    """Time every write, the refused ones too: a caller waits for those just as long."""
    took: list[int] = []
    errors: Counter[str] = Counter()
    for text in words:
        began = time.perf_counter_ns()
        try:
            call(name, text)
        except Exception as refused:
            # Any error whatever is a result here: what each system raises differs, and a
            # refused write must show in the table instead of ending the run.
            errors[f"{type(refused).__name__}: {refused}"] += 1
        took.append(time.perf_counter_ns() - began)
    return took, errors


def _of_all(results: Sequence[tuple[list[int], Counter[str]]], elapsed: int) -> Found:
    took = [one for timings, _ in results for one in timings]
    errors = sum((found for _, found in results), Counter[str]())
    written = len(took) - errors.total()
    return {
        "acknowledged": written,
        "errors": errors.total(),
        "said": dict(errors),
        "p50_ms": percentile(took, 0.5) / 1000,
        "worst_ms": max(took) / 1e6,
        "per_second": written / elapsed * 1e9,
    }


def _operation(system: str, folder: Path, operation: str) -> Operation:
    folder.mkdir(exist_ok=True)
    return systems.start(system, folder).operations()[operation]


def _texts(operation: str, count: int) -> list[str]:
    return texts.facts(count) if operation == "fact" else texts.messages(count)
