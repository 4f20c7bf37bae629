"""A double of the place outside the evidence root where the head and the announcements of a ledger are kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_migration.core.ledger.chain import Head


@dataclass
class MemoryAnchor:
    """Keeps them as Airflow does, in memory."""

    kept: Head = field(default_factory=Head)
    announced: set[Head] = field(default_factory=set)

    def head(self) -> Head:
        """Return the head that was kept last."""
        return self.kept

    def keep(self, head: Head) -> None:
        """Keep a head instead of the previous one."""
        self.kept = head

    def announce(self, head: Head) -> None:
        """Announce an entry."""
        self.announced.add(head)

    def is_announced(self, head: Head) -> bool:
        """Return whether an entry is announced."""
        return head in self.announced

    def withdraw(self, head: Head) -> None:
        """Withdraw an announcement; without effect if there is none."""
        self.announced.discard(head)
