"""Time as whole microseconds since 1970 inside, as aware UTC datetimes outside.

Integers compare, add and store the same everywhere; a datetime without a zone means a different
moment on every machine, so none is let in.
"""

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from ..errors import InvalidInput, Misconfigured

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LONGEST = timedelta(days=365 * 5_000)
_MICROSECOND = timedelta(microseconds=1)

Clock = Callable[[], datetime]


def moment(micros: int) -> datetime:
    """The aware UTC datetime of a count of microseconds."""
    return _EPOCH + timedelta(microseconds=micros)


def micros(when: datetime, name: str) -> int:
    """Microseconds of an aware datetime; `name` is the argument to blame."""
    if not isinstance(when, datetime):
        raise InvalidInput(f"{name} is not a datetime.", hint=f"Pass {name}=datetime.now(UTC).")
    if when.tzinfo is None or when.utcoffset() is None:
        raise InvalidInput(
            f"{name} has no time zone.",
            hint="Pass an aware datetime, such as datetime.now(UTC) or value.replace(tzinfo=UTC).",
        )
    try:
        return (when.astimezone(UTC) - _EPOCH) // _MICROSECOND
    except OverflowError:
        raise InvalidInput(f"{name} is out of range in UTC.", hint="Pass a nearer time.") from None


def optional_micros(when: datetime | None, name: str) -> int | None:
    """As `micros`, and None for None."""
    return None if when is None else micros(when, name)


def span_micros(span: timedelta | float, name: str) -> int:
    """Microseconds of a positive duration, given as a timedelta or as seconds."""
    if isinstance(span, bool) or not isinstance(span, timedelta | int | float):
        raise InvalidInput(f"{name} is not a duration.", hint="Pass a timedelta or seconds.")
    try:
        length = span if isinstance(span, timedelta) else timedelta(seconds=span)
    except (OverflowError, ValueError):
        raise InvalidInput(f"{name} is out of range.", hint="Pass a finite duration.") from None
    if length > _LONGEST:
        raise InvalidInput(f"{name} is out of range.", hint="Leave it out for what never expires.")
    if length <= timedelta(0):
        raise InvalidInput(f"{name} is not positive.", hint="Leave it out for what never expires.")
    return length // _MICROSECOND


def ticker(clock: Clock | None) -> Callable[[], int]:
    """A function that returns the current time in microseconds, by the injected clock if any."""
    if clock is None:
        return lambda: time.time_ns() // 1_000
    if not callable(clock):
        raise Misconfigured(
            "clock is not callable.", hint="Pass a function that returns a datetime."
        )
    return lambda: micros(clock(), "clock()")
