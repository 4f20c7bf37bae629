"""The system's clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Real time (`core.clock.Clock`)."""

    def now(self) -> datetime:
        """Return the present time in UTC."""
        return datetime.now(UTC)

    def monotonic_s(self) -> float:
        """Return seconds that never run backwards."""
        return time.monotonic()
