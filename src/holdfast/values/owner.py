"""Whose a record is, and what a handle may see.

An *owner* is the triple (tenant, user, agent) with '' for an absent part. A *sight* is what one
handle reads: at most four owners, narrowest first, and the user it reads for. Ids are opaque text:
slashes, dots, emoji and any script are welcome, since no id ever becomes a path or a piece of SQL.
"""

import re
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote

from ..errors import Denied, InvalidInput
from .text import clean_text

EVERYONE = "*"
ID_BYTES = 512
_SESSION_ID = re.compile(r"user-.*-session-.+", re.DOTALL)


class Owner(NamedTuple):
    """Whose record it is; absent parts are ''."""

    tenant: str = ""
    user: str = ""
    agent: str = ""


def home_subject(owner: Owner) -> str:
    """Whose data a record is when nothing else is said: the owner's user; nobody's when it is
    common.
    """
    return "" if owner.user == EVERYONE else owner.user


@dataclass(frozen=True, slots=True)
class Sight:
    """What a handle reads: its owners, narrowest first, and for whom it reads.

    In an agent's own place (an owner without a user) a handle with a user sees no record whose
    subject is another user.
    """

    owners: tuple[Owner, ...]
    user: str = ""

    def admits(self, owner: Owner, subject: str) -> bool:
        """Whether a record of this owner about this subject is to be seen."""
        if owner not in self.owners:
            return False
        return bool(owner.user) or not self.user or subject in ("", self.user)


def clean_id(value: object, name: str) -> str:
    """An id as given, or InvalidInput: empty, too long, reserved, or not text that can be kept."""
    text = clean_text(value, name)
    if not text:
        raise InvalidInput(f"{name} is empty.", hint=f"Leave {name} out instead.")
    if len(text.encode()) > ID_BYTES:
        raise InvalidInput(f"{name} is longer than {ID_BYTES} bytes.", hint="Use a shorter id.")
    if text == EVERYONE:
        raise InvalidInput(
            f"{name} '*' is reserved for common knowledge.",
            hint="Use memory.common(tenant=...) to write what everyone of a tenant may read.",
        )
    return text


def optional_id(value: object, name: str) -> str:
    """As `clean_id`; '' for an absent part."""
    return "" if value is None or value == "" else clean_id(value, name)


def clean_thread_id(value: object, user: str) -> str:
    """A thread's id; one of the form user-{user}-session-{session} must name the handle's user."""
    thread = clean_id(value, "thread id")
    if _SESSION_ID.fullmatch(thread):
        mine = f"user-{quote(user, safe='')}-session-"
        if not user or not thread.startswith(mine) or thread == mine:
            raise Denied(
                "The thread id names another user than this scope's.",
                hint="Open the thread from memory.scope(user=...) of that user.",
            )
    return thread
