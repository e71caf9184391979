"""What it ran on, in words that name a kind of machine and not a machine."""

from __future__ import annotations

import os
import platform
import sqlite3
from importlib import metadata
from pathlib import Path

from bench.environment import CACHE
from bench.launch import ask
from bench.measure import spread
from bench.plan import Plan
from bench.readings import Readings

_PEERS = ("langgraph", "langgraph-checkpoint-sqlite", "openai-agents", "mem0ai")


def measure(plan: Plan) -> dict[str, float]:
    """A bare sync and the load, at the start of each round: they say how far to trust it."""
    with plan.disk() as folder:
        found = ask({"job": "sync", "folder": str(folder)})
    return {"p50_us": found["p50_us"], "load": os.getloadavg()[0]}


def described(readings: Readings, rounds: int) -> list[str]:
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in _PEERS)
    sync = spread(readings.series("machine", "sync", "p50_us"), 0)
    load = spread(readings.series("machine", "sync", "load"))
    return [
        f"{os.cpu_count()} cores ({platform.machine()}), {_file_system(CACHE)}, "
        f"{platform.python_implementation()} {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}. Peers: {versions}.",
        f"{rounds} rounds; each figure is the median of the rounds, with the lowest and the "
        f"highest in brackets. A bare append of 4 KB with `fdatasync` took {sync} µs (p50 of each "
        f"round); the load average at the start of the rounds was {load}.",
    ]


def _file_system(place: Path) -> str:
    """The type of the mount that holds the place: the longest mount point above it."""
    best, kind = "", "unknown file system"
    for line in Path("/proc/mounts").read_text().splitlines():
        _, mount, found, *_ = line.split()
        if place.is_relative_to(mount) and len(mount) >= len(best):
            best, kind = mount, found
    return kind
