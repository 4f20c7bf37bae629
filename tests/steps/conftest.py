"""Marks every test of this folder as a unit test."""

from __future__ import annotations

import pytest


def pytest_itemcollected(item: pytest.Item) -> None:
    """Add the marker `unit`, by which a commit hook selects these tests."""
    item.add_marker(pytest.mark.unit)
