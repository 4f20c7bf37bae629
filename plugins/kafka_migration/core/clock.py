"""Time as an argument: what the package asks of a clock."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Wall-clock time for records, monotonic seconds for waiting."""

    def now(self) -> datetime:
        """Return the present time in UTC."""

    def monotonic_s(self) -> float:
        """Return seconds that never run backwards."""
