"""The evidence store: documents of runs and the ledger, in a folder or an object store.

Layout below the root:

    <migration>/<run folder>/attempt-<n>/migration.yaml        the frozen migration file
    <migration>/<run folder>/attempt-<n>/NN-<kind>-<k>.json    what the tasks wrote
    <migration>/<run folder>/attempt-<n>/run.json, report.md   what `finish` made of them
    <migration>/ledger/<number>-<kind>.json                    what all runs add up to
    <migration>/stop-requests/<generation>.json                who asked a generation of MirrorMaker to end
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import EvidenceUnreadable, Finding, Refused
from kafka_migration.core.evidence import Kind, document_name, parse_document_name, run_folder_name
from kafka_migration.core.ledger import Ledger, with_entry
from kafka_migration.core.migration import RunIdentity
from kafka_migration.core.stop_request import StopRequest

MIGRATION_FILE = "migration.yaml"
LEDGER_FOLDER = "ledger"
STOP_REQUESTS_FOLDER = "stop-requests"


# `pathlib.Path` or Airflow's `ObjectStoragePath`: both have `/`, `exists`, `iterdir`, `read_text`, `write_text`.
Folder = Any


class RunEvidence:
    """The documents of one run, written into the folder of its present attempt."""

    def __init__(self, root: Folder, migration: str, run: RunIdentity) -> None:
        self._run_folder = root / migration / run_folder_name(run)
        self.attempt = run.attempt
        self.folder = self._run_folder / f"attempt-{run.attempt}"

    def freeze_migration(self, text: str) -> None:
        """Keep the migration file's text; every later task of the run reads only this copy."""
        write_whole(self.folder / MIGRATION_FILE, text)

    def frozen_migration(self) -> str:
        """Return the copy that this attempt, or the newest earlier one that has one, was started with.

        Raises `Refused` (`EVIDENCE_MISSING`) when no attempt has one.
        """
        for folder in self._attempt_folders():
            if is_there(folder / MIGRATION_FILE):
                return str((folder / MIGRATION_FILE).read_text(encoding="utf-8"))
        raise _missing(self.folder, "the frozen migration file", "preflight")

    def write(self, kind: Kind, document: Mapping[str, Any]) -> str:
        """Append one document and return its path."""
        path = self.new_path(kind)
        write_whole(path, to_json(document))
        return str(path)

    def new_path(self, kind: Kind) -> Any:
        """Return the path that the next document of this kind will have."""
        taken = [number for known, number in self._names(self.folder) if known is kind]
        return self.folder / document_name(kind, max(taken, default=0) + 1)

    def newest(self, kind: Kind) -> dict[str, Any] | None:
        """Return the newest document of a kind, of this attempt or else of the newest earlier one."""
        for folder in self._attempt_folders():
            numbers = [number for known, number in self._names(folder) if known is kind]
            if numbers:
                return read_json(folder / document_name(kind, max(numbers)))
        return None

    def require(self, kind: Kind) -> dict[str, Any]:
        """Return the newest document of a kind; `Refused` (`EVIDENCE_MISSING`) when there is none."""
        document = self.newest(kind)
        if document is None:
            raise _missing(self.folder, f"a document of kind {kind}", str(kind))
        return document

    def of_attempt(self, kind: Kind) -> list[dict[str, Any]]:
        """Return every document of a kind that this attempt wrote, oldest first."""
        numbers = sorted(number for known, number in self._names(self.folder) if known is kind)
        return [read_json(self.folder / document_name(kind, number)) for number in numbers]

    def of_run(self, kind: Kind) -> list[dict[str, Any]]:
        """Return every document of a kind that any attempt so far wrote, oldest first."""
        return [
            read_json(folder / document_name(kind, number))
            for folder in reversed(list(self._attempt_folders()))
            for number in sorted(number for known, number in self._names(folder) if known is kind)
        ]

    def publish(self, name: str, text: str) -> str:
        """Write (or replace) an assembled file such as `run.json`; return its path."""
        write_whole(self.folder / name, text)
        return str(self.folder / name)

    def _attempt_folders(self) -> Iterator[Any]:
        for attempt in range(self.attempt, 0, -1):
            folder = self._run_folder / f"attempt-{attempt}"
            if is_there(folder):
                yield folder

    @staticmethod
    def _names(folder: Any) -> list[tuple[Kind, int]]:
        parsed = (parse_document_name(name) for name in _listed(folder))
        return [name for name in parsed if name is not None]


class LedgerStore:
    """The ledger of one migration. Only the run that holds the reservation appends."""

    def __init__(self, root: Folder, migration: str) -> None:
        self.folder = root / migration / LEDGER_FOLDER

    def read(self) -> Ledger:
        """Return the ledger; one without entries is that of a new migration."""
        ledger = Ledger()
        for name in self._names():
            with _naming(self.folder / name):
                ledger = with_entry(ledger, read_json(self.folder / name))
        return ledger

    def append(self, entry: Mapping[str, Any]) -> None:
        """Append one entry."""
        number = len(self._names()) + 1
        write_whole(self.folder / f"{number:06}-{entry['kind']}.json", to_json(entry))

    def _names(self) -> list[str]:
        return sorted(name for name in _listed(self.folder) if name.endswith(".json"))


class StopRequestStore:
    """The requests to end mirroring, at most one per generation. Anybody who can write here may ask."""

    def __init__(self, root: Folder, migration: str) -> None:
        self.folder = root / migration / STOP_REQUESTS_FOLDER

    def request(self, request: StopRequest) -> StopRequest:
        """Write the request, unless its generation was asked before; return the one that stands."""
        standing = self.find(request.generation)
        if standing is None:
            write_whole(self._path(request.generation), to_json(request.to_document()))
        return standing or request

    def find(self, generation: int) -> StopRequest | None:
        """Return the request to this generation, `None` when there is none; raises what the store raises."""
        try:
            with _naming(self._path(generation)):
                return StopRequest.from_document(read_json(self._path(generation)))
        except FileNotFoundError:
            return None

    def _path(self, generation: int) -> Any:
        return self.folder / f"{generation}.json"


def _listed(folder: Folder) -> list[str]:
    """Return the names in a folder as they are now; none where there is no folder."""
    return [path.name for path in folder.iterdir()] if is_there(folder) else []


def is_there(path: Any) -> bool:
    """Tell whether there is a document or a folder at a path now, whoever wrote it."""
    if (file_system := getattr(path, "fs", None)) is not None:
        # A storage client may remember a listing for as long as its process lives; other processes write meanwhile.
        file_system.invalidate_cache()
    return bool(path.exists())


def to_json(document: Mapping[str, Any]) -> str:
    """Return the document as indented JSON."""
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def read_json(path: Any) -> dict[str, Any]:
    """Return the JSON document at a path; raises `EvidenceUnreadable` where there is something else."""
    with _naming(path):
        document = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(document, dict):
            raise TypeError(f"a JSON object was expected, not {type(document).__name__}")
        return document


@contextmanager
def _naming(path: Any) -> Iterator[None]:
    """Name the document in every error that its content makes."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise EvidenceUnreadable(
            f"{path} cannot be understood ({reason}); was it written by another version?"
        ) from None


def write_whole(path: Any, text: str) -> None:
    """Write a document so that nobody ever reads half of it.

    Locally it is written beside and renamed; an object store's put is whole by itself.
    """
    if getattr(path, "protocol", "file") not in {"file", "local", ""}:
        path.write_text(text, encoding="utf-8")
        return
    local = Path(getattr(path, "path", path))
    local.parent.mkdir(parents=True, exist_ok=True)
    beside, content = local.with_name(f".{local.name}.{uuid.uuid4().hex}"), text.encode()
    beside.write_bytes(content)
    Path(beside).replace(local)


def _missing(folder: Any, what: str, task: str) -> Refused:
    finding = Finding(
        Code.EVIDENCE_MISSING,
        str(folder),
        f"no {what.removeprefix('a ')}",
        f"{what}, written by the step {task} of this run",
        f"Clear the run from {task} on, or trigger a new run.",
    )
    return Refused([finding])
