"""The shapes of stored documents are fixed: a changed shape is a decision, and documents of before are still read."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from kafka_migration.core.documents.codec import Document, DoesNotFit
from kafka_migration.core.evidence.evidence_documents import Kind, StoredKind
from kafka_migration.core.run.task_steps import STEPS, WRITTEN_BY_ANY
from kafka_migration.core.stored.stored_documents import STORED_KINDS, Stored
from tests.unit.documents.shapes import COMMAND, FOLDER, Shape, breaks, golden, shape_of, stored

ROWS: dict[Kind, StoredKind[Document]] = {row.kind: row for row in STORED_KINDS}
# Documents that tasks wrote, one or more per kind, before their classes existed.
BEFORE = sorted((Path(__file__).parent / "before").glob("*.json"))
HOW_TO_DECIDE = """
The shape of {name} changed:
{changes}
A new field that documents of before do not have: give it a default and name it in ADDED (or in OMITTED, if it is only
written when it has a value). Then run this, which adds it to the shape:
{command}
A field that goes, or that changes its type or meaning: raise `schema` of its row, and keep the class that reads the old
number. Never edit a shape of an old number.
"""


def test_each_kind_has_one_row() -> None:
    """Every kind of document has its class; `finish` writes `run.json` only, which is no document of a task."""
    assert set(Kind) - {Kind.FINISH} == set(ROWS)
    assert [kind for kind in Kind if kind in ROWS] == list(ROWS)


def test_schema_of_a_row_is_that_of_its_documents() -> None:
    """A document with a field `schema` says the number of its row; without the field it is 1."""
    fields = {row: get_type_hints(form).get("schema") for row in ROWS.values() for form in row.forms}

    assert {row.kind: (row.schema,) for row in ROWS.values()} == {
        row.kind: get_args(field) if field else (1,) for row, field in fields.items()
    }


@pytest.mark.parametrize("name", sorted(stored()))
def test_shape_is_as_it_was_fixed(name: str) -> None:
    """Fields, types, nested classes, and which fields may be missing: a change needs a decision."""
    before, now = golden(name), shape_of(*stored()[name])
    assert before is not None, f"{name} has no shape: run `{COMMAND}`"
    changes = list(breaks(before, now)) or ["only what readers of before understand was added"]

    assert before == now, HOW_TO_DECIDE.format(
        name=name, command=COMMAND, changes="\n".join(f"- {each}" for each in changes)
    )


def test_no_shape_is_left_over() -> None:
    """A shape of an old schema number stays; one of a number that no row had yet would fix nothing."""
    numbers = {name.rpartition("-")[0]: int(name.rpartition("-")[2]) for name in stored()}
    kept = [path.stem.rpartition("-") for path in FOLDER.glob("*.json")]

    assert all(1 <= int(number) <= numbers[kind] for kind, _, number in kept)


def _remove(shape: Shape) -> None:
    del shape["classes"]["Finding"]["subject"]


def _retype(shape: Shape) -> None:
    shape["classes"]["Finding"]["subject"] = "integer"


def _require(shape: Shape) -> None:
    shape["classes"]["Finding"]["severity"] = "text"


def _unname(shape: Shape) -> None:
    shape["forms"].pop()


def _drop_value(shape: Shape) -> None:
    shape["classes"]["Outcome"].pop()


def _add(shape: Shape) -> None:
    shape["classes"]["Finding"]["severity"] = "text, may be missing"
    shape["classes"]["Outcome"].append("paused")
    shape["forms"].append("Paused")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (_remove, ["field Finding.subject is gone"]),
        (_retype, ["field Finding.subject was text, now integer"]),
        (_require, ["field Finding.severity is new, and documents of before do not have it"]),
        (_unname, ["form WatchEnded is gone"]),
        (_drop_value, ["value failed of Outcome is gone"]),
        (_add, []),
    ],
)
def test_only_what_every_reader_understands_is_added(change: Callable[[Shape], None], expected: list[str]) -> None:
    """A field that is gone, has another type, or is required of documents of before is refused."""
    before = shape_of(*Stored.WATCH.forms)
    now = copy.deepcopy(before)
    change(now)

    assert expected == list(breaks(before, now))


@pytest.mark.parametrize(
    ("before", "now", "is_addition"),
    [
        ('"a" or "b"', '"a" or "b" or "c"', True),
        ('"a", may be missing', '"a" or "b", may be missing', True),
        ('"a" or "b"', '"a" or "c"', False),
        ('"a"', '"a" or "b", may be missing', False),
        ('"a"', '"a" or null', False),
    ],
)
def test_a_field_of_words_may_have_further_words(before: str, now: str, is_addition: bool) -> None:
    """A new word of a field is added like a new value of an enum; every other change of its type is refused."""
    shapes = [{"forms": [], "classes": {"Basis": {"engine": kind}}} for kind in (before, now)]

    assert is_addition is (not list(breaks(*shapes)))


def _kind(path: Path) -> Kind:
    return Kind(path.stem.rpartition("-")[0])


def test_documents_of_before_cover_every_kind() -> None:
    """There is a document of before for every kind."""
    assert set(ROWS) == {_kind(path) for path in BEFORE}


@pytest.mark.parametrize("path", BEFORE, ids=lambda path: path.stem)
def test_document_of_before_is_read(path: Path) -> None:
    """It is read as its class, and written again each field that the class knows is what it was."""
    document = json.loads(path.read_text())
    written = ROWS[_kind(path)].read(document).to_document()

    assert [] == _lost(document, written)


def _lost(before: Any, now: Any, where: str = "") -> list[str]:
    """Return the places whose value is not what it was; fields for people and other programs may be gone."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            each for name in before.keys() & now.keys() for each in _lost(before[name], now[name], f"{where}.{name}")
        ]
    if isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        pairs = enumerate(zip(before, now, strict=True))
        return [each for number, (one, other) in pairs for each in _lost(one, other, f"{where}[{number}]")]
    return [] if before == now else [f"{where}: {before!r}, now {now!r}"]


def test_each_kind_is_written_by_a_task() -> None:
    """The table of steps names the tasks that write a kind, and no kind that has no class."""
    assert set(ROWS) == {*(kind for step in STEPS for kind in step.writes), *WRITTEN_BY_ANY}


def test_text_says_why_a_document_fits_no_form() -> None:
    """A damaged announcement is not called an end of the watch that lacks its outcome only."""
    damaged = {"at": "now", "stage": "announced", "generation": 1, "announced_at": "then"}

    with pytest.raises(DoesNotFit, match=r"as Announced: no lag; as Fenced: .*; as WatchEnded: no outcome"):
        Stored.WATCH.read(damaged)
