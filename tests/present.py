"""Values that may be missing, where a test relies on their being there."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def present(value: T | None) -> T:
    """Return the value; `AssertionError` where there is none."""
    assert value is not None
    return value
