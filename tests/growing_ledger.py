"""A ledger that only grows: models ask for it after each of many steps."""

from __future__ import annotations

from typing import Any

from kafka_migration.core.ledger.ledger import Ledger, with_entry


class Entries(list[dict[str, Any]]):
    """The entries, oldest first. None is changed or removed."""

    def __init__(self) -> None:
        super().__init__()
        self._folded, self._known = 0, Ledger()

    @property
    def ledger(self) -> Ledger:
        """The folded entries; those that came since the last time are folded into what was known."""
        for entry in self[self._folded :]:
            self._known = with_entry(self._known, entry)
        self._folded = len(self)
        return self._known
