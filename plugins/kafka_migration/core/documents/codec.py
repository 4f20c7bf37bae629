"""The JSON form of a dataclass: it follows from the types of the fields.

A tuple is a list, a set is a sorted list, and a mapping is an object with sorted keys. A mapping by pairs is one
object within another, so offsets by `TopicPartition` are `{"orders": {"0": 5}}`. An enum is its value, a `datetime` is
ISO 8601 in UTC, and another `Document` is an object.

A mapping with the mark `LATER` is read when it is first used.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from datetime import UTC, datetime
from enum import Enum
from functools import cache, cached_property, partial
from itertools import repeat
from operator import itemgetter
from reprlib import repr as brief
from types import GenericAlias, NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Self, Union, cast, get_args, get_origin, get_type_hints

# `Annotated[Mapping[…], LATER]`: a mapping that is large and often not needed.
LATER = "later"


class DoesNotFit(ValueError):
    """A JSON value that is not the form of its class; the text names its place."""


class Document:
    """Base of the frozen dataclasses that have a JSON form.

    A JSON object must have every field of the class, also those with a default, except those in `ADDED`: documents of
    earlier versions do not have them. Fields in `OMITTED` are left out of the object while they are `None`. Further
    fields are for people and other programs; they are ignored.
    """

    __slots__ = ()
    ADDED: ClassVar[frozenset[str]] = frozenset()
    OMITTED: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def extended(cls, base: Document, **more: Any) -> Self:
        """Return a document with the fields of one of its base classes, and those that it has besides."""
        return cls(**{name: getattr(base, name) for name in _types(type(base))}, **more)

    def to_document(self) -> dict[str, Any]:
        """Return the JSON object."""
        values = {name: getattr(self, name) for name in _types(type(self))}
        return {name: written(v) for name, v in values.items() if v is not None or name not in self.OMITTED}

    @classmethod
    def from_document(cls, document: Any) -> Self:
        """Read a JSON object.

        Raises `DoesNotFit` if a field is missing or does not fit its type; a mapping with the mark `LATER` raises it
        when it is used.
        """
        readers, values = _readers(cls), _of(dict, document)
        optional = cls.ADDED | cls.OMITTED
        if missing := [name for name in readers if name not in values and name not in optional]:
            raise DoesNotFit(f"no {', '.join(missing)}")
        names = [name for name in readers if name in values]
        parts = _read_parts([readers[name] for name in names], [values[name] for name in names], names)
        return cls(**dict(zip(names, parts, strict=True)))


def _types_of(kind: Any) -> dict[str, Any]:
    """Return the type of each field of a dataclass or named tuple."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: each for name, each in hints.items() if get_origin(each) is not ClassVar}


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
    return _reader(kind)(value)


def _reader_of(kind: Any) -> Any:
    if kind in _SPECIAL:
        return _SPECIAL[kind]
    if get_origin(kind) in {Union, UnionType}:
        (part,) = (each for each in get_args(kind) if each is not NoneType)
        return partial(_read_optional, _reader(part))
    if parts := get_args(kind):
        return partial(_GENERIC[get_origin(kind)], parts)
    if issubclass(kind, Document):
        return kind.from_document
    if issubclass(kind, tuple):
        return lambda value: kind(*_read_tuple(tuple(_types(kind).values()), value))
    if issubclass(kind, Enum):
        return lambda value: kind(_of(str, value))
    return partial(_of, kind)


_reader: Callable[[Any], Callable[[Any], Any]] = cache(_reader_of)


def _readers_of(kind: Any) -> dict[str, Callable[[Any], Any]]:
    """Return what reads each field of a document."""
    return {name: _field_reader(name, each) for name, each in _types(kind).items()}


_readers: Callable[[Any], dict[str, Callable[[Any], Any]]] = cache(_readers_of)


def _field_reader(name: str, kind: Any) -> Callable[[Any], Any]:
    return partial(ReadLater, name, get_args(kind)[0]) if get_origin(kind) is Annotated else _reader(kind)


def _read_parts(readers: Iterable[Callable[[Any], Any]], values: Iterable[Any], names: Sequence[Any]) -> list[Any]:
    """Read the parts of a value in their order; an error names the part. A ledger has hundreds of thousands."""
    parts = list[Any]()
    try:
        for reader, value in zip(readers, values, strict=False):
            parts.append(reader(value))
    except ValueError as error:
        raise DoesNotFit(f"{names[len(parts)]}: {error}") from None
    return parts


class ReadLater(Mapping[Any, Any]):
    """A mapping that is read from its JSON form when it is first used; raises `DoesNotFit` then."""

    def __init__(self, name: str, kind: Any, document: Any) -> None:
        self._name, self._kind, self._document = name, kind, document

    @cached_property
    def _values(self) -> dict[Any, Any]:
        # Two threads may read it at the same time, so its JSON form stays.
        (values,) = _read_parts([_reader(self._kind)], [self._document], [self._name])
        return cast("dict[Any, Any]", values)

    def __getitem__(self, key: Any) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return repr(self._values)

    def keys(self) -> KeysView[Any]:
        """Return the keys."""
        return self._values.keys()

    def values(self) -> ValuesView[Any]:
        """Return the values."""
        return self._values.values()

    def items(self) -> ItemsView[Any, Any]:
        """Return the items, without looking up each key again."""
        return self._values.items()


def _of(kind: type, value: Any) -> Any:
    # `isinstance` would accept a boolean as an integer.
    if type(value) is not kind:
        raise ValueError(f"expected {kind.__name__}, found {brief(value)}")
    return value


def _read_optional(reader: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else reader(value)


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
    return tuple(_read_parts(map(_reader, kinds), values, range(len(values))))


def _read_set(kinds: tuple[Any, ...], value: Any) -> frozenset[Any]:
    return frozenset(_read_tuple((*kinds, ...), value))


def _read_object(kinds: tuple[Any, ...], value: Any) -> dict[Any, Any]:
    key, kind = kinds
    if not issubclass(key, tuple):
        names, parts = [*_of(dict, value)], value.values()
        keys = [_read_name(key, name) for name in names]
        return dict(zip(keys, _read_parts(repeat(_reader(kind)), parts, names), strict=True))
    outer, inner = _types(key).values()
    objects = _read_object((outer, GenericAlias(Mapping, (inner, kind))), value)
    return {key(first, second): each for first, others in objects.items() for second, each in others.items()}


def _read_name(kind: Any, name: str) -> Any:
    """Read a key. It has one text only, so that no two texts are the same key."""
    key = int(name) if kind is int else read(kind, name)
    if (text := str(key) if kind is int else _name(key)) != name:
        raise ValueError(f"expected {text!r}, found {name!r}")
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
    Literal: _read_choice,
    tuple: _read_tuple,
    frozenset: _read_set,
    Mapping: _read_object,
}
_SPECIAL = {Any: lambda value: value, object: lambda value: value, float: _read_number, datetime: _read_moment}
