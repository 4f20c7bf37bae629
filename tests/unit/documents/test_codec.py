"""Rules of the JSON form of dataclasses."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from typing import Any, ClassVar, Literal, NamedTuple

import pytest

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition

NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Point(NamedTuple):
    x: int
    name: str


@dataclass(frozen=True, slots=True)
class Inner(Document):
    rate: float
    colour: Colour | None = None


@dataclass(frozen=True, slots=True)
class Outer(Document):
    text: str
    number: int
    flag: bool
    offsets: Offsets
    moments: Mapping[datetime, Offsets]
    inner: Inner | None
    others: tuple[Inner, ...]
    pair: tuple[int, int]
    point: Point
    colours: frozenset[Colour]
    by_number: Mapping[int, Point]
    anything: Mapping[str, Any]
    choice: Literal["a", "b"]
    schema: Literal[2] = 2
    ignored: ClassVar[int] = 7


MADE = Outer(
    "ä",
    3,
    True,
    {TopicPartition("orders", 10): 7, TopicPartition("orders", 9): 5},
    {NOON: {TopicPartition("audit", 0): 1}},
    Inner(0.5, Colour.RED),
    (Inner(1.0),),
    (1, 2),
    Point(4, "p"),
    frozenset(Colour),
    {2: Point(0, "b"), 10: Point(1, "a")},
    {"deep": [{"x": None}]},
    "b",
)
FORM = {
    "text": "ä",
    "number": 3,
    "flag": True,
    "offsets": {"orders": {"9": 5, "10": 7}},
    "moments": {"2030-01-01T12:00:00+00:00": {"audit": {"0": 1}}},
    "inner": {"rate": 0.5, "colour": "red"},
    "others": [{"rate": 1.0, "colour": None}],
    "pair": [1, 2],
    "point": [4, "p"],
    "colours": ["blue", "red"],
    "by_number": {"2": [0, "b"], "10": [1, "a"]},
    "anything": {"deep": [{"x": None}]},
    "choice": "b",
    "schema": 2,
}


def test_form_of_each_type() -> None:
    """Each field has its name and the form of its type; keys are sorted, so equal values have equal text."""
    assert json.dumps(FORM) == json.dumps(MADE.to_document())
    assert MADE == Outer.from_document(FORM)


def test_moment_is_written_in_utc() -> None:
    """One moment has one text, whatever its time zone; a moment without one is neither written nor read."""
    local = NOON.astimezone(timezone(timedelta(hours=2)))

    assert FORM == replace(MADE, moments={local: {TopicPartition("audit", 0): 1}}).to_document()
    with pytest.raises(ValueError, match="expected a time zone, found 2030-01-01T12:00:00"):
        replace(MADE, moments={NOON.replace(tzinfo=None): {}}).to_document()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": 5}, "text: expected str, found 5"),
        ({"text": None}, "text: expected str, found None"),
        ({"number": True}, "number: expected int, found True"),
        ({"number": 3.0}, "number: expected int, found 3.0"),
        ({"number": "3"}, "number: expected int, found '3'"),
        ({"flag": 1}, "flag: expected bool, found 1"),
        ({"offsets": {"orders": {"09": 5}}}, "offsets: orders: expected '9', found '09'"),
        ({"offsets": {"orders": {"x": 5}}}, "offsets: orders: invalid literal"),
        ({"offsets": {"orders": {"9": "5"}}}, "offsets: orders: 9: expected int, found '5'"),
        ({"offsets": {"orders": 5}}, "offsets: orders: expected dict, found 5"),
        ({"moments": {"2030-01-01T12:00:00": {}}}, "moments: expected a time zone"),
        ({"moments": {"2030-01-01T13:00:00+01:00": {}}}, "moments: expected '2030-01-01T12:00:00"),
        ({"moments": {"noon": {}}}, "moments: Invalid isoformat"),
        ({"moments": {"0001-01-01T00:00:00+01:00": {}}}, "moments: expected a moment that UTC has too, found 0001"),
        ({"inner": {"rate": float("nan"), "colour": None}}, "inner: rate: expected a finite number, found nan"),
        ({"inner": {"rate": float("inf"), "colour": None}}, "inner: rate: expected a finite number, found inf"),
        ({"inner": {"rate": 10**400, "colour": None}}, "inner: rate: expected a finite number"),
        ({"inner": {"rate": True, "colour": None}}, "inner: rate: expected a finite number, found True"),
        ({"inner": {"rate": 1.0, "colour": "green"}}, "inner: colour: 'green' is not a valid Colour"),
        ({"inner": {"rate": 1.0, "colour": ["red"]}}, "inner: colour: expected str, found"),
        ({"inner": {"rate": 1.0}}, "inner: no colour"),
        ({"inner": [1.0, None]}, "inner: expected dict, found"),
        ({"others": [{"rate": 1.0, "colour": None}, 5]}, "others: 1: expected dict, found 5"),
        ({"others": "ab"}, "others: expected list, found 'ab'"),
        ({"pair": [1]}, "pair: expected 2 values, found 1"),
        ({"point": [4, "p", 5]}, "point: expected 2 values, found 3"),
        ({"colours": ["red", "green"]}, "colours: 1: 'green' is not a valid Colour"),
        ({"choice": "c"}, "choice: expected one of a, b, found 'c'"),
        ({"choice": ["a"]}, "choice: expected one of a, b, found"),
        ({"schema": 3}, "schema: expected one of 2, found 3"),
        ({"schema": 2.0}, "schema: expected one of 2, found 2.0"),
    ],
)
def test_value_that_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    """The error names the place, what was expected and what was found."""
    with pytest.raises(ValueError, match=message):
        Outer.from_document({**FORM, **change})


@pytest.mark.parametrize("name", FORM)
def test_missing_field_is_refused(name: str) -> None:
    """A document has every field, also those with a default: a wrong name is no default."""
    with pytest.raises(ValueError, match=f"^no {name}$"):
        Outer.from_document({key: value for key, value in FORM.items() if key != name})


@pytest.mark.parametrize("document", [None, [], "x", 5])
def test_anything_but_an_object_is_refused(document: Any) -> None:
    """A document is a JSON object."""
    with pytest.raises(ValueError, match="expected dict"):
        Outer.from_document(document)


def test_further_fields_are_ignored() -> None:
    """A document may say more for people and other programs, such as a sum or the number of a ledger entry."""
    assert MADE == Outer.from_document({**FORM, "further": {"sum": 3}, "ignored": 8})


def test_deeply_nested_value_is_refused() -> None:
    """Nesting beyond the types is a wrong type, not an endless recursion."""
    deep: Any = 5
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(ValueError, match="number: expected int"):
        Outer.from_document({**FORM, "number": deep})
