"""The system's clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Real time (`core.clock.Clock`)."""

    def now(self) -> datetime:
        """Return the current time in UTC."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()
