"""Shortened values for findings."""

from __future__ import annotations

import itertools
import reprlib
from collections.abc import Callable, Collection, Iterable, Sequence

LONGEST = 200
LONGEST_SENTENCE = 400
_repr = reprlib.Repr()
_repr.maxstring = _repr.maxother = _repr.maxlong = 80
_repr.maxlevel = 3


def brief(text: str, longest: int = LONGEST) -> str:
    """Return the text, truncated to the given length."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def sentence(text: str) -> str:
    """Return the text, which may quote another program, with exactly one full stop at its end."""
    return f"{text.rstrip().rstrip('.')}."


def capitalized(text: str) -> str:
    """Return the text with a capital letter; the others stay, unlike with `str.capitalize`."""
    return text[:1].upper() + text[1:]


def given(value: object) -> str:
    """Return a value as it was given, truncated if it is long, large or deeply nested."""
    try:
        return brief(_repr.repr(value))
    except ValueError:
        # Python refuses to print numbers with more than some thousand digits.
        return f"a huge {type(value).__name__}"


MOST_NAMES = 10
"""How many names of a list a text repeats."""


def some(
    names: Collection[str],
    most: int = MOST_NAMES,
    *,
    word: Callable[[str], str] = str,
    where: str = "",
    separator: str = ", ",
    longest: int = 100,
) -> str:
    """Return the first names, each truncated to its longest length, and the number of further names.

    :param word: writes a truncated name, for example as Markdown
    :param where: where all names are, if not all are here
    """
    first = separator.join(word(brief(name, longest)) for name in itertools.islice(names, most))
    more = len(names) - most
    return f"{first} and {more:,} more{f' ({where})' if where else ''}" if more > 0 else first


def first(texts: Sequence[str], most: int = MOST_NAMES) -> tuple[str, ...]:
    """Return the first texts, and how many more there are."""
    more = len(texts) - most
    return (*texts[:most], f"and {more:,} more") if more > 0 else tuple(texts)


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that occur more than once, sorted."""
    seen: set[str] = set()
    return sorted({name for name in names if name in seen or seen.add(name)})  # type: ignore[func-returns-value]
