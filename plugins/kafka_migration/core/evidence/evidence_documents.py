"""Evidence: the documents of a run, their names, and the row of each kind in the table of stored documents.

Tasks write append-only documents `NN-<kind>-<try>.json` into the folder of their attempt. Only `finish`
writes `run.json` (`core.report.run_document`), from which every report is rendered.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar

from kafka_migration.core.documents.codec import Document, DoesNotFit
from kafka_migration.core.run.run_identity import RunIdentity


class Kind(StrEnum):
    """The documents of a run, in the order of its steps. The position numbers the files, so new kinds are appended."""

    PREFLIGHT = "preflight"
    RESERVE = "reserve"
    PLAN = "plan"
    TOPICS = "topics"
    START = "start"
    WATCH = "watch"
    STOP = "stop"
    VALIDATION_REQUEST = "validation-request"
    VALIDATION_RESULT = "validation-result"
    JUDGE = "judge"
    OFFSETS_PLAN = "offsets-plan"
    APPROVE = "approve"
    OFFSETS_BEFORE = "offsets-before"
    OFFSETS_RESULT = "offsets-result"
    CUTOVER = "cutover"
    FINISH = "finish"
    REFUSAL = "refusal"
    WAIT = "wait"
    PENDING = "pending"
    RESTART = "restart"
    TRANSLATION_REQUEST = "translation-request"
    TRANSLATION_RESULT = "translation-result"
    ROLLBACK_PLAN = "rollback-plan"
    ROLLED_BACK = "rolled-back"
    SETTINGS = "settings"
    HOOK = "hook"
    ALERT = "alert"
    PRODUCERS = "producers"
    TOPIC_LIST = "topic-list"
    DRAINED = "drained"

    @property
    def kind(self) -> Kind:
        """The kind itself: with `read` a bare kind is a `ReadableKind` of JSON objects."""
        return self

    def read(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON object as it is."""
        return document


_ORDER = {kind: number for number, kind in enumerate(Kind, start=1)}
_KINDS = {str(kind): kind for kind in Kind}
_DOCUMENT_NAME = re.compile(r"[0-9]{2}-(?P<kind>[a-z-]{1,40})-(?P<number>[1-9][0-9]{0,8})\.json")
# A folder name must not start with a dot, nor be longer than file systems allow.
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]|^[.]+")
_LONGEST_NAME = 200
_ATTEMPT = re.compile(r"attempt-([1-9][0-9]{0,8})", re.ASCII)


def run_folder_name(run: RunIdentity) -> str:
    """Return the folder name of a run: its id with every unsafe character replaced by `_`, and a digest.

    The digest is of the DAG id and the run id. The user who triggers a run may choose its id, which must not lead to
    the folder of another run or out of the migration's folder.
    """
    digest = hashlib.sha256(f"{run.dag_id}/{run.run_id}".encode()).hexdigest()
    return f"{safe_run_id(run.run_id)}-{digest[:16]}"


def attempt_folder_name(attempt: int) -> str:
    """Return the name of an attempt's folder within the folder of its run; a file of it is `attempt-<n>/<file>`."""
    return f"attempt-{attempt}"


def attempt_of(name: str) -> int:
    """Return the attempt of a folder `attempt-<n>`, or of a file in it; 0 for another name."""
    found = _ATTEMPT.fullmatch(name.partition("/")[0])
    return int(found[1]) if found else 0


def safe_run_id(run_id: str) -> str:
    """Return a run id, or a part of it, as the names of folders have it."""
    return _UNSAFE.sub("_", run_id)[:_LONGEST_NAME]


def document_name(kind: Kind, number: int) -> str:
    """Return `NN-<kind>-<number>.json`; the number counts the documents of that kind in the attempt."""
    return f"{_ORDER[kind]:02}-{kind}-{number}.json"


def parse_document_name(name: str) -> tuple[Kind, int] | None:
    """Return kind and number, or `None` for a file that is not a task document."""
    match = _DOCUMENT_NAME.fullmatch(name)
    if match is None or match["kind"] not in _KINDS:
        return None
    parsed = _KINDS[match["kind"]], int(match["number"])
    return parsed if document_name(*parsed) == name else None


D = TypeVar("D", bound=Document)
V = TypeVar("V", covariant=True)


class ReadableKind(Protocol[V]):
    """How documents of one kind are read: as a class of the table of stored documents, or as JSON objects."""

    @property
    def kind(self) -> Kind:
        """The kind of the documents."""

    def read(self, document: dict[str, Any]) -> V:
        """Read a JSON object. Raises `DoesNotFit`."""


@dataclass(frozen=True, slots=True)
class StoredKind(Generic[D]):
    """One kind of evidence document.

    `forms` are the classes of its documents; a document has the first form that it fits. `schema` is the number of its
    shape: it is raised if a field changes its meaning or goes. `core.run.task_steps` has the tasks that write it.
    """

    kind: Kind
    forms: tuple[type[D], ...]
    schema: int = 1

    def read(self, document: object) -> D:
        """Read a JSON object. Raises `DoesNotFit` if it fits no form; the text says why for each form."""
        reasons = []
        for form in self.forms:
            try:
                return form.from_document(document)
            except DoesNotFit as error:
                reasons.append(str(error) if len(self.forms) == 1 else f"as {form.__name__}: {error}")
        raise DoesNotFit("; ".join(reasons))

    def __str__(self) -> str:
        return str(self.kind)
