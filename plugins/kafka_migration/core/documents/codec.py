"""The JSON form of a dataclass: it follows from the types of the fields.

A tuple is a list, a set is a sorted list, and a mapping is an object with sorted keys. A mapping by pairs is one
object within another, so offsets by `TopicPartition` are `{"orders": {"0": 5}}`. An enum is its value, a `datetime` is
ISO 8601 in UTC, and another `Document` is an object.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from operator import itemgetter
from reprlib import repr as brief
from types import GenericAlias, NoneType, UnionType
from typing import Any, ClassVar, Literal, Self, Union, get_args, get_origin, get_type_hints


class DoesNotFit(ValueError):
    """A JSON value that is not the form of its class; the text names its place."""


class Document:
    """Base of the frozen dataclasses that have a JSON form.

    A JSON object must have every field of the class, also those with a default. Further fields are for people and other
    programs; they are ignored.
    """

    __slots__ = ()

    def to_document(self) -> dict[str, Any]:
        """Return the JSON object."""
        return {name: written(getattr(self, name)) for name in _types(type(self))}

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Read a JSON object. Raises `DoesNotFit` if a field is missing or does not fit its type."""
        types, values = _types(cls), _of(dict, document)
        if missing := [name for name in types if name not in values]:
            raise DoesNotFit(f"no {', '.join(missing)}")
        return cls(**{name: _part(name, kind, values[name]) for name, kind in types.items()})


def _types_of(kind: Any) -> dict[str, Any]:
    """Return the type of each field of a dataclass or named tuple."""
    return {name: each for name, each in get_type_hints(kind).items() if get_origin(each) is not ClassVar}


_types: Callable[[Any], dict[str, Any]] = cache(_types_of)


def written(value: Any) -> Any:
    """Return the JSON form of a value."""
    if type(value) in {str, int, float, bool, NoneType}:
        return value
    if isinstance(value, Document):
        return value.to_document()
    if isinstance(value, Mapping):
        return _written_object(value)
    if isinstance(value, tuple | list):
        return [written(each) for each in value]
    if isinstance(value, frozenset):
        return [written(each) for each in sorted(value)]
    if isinstance(value, datetime):
        return _with_zone(value).astimezone(UTC).isoformat()
    return value.value if isinstance(value, Enum) else value


def _written_object(values: Mapping[Any, Any]) -> dict[str, Any]:
    document: dict[str, Any] = {}
    for key, value in sorted(values.items(), key=itemgetter(0)):
        *outer, last = key if isinstance(key, tuple) else (key,)
        inner = document
        for part in outer:
            inner = inner.setdefault(_name(part), {})
        inner[_name(last)] = written(value)
    return document


def _name(key: Any) -> str:
    return str(written(key))


def read(kind: Any, value: Any) -> Any:
    """Read a value of a type from its JSON form. Raises `ValueError` if it does not fit."""
    if kind in _SPECIAL:
        return _SPECIAL[kind](value)
    if parts := get_args(kind):
        return _GENERIC[get_origin(kind)](parts, value)
    if issubclass(kind, Document):
        return kind.from_document(value)
    if issubclass(kind, tuple):
        return kind(*_read_tuple(tuple(_types(kind).values()), value))
    if issubclass(kind, Enum):
        return kind(_of(str, value))
    return _of(kind, value)


def _part(name: str, kind: Any, value: Any) -> Any:
    """Read a part of a document, and name it in each error."""
    try:
        return read(kind, value)
    except ValueError as error:
        raise DoesNotFit(f"{name}: {error}") from None


def _of(kind: type, value: Any) -> Any:
    # `isinstance` would accept a boolean as an integer.
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}, found {brief(value)}")
    return value


def _read_optional(kinds: tuple[Any, ...], value: Any) -> Any:
    (kind,) = (each for each in kinds if each is not NoneType)
    return None if value is None else read(kind, value)


def _read_choice(choices: tuple[Any, ...], value: Any) -> Any:
    # In Python, 1 equals 1.0 and true.
    if (type(value), value) not in [(type(choice), choice) for choice in choices]:
        raise ValueError(f"expected one of {', '.join(map(str, choices))}, found {brief(value)}")
    return value


def _read_tuple(kinds: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    values = _of(list, value)
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(values)
    if len(values) != len(kinds):
        raise ValueError(f"expected {len(kinds)} values, found {len(values)}")
    return tuple(_part(str(n), kind, each) for n, (kind, each) in enumerate(zip(kinds, values, strict=True)))


def _read_set(kinds: tuple[Any, ...], value: Any) -> frozenset[Any]:
    return frozenset(_read_tuple((*kinds, ...), value))


def _read_object(kinds: tuple[Any, ...], value: Any) -> dict[Any, Any]:
    key, kind = kinds
    if not issubclass(key, tuple):
        return {_read_name(key, name): _part(name, kind, each) for name, each in _of(dict, value).items()}
    outer, inner = _types(key).values()
    objects = _read_object((outer, GenericAlias(Mapping, (inner, kind))), value)
    return {key(first, second): each for first, others in objects.items() for second, each in others.items()}


def _read_name(kind: Any, name: str) -> Any:
    """Read a key. It has one text only, so that no two texts are the same key."""
    key = int(name) if kind is int else read(kind, name)
    if _name(key) != name:
        raise ValueError(f"expected {_name(key)!r}, found {name!r}")
    return key


def _read_number(value: Any) -> float:
    # Python's JSON reader accepts NaN and infinity; NaN is not smaller than any number.
    if type(value) not in {int, float} or not abs(value) <= sys.float_info.max:
        raise ValueError(f"expected a finite number, found {brief(value)}")
    return float(value)


def _read_moment(value: Any) -> datetime:
    moment = _with_zone(datetime.fromisoformat(_of(str, value)))
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"expected a moment that UTC has too, found {moment.isoformat()}") from None


def _with_zone(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        raise ValueError(f"expected a time zone, found {moment.isoformat()}")
    return moment


_GENERIC = {
    Union: _read_optional,
    UnionType: _read_optional,
    Literal: _read_choice,
    tuple: _read_tuple,
    frozenset: _read_set,
    Mapping: _read_object,
}
_SPECIAL = {Any: lambda value: value, float: _read_number, datetime: _read_moment}
