"""Which values a key of Kafka accepts: those of its type in Java, and those of its validator in `kafka_keys.json`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

# Java removes characters up to the blank at the ends of a value, and no others.
_JAVA_BLANKS = "".join(map(chr, range(33)))
_WHOLE = re.compile(r"[+-]?[0-9]{1,40}")
_DOUBLE = re.compile(
    r"[+-]?(?:[0-9]{1,40}\.?[0-9]{0,40}|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,4})?[fFdD]?|[+-]?(?:NaN|Infinity)"
)
_LIMITS = {"SHORT": 2**15, "INT": 2**31, "LONG": 2**63}
# A word that stands for all of its form: a duration of ISO 8601.
_DURATION = "by_duration:PT1S"
_BY_DURATION = re.compile(r"by_duration:P[0-9.DTHMSdthms]{1,40}")
# How similar a value must be to a word, from 0 to 1, to be a misspelling of it.
_SIMILAR = 0.6


class Wrong(NamedTuple):
    """Why Kafka refuses a value: `clause` follows the value ("is no whole number"), `fix` is a sentence.

    `part` is the item of a list that is wrong; `None` means the whole value. `is_type` says that the value has not the
    type of its key.
    """

    clause: str
    fix: str
    part: str | None = None
    is_type: bool = False


class AcceptedValues(NamedTuple):
    """What a validator accepts; `None` and empty mean that it does not ask."""

    least: float | None = None
    most: float | None = None
    also: float | None = None
    words: tuple[str, ...] = ()
    is_any_case: bool = False
    is_filled: bool = False
    is_distinct: bool = False
    is_without_blanks: bool = False


def trimmed(value: str) -> str:
    """Return the value without the blanks that Java's `String.trim` removes."""
    return value.strip(_JAVA_BLANKS)


def items_of(value: str) -> list[str]:
    """Return the items of a list as Kafka splits it, empty ones included; none for a blank value."""
    return [item.strip() for item in trimmed(value).split(",")] if trimmed(value) else []


@cache
def accepted_of(text: str) -> AcceptedValues:
    """Return what a validator accepts from its text in the table, such as `min=1;max=9` or `words=a|b;anycase`."""
    parts = dict(part.partition("=")[::2] for part in text.split(";"))
    return AcceptedValues(
        _number(parts.get("min")),
        _number(parts.get("max")),
        _number(parts.get("also")),
        tuple(parts["words"].split("|")) if "words" in parts else (),
        "anycase" in parts,
        "nonempty" in parts,
        "distinct" in parts,
        "noblank" in parts,
    )


def _number(text: str | None) -> float | None:
    if text is None:
        return None
    return int(text) if _WHOLE.fullmatch(text) else float(text)


def wrong_value(kind: str, accepted: AcceptedValues, value: str) -> Wrong | None:
    """Return why Kafka refuses the value for a key of this type; `None` if it accepts it, or if it is not known."""
    text = trimmed(value)
    if kind == "BOOLEAN":
        is_right = text.lower() in {"true", "false"}
        return None if is_right else Wrong("is neither true nor false", "Write `true` or `false`.", is_type=True)
    if kind in _LIMITS:
        return _wrong_whole(kind, accepted, text)
    if kind == "DOUBLE":
        is_number = _DOUBLE.fullmatch(text)
        wrong = Wrong("is no number", "Write a number.", is_type=True)
        return _wrong_number(accepted, float(text.rstrip("fFdD"))) if is_number else wrong
    if kind == "LIST":
        return next(_wrong_items(accepted, value), None)
    return _wrong_word(accepted, text) if kind == "STRING" else None


def _wrong_whole(kind: str, accepted: AcceptedValues, text: str) -> Wrong | None:
    if not _WHOLE.fullmatch(text):
        return Wrong("is no whole number", "Write a whole number.", is_type=True)
    limit, number = _LIMITS[kind], int(text)
    if not -limit <= number < limit:
        clause = f"does not fit into Java's type {kind}, from {-limit:,} to {limit - 1:,}"
        return Wrong(clause, "Write a smaller number." if number > 0 else "Write a larger number.", is_type=True)
    return _wrong_number(accepted, number)


def _wrong_number(accepted: AcceptedValues, number: float) -> Wrong | None:
    if number == accepted.also:
        return None
    if accepted.least is not None and number < accepted.least:
        also = f", or {accepted.also}" if accepted.also is not None else ""
        return Wrong(f"is below Kafka's minimum {accepted.least:,}", f"Write {accepted.least:,} or more{also}.")
    if accepted.most is not None and number > accepted.most:
        return Wrong(f"is above Kafka's maximum {accepted.most:,}", f"Write {accepted.most:,} or less.")
    return None


def _wrong_items(accepted: AcceptedValues, value: str) -> Iterator[Wrong]:
    items = items_of(value)
    if accepted.is_filled and not items:
        yield Wrong("is an empty list", "Write at least one item.")
    if accepted.is_without_blanks and "" in items:
        yield Wrong("has an empty item", "Remove the comma that nothing follows or precedes.")
    if accepted.is_distinct and len(set(items)) < len(items):
        yield Wrong("has an item twice", "Write each item once.")
    wrong = (_wrong_word(accepted, item, item) for item in items)
    yield from (each for each in wrong if each)


def _wrong_word(accepted: AcceptedValues, text: str, part: str | None = None) -> Wrong | None:
    if accepted.is_filled and not text:
        return Wrong("is empty", "Write a value, or remove the line.")
    if not accepted.words or (_DURATION in accepted.words and _BY_DURATION.fullmatch(text)):
        return None
    words = {word.lower() if accepted.is_any_case else word: word for word in accepted.words}
    if (text.lower() if accepted.is_any_case else text) in words:
        return None
    listed = ", ".join(f"`{word}`" for word in accepted.words)
    near = nearest_word(text, accepted.words)
    return Wrong("is none of Kafka's words", f"Write `{near}`." if near else f"Write one of {listed}.", part)


def nearest_word(text: str, words: tuple[str, ...]) -> str:
    """Return the word of which a text is probably a misspelling; empty if there is none."""
    lower = {word.lower(): word for word in words}
    return lower.get(nearest(text.lower(), lower, _SIMILAR) if len(text) <= 100 else "", "")


def nearest(name: str, names: Iterable[str], similar: float) -> str:
    """Return the most similar name, if it is at least so similar, from 0 to 1; else an empty text."""
    # Few files have a misspelt name, and this module takes time to import.
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, names, 1, similar)), "")
