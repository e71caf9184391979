"""Named points of a commit, at which tests stop the process or raise.

A backend calls `reach(name)` where a crash would leave it in a state of its own. Nothing happens
there unless `hook` is set, which `holdfast.testing.faults` does.
"""

from collections.abc import Callable

POINTS = (
    "migration.begun",
    "migration.written",
    "migration.committed",
    "commit.locked",
    "commit.begun",
    "commit.checked",
    "commit.written",
    "commit.before",
    "commit.after",
    "commit.answered",
    "checkpoint.before",
    "checkpoint.after",
)

hook: Callable[[str], None] | None = None


def reach(name: str) -> None:
    """Tell the hook, if any, that this point was reached."""
    if hook is not None:
        hook(name)
