"""Every system under test, by the name that rows use.

A system is imported only when it is measured: each measurement is a process of its own, and one
peer's imports are no business of another's.
"""

from __future__ import annotations

import importlib
from pathlib import Path

from bench.systems.shape import System

_PLACES = {
    "holdfast": ("bench.systems.ours", "Full"),
    "holdfast-normal": ("bench.systems.ours", "Normal"),
    "floor": ("bench.systems.floor", "LockedConnection"),
    "floor-own": ("bench.systems.floor", "OwnConnections"),
    "saver": ("bench.systems.langgraph_saver", "Saver"),
    "saver-own": ("bench.systems.langgraph_saver", "OwnSavers"),
    "store": ("bench.systems.langgraph_store", "Store"),
    "session": ("bench.systems.openai_session", "Session"),
    "mem0": ("bench.systems.mem0_local", "Mem0"),
}

LABELS = {
    "holdfast": "**holdfast**, full",
    "holdfast-normal": "holdfast, normal",
    "floor": "raw SQLite, one locked connection",
    "floor-own": "raw SQLite, own connections",
    "saver": "LangGraph SqliteSaver",
    "saver-own": "LangGraph SqliteSaver, own connections",
    "store": "LangGraph SqliteStore",
    "session": "OpenAI Agents SQLiteSession",
    "mem0": "mem0 with Qdrant on disk",
}


def start(name: str, folder: Path) -> System:
    """Open the named system on files below `folder`."""
    module, kind = _PLACES[name]
    opened: System = getattr(importlib.import_module(module), kind)(folder)
    return opened
