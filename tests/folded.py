"""A ledger from its entries, for tests that have no evidence store."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Any

from kafka_migration.core.ledger.ledger import Ledger, with_entry


def fold(entries: Iterable[Mapping[str, Any]]) -> Ledger:
    """Fold ledger entries, oldest first, into the ledger."""
    return reduce(with_entry, entries, Ledger())
