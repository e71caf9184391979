"""holdfast: persistent memory for AI agents that survives any crash.

State (threads, checkpoints, steps) and knowledge (episodes, facts, preferences) in one place, in
one transaction, in one file, with no key, no LLM and no server.
"""

from .errors import (
    Busy,
    Conflict,
    Corrupt,
    Denied,
    HoldfastError,
    InDoubt,
    InvalidInput,
    Misconfigured,
    NotFound,
    Unavailable,
    Unsupported,
)
from .memory import ALL, Memory
from .preferences import Preferences
from .scope import Scope
from .state.steps import Step
from .thread import Thread, ThreadBatch
from .values.hit import Found, Hit, Page
from .values.message import Episode, Messages
from .values.receipts import ErasureReceipt, Receipt, Saved, Unfinished, WelcomeBack
from .values.version import __version__
from .wiring import open

__all__ = [
    "ALL", "Busy", "Conflict", "Corrupt", "Denied", "Episode", "ErasureReceipt", "Found", "Hit",
    "HoldfastError", "InDoubt", "InvalidInput", "Memory", "Messages", "Misconfigured", "NotFound",
    "Page", "Preferences", "Receipt", "Saved", "Scope", "Step", "Thread", "ThreadBatch",
    "Unavailable", "Unfinished", "Unsupported", "WelcomeBack", "__version__", "open",
]  # fmt: skip
