"""What is written: the same sentences for every system, made before the clock starts.

Every text begins with its own number, so that no system can take two for the same one.
"""

from __future__ import annotations

import random

_WORDS = [
    "the",
    "report",
    "quarter",
    "revenue",
    "customer",
    "prefers",
    "format",
    "table",
    "meeting",
    "moved",
    "deploy",
    "server",
    "region",
    "failed",
    "retry",
    "budget",
    "invoice",
    "please",
    "send",
    "draft",
    "review",
    "approved",
    "figures",
    "north",
    "south",
    "agent",
    "found",
    "answer",
    "question",
    "because",
    "release",
    "notes",
    "schedule",
    "travel",
    "booking",
    "password",
    "reset",
    "ticket",
    "closed",
]

MESSAGE_BYTES = 500
FACT_BYTES = 80


def messages(count: int, label: str = "m") -> list[str]:
    """Chat messages of some 500 bytes."""
    return [_text(f"{label}{number}", MESSAGE_BYTES) for number in range(count)]


def facts(count: int, label: str = "f") -> list[str]:
    """Statements of some 80 bytes, the length of a sentence somebody would want remembered."""
    return [_text(f"{label}{number}", FACT_BYTES) for number in range(count)]


def _text(name: str, size: int) -> str:
    dice = random.Random(name)
    text = name
    while len(text) < size:
        text = f"{text} {dice.choice(_WORDS)}"
    return text[:size]
