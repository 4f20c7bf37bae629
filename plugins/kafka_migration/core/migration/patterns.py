"""Regular expressions from migration files, with bounded matching time for every pattern and name.

Python's engine tries one after the other all ways in which a pattern may match a name, and `(a+)+` can match thirty
letters in more ways than a computer can try. The maximum number of ways is computed from the pattern; patterns with
too many are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

# Typeshed has no types for the parser of `re`.
from re import _constants as parts  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

# Kafka's limit for topic names. The number of ways is computed for names of this length.
USUAL_LENGTH = 249
# Three wildcards, such as `.*a.*b.*`, on a name of that length take some tenths of a second in the worst case.
MOST_WAYS = (USUAL_LENGTH + 1) ** 3


def pattern_problem(pattern: str) -> str:
    """Return what is wrong with a regular expression; empty for one that can be used."""
    try:
        re.compile(pattern)
        ways = _ways(pattern, USUAL_LENGTH)
    except re.error as error:
        return f"a regular expression: {error}"
    except (OverflowError, RecursionError, MemoryError):
        return "a regular expression with smaller numbers and fewer brackets"
    if ways > MOST_WAYS:
        return (
            "a regular expression with bounded matching time: no repetition or choice within a repetition, and at "
            "most three wildcards such as .*"
        )
    return ""


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether the whole name matches one of the regular expressions.

    A name that is too long for the bounded matching time of a pattern does not match it.
    """
    return matcher(tuple(patterns))(name)


@lru_cache(maxsize=4096)
def matcher(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Return what `matches` says of a name for these patterns, for many names."""
    compiled = [(re.compile(pattern, re.DOTALL).fullmatch, pattern) for pattern in patterns]

    def is_match(name: str) -> bool:
        for fullmatch, pattern in compiled:
            if (len(name) <= USUAL_LENGTH or _ways(pattern, len(name)) <= MOST_WAYS) and fullmatch(name):
                return True
        return False

    return is_match


@lru_cache(maxsize=4096)
def _ways(pattern: str, length: int) -> int:
    return _ways_of(parser.parse(pattern), length)


def _ways_of(sequence: Iterable[tuple[Any, Any]], length: int) -> int:
    """Return the maximum number of ways to try the parts of a pattern on a name of this length."""
    ways = 1
    for kind, argument in sequence:
        ways = min(ways * _ways_of_part(kind, argument, length), MOST_WAYS + 1)
    return ways


def _ways_of_part(kind: Any, argument: Any, length: int) -> int:
    if kind in {parts.MAX_REPEAT, parts.MIN_REPEAT, parts.POSSESSIVE_REPEAT}:
        least, most, inner = argument
        return _repeated(_ways_of(inner, length), least, min(most, length), length)
    if kind is parts.BRANCH:
        return sum(_ways_of(branch, length) for branch in argument[1])
    # A group, a lookahead or lookbehind, or a conditional: its content counts.
    return max(1, sum(_ways_of(inner, length) for inner in _inside(argument)))


def _repeated(ways: int, least: int, most: int, length: int) -> int:
    if ways == 1:
        return max(1, most - min(least, length) + 1)
    return ways**most if most * ways.bit_length() <= 64 else MOST_WAYS + 1


def _inside(argument: Any) -> Sequence[Any]:
    if isinstance(argument, parser.SubPattern):
        return [argument]
    return [inner for inner in argument if isinstance(inner, parser.SubPattern)] if isinstance(argument, tuple) else []
