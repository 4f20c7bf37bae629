"""A certificate of a broker or of a client."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate: its names in RFC 4514's form, the hosts that it is for, and its dates in UTC."""

    subject: str
    issuer: str
    hosts: tuple[str, ...]
    starts: datetime
    ends: datetime

    def is_valid_at(self, moment: datetime) -> bool:
        """Whether its dates include a moment."""
        return self.starts <= moment <= self.ends
