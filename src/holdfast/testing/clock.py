"""A clock that tests set."""

from datetime import UTC, datetime, timedelta


class FakeClock:
    """Stands still until it is told to move; give it to `holdfast.open(clock=...)`."""

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **span: float) -> None:
        """Move by a timedelta's arguments; negative ones move it back."""
        self.now += timedelta(**span)
