"""Every class with a JSON form: it is read back as it was written, and no changed field goes unnoticed."""

from __future__ import annotations

import importlib
import json
import pkgutil
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from itertools import pairwise
from random import Random
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

import pytest

import kafka_migration.core
from kafka_migration.core.documents.codec import Document, written
from kafka_migration.core.report.run_document import RunDocument, Steps

SEEDS = range(20)
ANY_VALUE: list[Any] = [None, 12, "x", [1, {"y": None}], {"z": [True]}]
OTHERS: list[tuple[Any, str]] = [
    (other, json.dumps(other)) for other in (None, True, 7, -0.5, "text", [], {}, ["text"], {"text": 1}, float("nan"))
]


def _documents() -> list[type[Document]]:
    for module in pkgutil.walk_packages(kafka_migration.core.__path__, "kafka_migration.core."):
        importlib.import_module(module.name)
    found, waiting = set[tuple[str, str]](), [Document]
    while waiting:
        below = [each for each in waiting.pop().__subclasses__() if each.__module__.startswith("kafka_migration.")]
        found |= {(each.__module__, each.__qualname__) for each in below}
        waiting += below
    # `run.json` has tests of its own (`tests/unit/report`).
    # `slots` makes a second class of the same name; the module has the one that counts.
    every = [getattr(importlib.import_module(module), name) for module, name in sorted(found)]
    return [each for each in every if not issubclass(each, (Steps, RunDocument))]


DOCUMENTS = _documents()
every_document = pytest.mark.parametrize("kind", DOCUMENTS, ids=lambda kind: kind.__name__)


def example(kind: Any, random: Random) -> Any:
    """Return a random value of a type."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in {Union, UnionType}:
        return example(random.choice([NoneType, *parts]), random)
    if origin is Literal:
        return random.choice(parts)
    if origin is tuple:
        return tuple(example(each, random) for each in ([parts[0]] * random.randrange(3) if ... in parts else parts))
    if origin is frozenset:
        return frozenset(example(parts[0], random) for _ in range(2))
    if origin is Mapping:
        return {example(parts[0], random): example(parts[1], random) for _ in range(random.randrange(3))}
    if issubclass(kind, Enum):
        return random.choice(list(kind))
    if issubclass(kind, Document | tuple):
        return _example_of_fields(kind, random)
    return PLAIN[kind](random)


def _example_of_fields(kind: Any, random: Random) -> Any:
    return kind(**{name: example(each, random) for name, each in _types(kind).items()})


def _types(kind: Any) -> dict[str, Any]:
    return {name: each for name, each in get_type_hints(kind).items() if get_origin(each) is not ClassVar}


PLAIN: Mapping[Any, Any] = {
    NoneType: lambda random: None,
    bool: lambda random: random.random() < 0.5,
    int: lambda random: random.randrange(10**12),
    float: lambda random: random.uniform(-1e9, 1e9),
    str: lambda random: random.choice("abä \"'\\") + str(random.randrange(10**6)),
    datetime: lambda random: datetime(2030, 1, 1, tzinfo=UTC) + timedelta(microseconds=random.randrange(10**15)),
    Any: lambda random: random.choice(ANY_VALUE),
    object: lambda random: random.choice(ANY_VALUE),
}


def test_documents_are_found() -> None:
    """The scan finds documents of several rooms."""
    assert {"Finding", "StopCertificate", "WatchResult"} <= {each.__name__ for each in DOCUMENTS}


@every_document
def test_document_is_read_back_as_it_was_written(kind: type[Document]) -> None:
    """Nothing is lost or changed on the way through JSON, and the same value always has the same text."""
    for seed in SEEDS:
        made = example(kind, Random(seed))
        text = json.dumps(made.to_document())
        found = kind.from_document(json.loads(text))

        assert made == found
        assert text == json.dumps(found.to_document())


@every_document
def test_no_changed_field_goes_unnoticed(kind: type[Document]) -> None:
    """A field that is missing, of another type or swapped with another is refused, or gives another value."""
    for seed in SEEDS[:5]:
        made = example(kind, Random(seed))
        text = json.dumps(made.to_document())
        for what, changed in _changes(made):
            try:
                found = json.dumps(kind.from_document(changed).to_document())
            except ValueError:
                continue
            assert text != found, what


def _changes(made: Document) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the document of a value with one field missing, of another type, or swapped.

    It is one document, which is changed while it is looked at, and then as it was.
    """
    document = json.loads(json.dumps(made.to_document()))
    for path, names, optional in _objects(made):
        place = document
        for name in path:
            place = place[name]
        texts, values = {name: json.dumps(place[name]) for name in names}, dict(place)
        for what, changed in _changed(values, names, texts, optional):
            place.clear()
            place.update(changed)
            yield f"{path} {what}", document
        place.clear()
        place.update(values)


def _changed(
    values: dict[str, Any], names: list[str], texts: dict[str, str], optional: frozenset[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield an object with one field missing, of another type, or swapped."""
    for name in names:
        # Without it, an optional field has its default, which may be its value.
        if name not in optional:
            yield f"without {name}", {other: value for other, value in values.items() if other != name}
        yield from ((f"{name} is {o!r}", {**values, name: o}) for o, text in OTHERS if text != texts[name])
    for one, other in pairwise(names):
        if texts[one] != texts[other]:
            yield f"{one} and {other} swapped", {**values, one: values[other], other: values[one]}


def _objects(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], list[str], frozenset[str]]]:
    """Return the path of each object in the document of a value, with its names, and those that may be missing."""
    optional: frozenset[str] = frozenset()
    if isinstance(value, Document):
        parts = {name: getattr(value, name) for name in value.to_document() if name in _types(type(value))}
        optional = value.ADDED | value.OMITTED
    elif isinstance(value, Mapping) and not all(isinstance(key, tuple) for key in value):
        parts = {written(key): each for key, each in value.items()}
    elif isinstance(value, tuple):
        yield from (found for n, part in enumerate(value) for found in _objects(part, (*path, n)))
        return
    else:
        return
    yield path, [str(name) for name in parts], optional
    for name, part in parts.items():
        yield from _objects(part, (*path, str(name)))
