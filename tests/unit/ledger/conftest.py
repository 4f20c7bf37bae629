"""Fixtures of the ledger's tests."""

from __future__ import annotations

import pytest

from tests.contract.memory_anchor import MemoryAnchor


@pytest.fixture
def anchor() -> MemoryAnchor:
    """What Airflow keeps of the ledger."""
    return MemoryAnchor()
