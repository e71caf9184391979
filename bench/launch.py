"""Start worker processes and hear what they found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from bench.environment import ROOT

_ERRORS_SHOWN = 2000


def ask(
    job: Mapping[str, Any],
    *,
    under: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Run one job in a fresh process, under another program if one is given."""
    done = subprocess.run(
        [*under, *command(job)],
        cwd=ROOT,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"bench: {dict(job)} failed.\n{done.stderr[-_ERRORS_SHOWN:]}")
    return answer(done.stdout)


def command(job: Mapping[str, Any]) -> list[str]:
    return [sys.executable, "-m", "bench.worker", json.dumps(dict(job))]


def together(jobs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Run these jobs at the same time: each opens its files first, then all begin at one word."""
    workers = [_ready(job) for job in jobs]
    for worker in workers:
        assert worker.stdin
        worker.stdin.write("go\n")
        worker.stdin.flush()
    return [_finished(worker) for worker in workers]


def _ready(job: Mapping[str, Any]) -> subprocess.Popen[str]:
    """One after the other: the writing is measured, not several first openings at once."""
    pipe = subprocess.PIPE
    worker = subprocess.Popen(command(job), cwd=ROOT, stdin=pipe, stdout=pipe, text=True)
    assert worker.stdout
    if worker.stdout.readline() != "ready\n":
        raise SystemExit(f"bench: {dict(job)} did not start.")
    return worker


def _finished(worker: subprocess.Popen[str]) -> dict[str, Any]:
    said, _ = worker.communicate()
    if worker.returncode:
        raise SystemExit("bench: one of the processes failed; its error stands above.")
    return answer(said)


def answer(said: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said.strip().splitlines()[-1])
    return found
