"""The documents of a run in the evidence store, checked against the digests that Airflow keeps.

Layout below the root:

    <migration>/<run folder>/attempt-<n>/migration.yaml        the frozen migration file
    <migration>/<run folder>/attempt-<n>/NN-<kind>-<k>.json    documents of the tasks
    <migration>/<run folder>/attempt-<n>/run.json, report.*    the results that `finish` wrote
    <migration>/<run folder>/claims/<try>-<k>.json             which process makes a try (`try_claims.py`)
    <migration>/ledger/<number>.json                           the ledger of all runs
    <migration>/stop-requests/<generation>.json                requests to stop a generation of MirrorMaker
    <migration>/progress.json, last-run.json                   progress of the active run, result of the last run
    <migration>/progress-series.json                           the course of the newest runs
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from kafka_migration.adapters.store.document_files import (
    Folder,
    listed,
    naming,
    parse_json,
    read_whole,
    removed,
    to_json,
    unfit,
    write_whole,
)
from kafka_migration.core.documents.codec import DoesNotFit
from kafka_migration.core.documents.codec import written as json_form
from kafka_migration.core.evidence.digests import (
    ANNOUNCED,
    Keeper,
    change_of,
    changed_finding,
    digest_of,
    is_sole,
    written,
)
from kafka_migration.core.evidence.evidence_documents import (
    Kind,
    ReadableKind,
    attempt_folder_name,
    document_name,
    parse_document_name,
    run_folder_name,
)
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnreadable, Finding, Refused
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.spark.letter_forms import is_letter

MIGRATION_FILE = "migration.yaml"
RUN_FILE = "run.json"
# Another task of the run may be writing. Its digest is kept at the latest this long after its document appears.
_LOOK_AGAIN_AFTER_S = (0, 1, 2)
# More documents than the tasks of a run write; and of how many each is named.
_MOST_LEFT, _MOST_NAMED = 1_000, 20
_NO_DOCUMENT = b"\0"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class New:
    """A document that is to be written: its kind, and its text."""

    kind: Kind
    text: str

    @classmethod
    def of(cls, kind: ReadableKind[T], document: T) -> New:
        """Return a document as the evidence store writes it."""
        return cls(kind.kind, to_json(json_form(document)))


class RunEvidence:
    """The documents of one run, written to the folder of its current attempt.

    With a keeper, only unchanged documents of the run's tasks are read; anything else raises `Refused`
    (`EVIDENCE_CHANGED`). Without a keeper, documents are read unchecked: use them only to show them.

    Readers and writers take a row of `core.stored.stored_documents.Stored` and give or take values of its classes. With
    a bare `Kind` they give or take the JSON object: only `run.json`, which has documents as they are, needs it.
    """

    def __init__(self, root: Folder, migration: str, run: RunIdentity, keeper: Keeper | None = None) -> None:
        self._run_folder = root / migration / run_folder_name(run)
        self.attempt = run.attempt
        self.folder = self._run_folder / attempt_folder_name(run.attempt)
        self._keeper = keeper
        # Documents whose digest was compared, by name. Each is read once in the lifetime of this object.
        self._checked: dict[str, tuple[str, bytes]] = {}
        # What was found instead of a document, by name.
        self._others: dict[str, str] = {}
        # Whether a changed document counts as missing, for tasks that must always do their work.
        self.leaves_out_changed = False

    def freeze_migration(self, text: str) -> None:
        """Keep the migration file's text; every later task of the run reads only this copy."""
        name = self._name(MIGRATION_FILE)
        if self._keeper is not None:
            self._keeper.keep_migration(text, {name: ANNOUNCED})
        self._write_announced({name: text})

    def frozen_migration(self) -> str:
        """Return the frozen migration file of this attempt, or else of the newest earlier attempt with one.

        Raises `Refused` (`EVIDENCE_MISSING`) if no attempt has one.
        """
        for attempt in range(self.attempt, 0, -1):
            name = self._name(MIGRATION_FILE, attempt)
            if self._keeper is not None and (digest := self._digests().get(name)):
                return self._as_frozen(name, digest).decode()
            if self._keeper is None and (content := self._content(name)) is not None:
                with naming(self._run_folder / name):
                    return content.decode()
        raise _missing(self.folder, "a frozen migration file", "preflight")

    def _as_frozen(self, name: str, digest: str) -> bytes:
        """Return the frozen file that Airflow keeps, or else the copy in the folder if it is unchanged."""
        kept = self._keeper.kept().migration if self._keeper else None
        found = self._as_checked(name, digest)
        for content in (kept and kept.encode(), found):
            if content and not change_of(digest, content) and (self.leaves_out_changed or is_sole(digest)):
                return content
        change = self._change_of(name, digest, found) or "two files under one name"
        raise Refused([changed_finding(name, change, digest)])

    def write(self, kind: ReadableKind[T], document: T) -> str:
        """Append one document and return its path."""
        new = New.of(kind, document)
        path = self.new_path(new.kind)
        self._write_all({self._name(path.name): new.text})
        return str(path)

    def write_together(self, *documents: New) -> None:
        """Append documents of different kinds, which are announced together, and whose digests are kept together."""
        self._write_all({self._name(self.new_path(new.kind).name): new.text for new in documents})

    def new_path(self, kind: Kind) -> Any:
        """Return the path that the next document of this kind will have."""
        files = [*(self._files() or ()), *(name.rpartition("/")[2] for name in self._digests_of(self.attempt))]
        taken = [parsed[1] for file in files if (parsed := parse_document_name(file)) and parsed[0] is kind]
        return self.folder / document_name(kind, max(taken, default=0) + 1)

    def announced_path(self, kind: ReadableKind[T]) -> Any:
        """Return a path for a document that another program will write; it becomes valid when it is `taken`."""
        path = self.new_path(kind.kind)
        self._keep({self._name(path.name): ANNOUNCED})
        return path

    def taken(self, kind: ReadableKind[T], path: Any) -> T:
        """Return the document that another program wrote to an announced path, and keep its digest."""
        content = read_whole(path)
        self._keep({self._name(path.name): digest_of(content)})
        return _parsed(kind, content, path)

    def newest(self, kind: ReadableKind[T]) -> T | None:
        """Return the newest document of a kind, of this attempt or else of the newest earlier one.

        Raises `EvidenceUnreadable` for a document that does not have the form of its kind, as all readers do.
        """
        for attempt in range(self.attempt, 0, -1):
            for name in reversed(self._names(kind.kind, attempt)):
                if (document := self._read(kind, name)) is not None:
                    return document
        return None

    def has_written(self, kind: Kind) -> bool:
        """Return whether any attempt so far wrote a document of a kind, even if it was deleted since."""
        return any(self._names(kind, attempt) for attempt in range(1, self.attempt + 1))

    def require(self, kind: ReadableKind[T]) -> T:
        """Return the newest document of a kind; raises `Refused` (`EVIDENCE_MISSING`) if there is none."""
        document = self.newest(kind)
        if document is None:
            raise _missing(self.folder, f"a document of kind {kind}", str(kind))
        return document

    def of_attempt(self, kind: ReadableKind[T]) -> list[T]:
        """Return every document of a kind that this attempt wrote, oldest first."""
        return self._of(kind, range(self.attempt, self.attempt + 1))

    def of_run(self, kind: ReadableKind[T]) -> list[T]:
        """Return every document of a kind that any attempt so far wrote, oldest first."""
        return self._of(kind, range(1, self.attempt + 1))

    def publish(self, files: Mapping[str, str]) -> None:
        """Write (or replace) assembled files, such as `run.json`, by name.

        Their digests are kept for those who show them, also if a later file cannot be written. No task reads them, so a
        changed one is no change of the evidence.
        """
        self._write_all({self._name(name): text for name, text in files.items()})

    def digests_of(self, *kinds: Kind) -> dict[str, str]:
        """Return the digests that Airflow keeps of the frozen files and of all documents of some kinds."""

        def is_wanted(file: str) -> bool:
            return file == MIGRATION_FILE or _kind_of(file) in kinds

        digests = written(self._digests())
        return {name: digest for name, digest in digests.items() if is_wanted(name.rpartition("/")[2])}

    def digests_with(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return the digests that Airflow keeps of the run's files, and those of files that are about to be written.

        A file that was announced only has an empty digest. `run.json`, which gets them, is left out.
        """
        new = {self._name(file): digest_of(text.encode()) for file, text in texts.items()}
        return {name: digest for name, digest in {**self._digests(), **new}.items() if name != self.result_name}

    @property
    def result_name(self) -> str:
        """The name of this attempt's `run.json`, as digests have it."""
        return self._name(RUN_FILE)

    def look_again(self) -> None:
        """Read the digests of the other tasks of the run again."""
        if self._keeper is not None:
            self._keeper.look_again()

    def changes(self) -> tuple[Finding, ...]:
        """Return one finding per document of the run that was changed, deleted or added."""
        if self._keeper is None:
            return ()
        found = tuple(self._changes())
        for pause_s in _LOOK_AGAIN_AFTER_S:
            if not found:
                break
            time.sleep(pause_s)
            self.look_again()
            found = tuple(self._changes())
        return found

    def remove_letters(self) -> None:
        """Remove the letters of Spark jobs of the run, which are no documents. Raises `FindingsError` like a read."""
        for attempt in range(1, self.attempt + 1):
            folder = self._run_folder / attempt_folder_name(attempt)
            for name in filter(is_letter, listed(folder)):
                removed(folder / name)

    def disown_strangers(self) -> None:
        """Ignore documents that were in this attempt's folder before its first task; an earlier run left them.

        Raises `Refused` (`EVIDENCE_CHANGED`) if there are more than a run leaves.
        """
        strangers = self._strangers(self._files())
        if len(strangers) > _MOST_LEFT:
            raise Refused([changed_finding(self.folder.name, f"{len(strangers):,} documents of no task", None)])
        self._keep(dict.fromkeys(strangers, ANNOUNCED))

    def _changes(self) -> Iterator[Finding]:
        files = self._files()
        if files is None:
            yield changed_finding(self.folder.name, "a link or a file instead of the folder", None)
        for name, digest in sorted(self._digests().items()):
            # No task reads a document that was only announced, so it is not opened.
            if digest == ANNOUNCED or not _is_of_tasks(name.rpartition("/")[2]):
                continue
            content = self._content(name)
            if found := self._change_of(name, digest, content):
                yield changed_finding(name, found, digest)
            elif content is not None:
                self._checked[name] = (digest, content)
        strangers = self._strangers(files)
        for name in strangers[:_MOST_NAMED]:
            yield changed_finding(name, change_of(None, None), None)
        if more := len(strangers[_MOST_NAMED:]):
            yield changed_finding(self.folder.name, f"{more:,} more documents of no task", None)

    def _strangers(self, files: Iterable[str] | None) -> list[str]:
        """Return the documents, of the files in this attempt's folder, that no task of the run has announced."""
        announced = self._digests()
        return [n for file in sorted(files or ()) if _is_of_tasks(file) and (n := self._name(file)) not in announced]

    def _files(self) -> list[str] | None:
        """Return the names in this attempt's folder; `None` if it is a link or a file, so that nothing is written."""
        try:
            return listed(self.folder)
        except EvidenceUnreadable:
            return None

    def _change_of(self, name: str, digest: str | None, content: bytes | None) -> str:
        found = change_of(digest, content)
        return self._others.get(name, found) if found and content == _NO_DOCUMENT else found

    def _of(self, kind: ReadableKind[T], attempts: range) -> list[T]:
        read = (self._read(kind, name) for attempt in attempts for name in self._names(kind.kind, attempt))
        return [document for document in read if document is not None]

    def _names(self, kind: Kind, attempt: int) -> list[str]:
        """Return the documents of a kind that an attempt wrote, oldest first."""
        if self._keeper is None:
            files = listed(self._run_folder / attempt_folder_name(attempt))
        else:
            files = [name.rpartition("/")[2] for name in written(self._digests_of(attempt))]
        parsed = (parse_document_name(file) for file in files)
        numbers = sorted(each[1] for each in parsed if each and each[0] is kind)
        return [self._name(document_name(kind, number), attempt) for number in numbers]

    def _read(self, kind: ReadableKind[T], name: str) -> T | None:
        """Return a document; `None` for a changed one if changed documents are ignored."""
        digest = self._digests().get(name)
        content = self._as_checked(name, digest)
        if self._keeper is not None and (found := self._change_of(name, digest, content)):
            if self.leaves_out_changed:
                return None
            raise Refused([changed_finding(name, found, digest)])
        return None if content is None else _parsed(kind, content, self._run_folder / name)

    def _as_checked(self, name: str, digest: str | None) -> bytes | None:
        """Return a document as it was when it was compared with this digest; read it if it was not."""
        compared = self._checked.get(name)
        return compared[1] if compared and compared[0] == digest else self._content(name)

    def _content(self, name: str) -> bytes | None:
        try:
            return read_whole(self._run_folder / name)
        except FileNotFoundError:
            return None
        except EvidenceUnreadable as error:
            # A local link counts as a changed document. So does a file in the place of a folder.
            if self._keeper is None:
                raise
            self._others[name] = error.findings[0].found
            return _NO_DOCUMENT

    def _write_all(self, texts: Mapping[str, str]) -> None:
        """Write documents, whose names are announced together, and whose digests are kept together."""
        self._keep(dict.fromkeys(texts, ANNOUNCED))
        self._write_announced(texts)

    def _write_announced(self, texts: Mapping[str, str]) -> None:
        digests: dict[str, str] = {}
        try:
            for name, text in texts.items():
                write_whole(self._run_folder / name, text)
                digests[name] = digest_of(text.encode())
        finally:
            self._keep(digests)

    def _keep(self, digests: Mapping[str, str]) -> None:
        if self._keeper is not None and digests:
            self._keeper.keep(digests)

    def _digests(self) -> Mapping[str, str]:
        return self._keeper.kept().digests if self._keeper is not None else {}

    def _digests_of(self, attempt: int) -> dict[str, str]:
        prefix = self._name("", attempt)
        return {name: digest for name, digest in self._digests().items() if name.startswith(prefix)}

    def _name(self, file: str, attempt: int | None = None) -> str:
        return f"{attempt_folder_name(attempt or self.attempt)}/{file}"


def _parsed(kind: ReadableKind[T], content: bytes, path: Any) -> T:
    try:
        return kind.read(parse_json(content, path))
    except DoesNotFit as error:
        raise unfit(path, error) from None


def _is_of_tasks(file: str) -> bool:
    return file == MIGRATION_FILE or parse_document_name(file) is not None


def _kind_of(file: str) -> Kind | None:
    parsed = parse_document_name(file)
    return parsed[0] if parsed else None


def _missing(folder: Any, what: str, task: str) -> Refused:
    finding = Finding(
        Code.EVIDENCE_MISSING,
        str(folder),
        f"no {what.removeprefix('a ')}",
        f"{what}, written by the step {task} of this run",
        f"Clear the task {task} with its downstream tasks, or trigger a new run.",
        happened=f"The folder {folder} lacks {what}, which the task {task} of this run writes.",
        matters=f"Without it this task would have to guess what {task} found, so it did nothing.",
    )
    return Refused([finding])
