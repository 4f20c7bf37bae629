"""Lag: the number of offsets still to copy. An unknown lag is not zero and cannot be summed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Known:
    """A lag that was read, in offsets (an upper bound of records: markers and holes count too)."""

    offsets: int

    def __str__(self) -> str:
        return f"{self.offsets:,}"


@dataclass(frozen=True, slots=True)
class Unknown:
    """A lag that could not be read, and why."""

    reason: str

    def __str__(self) -> str:
        return f"unknown ({self.reason})"


Lag = Known | Unknown


def total(lags: Iterable[Lag]) -> Lag:
    """Add lags up; one unknown makes the sum unknown (with the first reason)."""
    offsets = 0
    for lag in lags:
        if isinstance(lag, Unknown):
            return lag
        offsets += lag.offsets
    return Known(offsets)
