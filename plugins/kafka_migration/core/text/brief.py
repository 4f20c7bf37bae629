"""Shortened values for findings."""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Collection, Iterable

LONGEST = 200
_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = 80
_repr.maxlevel = 3


def brief(text: str, longest: int = LONGEST) -> str:
    """Return the text, truncated to the given length."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def given(value: object) -> str:
    """Return a value as it was given, truncated if it is long, large or deeply nested."""
    try:
        return brief(_repr.repr(value))
    except ValueError:
        # Python refuses to print numbers with more than some thousand digits.
        return f"a huge {type(value).__name__}"


def some(names: Collection[str], most: int = 10) -> str:
    """Return the first names, each truncated if it is long, and the number of further names."""
    first = ", ".join(brief(name, 100) for name in itertools.islice(names, most))
    return first if len(names) <= most else f"{first} and {len(names) - most:,} more"


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted."""
    seen: set[str] = set()
    return sorted({name for name in names if name in seen or seen.add(name)})  # type: ignore[func-returns-value]
