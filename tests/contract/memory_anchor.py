"""A double of the place outside the evidence root where the head of a ledger is kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_migration.core.ledger.chain import Head


@dataclass
class MemoryAnchor:
    """Keeps the head as Airflow does, in memory."""

    kept: Head = field(default_factory=Head)

    def head(self) -> Head:
        """Return the head that was kept last."""
        return self.kept

    def keep(self, head: Head) -> None:
        """Keep a head instead of the previous one."""
        self.kept = head
