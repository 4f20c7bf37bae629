"""A clock that a test moves."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta


@dataclass
class FakeClock:
    """A `core.clock.Clock` that stands still until a test moves it."""

    elapsed_s: float = 0.0

    def now(self) -> datetime:
        """Return the present time."""
        return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(seconds=self.elapsed_s)

    def monotonic_s(self) -> float:
        """Return the present second; its zero is not that of `now`."""
        return 1000 + self.elapsed_s

    def sleep(self, seconds: float) -> None:
        """Let the time pass."""
        self.elapsed_s += seconds
