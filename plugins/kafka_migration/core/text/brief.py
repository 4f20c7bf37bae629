"""What somebody gave, in as many letters as a finding can hold."""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Collection, Iterable

LONGEST = 200
_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = 80
_repr.maxlevel = 3


def brief(text: str, longest: int = LONGEST) -> str:
    """Return the text, cut where it is longer."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def given(value: object) -> str:
    """Return a value as it was given, cut where it is long, large or deep."""
    try:
        return brief(_repr.repr(value))
    except ValueError:
        # Python prints no number of more than some thousand digits.
        return f"a huge {type(value).__name__}"


def some(names: Collection[str], most: int = 10) -> str:
    """Return the first names, each cut where it is long, and how many there are beside them."""
    first = ", ".join(brief(name, 100) for name in itertools.islice(names, most))
    return first if len(names) <= most else f"{first} and {len(names) - most:,} more"


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that come more than once, sorted."""
    seen: set[str] = set()
    return sorted({name for name in names if name in seen or seen.add(name)})  # type: ignore[func-returns-value]
