"""The shapes of stored documents: fields, types, and which fields may be missing.

    PYTHONPATH=plugins:spark_jobs:. python -m tests.unit.documents.shapes

writes the shapes of new kinds and of new schema numbers. To a shape that is already there it only adds what every
reader understands; it refuses every other change.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.ledger.chain import SCHEMA as LEDGER_SCHEMA
from kafka_migration.core.ledger.ledger import _FOLDS
from kafka_migration.core.report.progress_series import ProgressSeries
from kafka_migration.core.report.run_status import LastRun, Progress
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.stored.stored_documents import STORED_KINDS

COMMAND = "PYTHONPATH=plugins:spark_jobs:. python -m tests.unit.documents.shapes"
FOLDER = Path(__file__).parent / "fixed_shapes"
MISSING = ", may be missing"
Shape = dict[str, Any]
"""`forms` are the classes of the documents; `classes` has the fields of each class, or the values of an enum."""

_PLAIN = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    datetime: "moment",
    Any: "any JSON value",
    object: "any JSON value",
    # New codes come with every version; they change no shape.
    Code: "code of a finding",
}


def stored() -> dict[str, tuple[type[Document], ...]]:
    """Return the classes of every stored document, by the name of its shape: kind and schema number."""
    others = {
        "stop-request": StopRequest,
        "progress": Progress,
        "progress-series": ProgressSeries,
        "last-run": LastRun,
    }
    return {
        **{f"{row.kind}-{row.schema}": row.forms for row in STORED_KINDS},
        **{f"ledger-{name}-{LEDGER_SCHEMA}": (kind,) for name, (kind, _) in _FOLDS.items()},
        **{f"{name}-1": (kind,) for name, kind in others.items()},
    }


def shape_of(*forms: type[Document]) -> Shape:
    """Return the shape of the documents of some classes."""
    classes: dict[str, Any] = {}
    for form in forms:
        _spelled(form, classes)
    return {"forms": [form.__name__ for form in forms], "classes": dict(sorted(classes.items()))}


def _spelled(kind: Any, classes: dict[str, Any]) -> str:
    """Return a type in words; its classes are added to `classes`."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    parts, origin = get_args(kind), get_origin(kind)
    if origin is Annotated:
        return _spelled(parts[0], classes)
    if origin is Literal:
        return " or ".join(json.dumps(part) for part in parts)
    words = [_spelled(part, classes) for part in parts if part is not ...]
    if origin in {Union, UnionType}:
        return " or ".join(sorted(words, key=lambda word: (word == "null", word)))
    if origin is Mapping:
        return f"object of ({words[1]}) by {words[0]}"
    if origin in {tuple, frozenset}:
        return f"list of {words[0]}" if ... in parts or origin is frozenset else f"[{', '.join(words)}]"
    return _named(kind, classes)


def _named(kind: Any, classes: dict[str, Any]) -> str:
    name: str = kind.__name__
    if name not in classes:
        classes[name] = {}
        classes[name] = [each.value for each in kind] if issubclass(kind, Enum) else _fields(kind, classes)
    return name


def _fields(kind: Any, classes: dict[str, Any]) -> dict[str, str]:
    hints = get_type_hints(kind, include_extras=True)
    optional = getattr(kind, "ADDED", frozenset()) | getattr(kind, "OMITTED", frozenset())
    return {
        name: _spelled(each, classes) + MISSING * (name in optional)
        for name, each in hints.items()
        if get_origin(each) is not ClassVar
    }


def breaks(before: Shape, now: Shape) -> Iterator[str]:
    """Yield what changed in a shape so that documents of before, or readers of before, are not understood."""
    yield from (f"form {name} is gone" for name in before["forms"] if name not in now["forms"])
    for name, known in before["classes"].items():
        present = now["classes"].get(name)
        if present is None:
            yield f"class {name} is gone"
        elif isinstance(known, list):
            yield from (f"value {value} of {name} is gone" for value in known if value not in present)
        else:
            yield from _broken_fields(name, known, present)


def _broken_fields(name: str, known: Mapping[str, str], present: Mapping[str, str]) -> Iterator[str]:
    for field, kind in known.items():
        if field not in present:
            yield f"field {name}.{field} is gone"
        elif present[field] != kind and not _has_more_values(kind, present[field]):
            yield f"field {name}.{field} was {kind}, now {present[field]}"
    for field in present.keys() - known.keys():
        if not present[field].endswith(MISSING):
            yield f"field {name}.{field} is new, and documents of before do not have it"


def _has_more_values(before: str, now: str) -> bool:
    """Return whether a type only got more literal values; as with an enum, a new value is a new fact."""
    known, present = (set(kind.removesuffix(MISSING).split(" or ")) for kind in (before, now))
    only_literals = all(value.startswith('"') for value in present)
    return only_literals and known < present and before.endswith(MISSING) == now.endswith(MISSING)


def golden(name: str) -> Shape | None:
    """Return the fixed shape; `None` if there is none yet."""
    path = FOLDER / f"{name}.json"
    return json.loads(path.read_text()) if path.is_file() else None


def main() -> int:
    """Write new shapes, add to known ones, and print every change that is refused."""
    refused = 0
    for name, forms in stored().items():
        before, now = golden(name), shape_of(*forms)
        broken = list(breaks(before, now)) if before else []
        refused += bool(broken)
        if not broken and before != now:
            (FOLDER / f"{name}.json").write_text(json.dumps(now, indent=1) + "\n")
        sys.stdout.writelines(f"{name}: {text}\n" for text in broken)
    return min(refused, 1)


if __name__ == "__main__":
    sys.exit(main())
