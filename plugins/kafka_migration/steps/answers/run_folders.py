"""The folders of a migration's runs, found by the ids of the runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kafka_migration.adapters.store.document_files import Folder, listed, naming, parse_json, read_whole
from kafka_migration.adapters.store.evidence_store import RUN_FILE
from kafka_migration.core.evidence.digests import digest_of
from kafka_migration.core.evidence.evidence_documents import (
    attempt_folder_name,
    attempt_of,
    run_folder_name,
    safe_run_id,
)
from kafka_migration.core.evidence.verification import FoundFile
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnreadable, Finding, Refused
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.run.run_identity import DAG_PREFIXES, RunIdentity, migration_of
from kafka_migration.core.run.run_names import short_names
from kafka_migration.core.text.shortened import some
from kafka_migration.steps.answers.kept_migration import MigrationStore

_FOLDER = re.compile(r"(?P<run>.+)-[0-9a-f]{16}", re.DOTALL)
# The begin of the ids that Airflow gives, as folders have them.
_GIVEN = re.compile(r"(?P<day>[a-z_]{1,30}__[0-9]{4}-[0-9]{2}-[0-9]{2}T)(?P<time>[0-9]{2}_[0-9]{2}_[0-9]{2})", re.ASCII)
_SHOWN = re.compile(r"(?P<name>.+), attempt (?P<attempt>[1-9][0-9]{0,8})", re.DOTALL | re.ASCII)
# What stands for a part of a run id that is not shown.
_CUT = "…"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The evidence of one run; `dag_id` and `run_id` are empty if the folder was found without them.

    `asked` is the attempt that was asked for; `None`: the newest one.
    """

    folder: Folder
    migration: str
    dag_id: str = ""
    run_id: str = ""
    asked: int | None = None

    @property
    def name(self) -> str:
        """The run as a person knows it."""
        return f"{self.dag_id}/{self.run_id}" if self.run_id else str(self.folder.name)

    def attempts(self) -> list[int]:
        """Return the attempts with a folder, in order."""
        return sorted(filter(None, map(attempt_of, listed(self.folder, only_folders=True))))

    def attempt_folder(self, attempt: int) -> Folder:
        """Return the folder of an attempt."""
        return self.folder / attempt_folder_name(attempt)

    def has(self, file: str, attempt: int) -> bool:
        """Return whether anything in an attempt's folder has this name."""
        return file in listed(self.attempt_folder(attempt))

    def reported(self) -> int | None:
        """Return the attempt with the run's report: that which was asked for, or the newest; `None`: there is none."""
        attempts = reversed(self.attempts()) if self.asked is None else [self.asked]
        return next((attempt for attempt in attempts if self.has(RUN_FILE, attempt)), None)

    def found(self, attempt: int) -> dict[str, FoundFile]:
        """Return the files of an attempt by `attempt-<n>/<file>`; a hidden one is what a killed writer left."""
        folder = self.attempt_folder(attempt)
        try:
            files = [file for file in listed(folder) if not file.startswith(".")]
        except EvidenceUnreadable as error:
            return {folder.name: FoundFile(problem=error.findings[0].found)}
        return {f"{folder.name}/{file}": _found(folder / file) for file in files}

    def result(self, attempt: int) -> RunResult:
        """Return `run.json` of an attempt; one that is not of this attempt of this run counts as unreadable."""
        path = self.attempt_folder(attempt) / RUN_FILE
        file = FoundFile()
        try:
            content = read_whole(path)
            file = FoundFile(len(content), digest_of(content))
            with naming(path):
                document = RunDocument.from_document(parse_json(content, path))
                self._require_own(document, attempt)
            return RunResult(file, document)
        except EvidenceUnreadable as error:
            return RunResult(file if file.digest else FoundFile(problem=error.findings[0].found), problem=error)

    def _require_own(self, document: RunDocument, attempt: int) -> None:
        identity = RunIdentity(document.dag_id, document.run_id, document.attempt)
        is_own = run_folder_name(identity) == self.folder.name and document.migration == self.migration
        if not is_own or identity.attempt != attempt:
            raise ValueError(f"it is the result of {identity} of migration {document.migration}")


@dataclass(frozen=True, slots=True)
class RunResult:
    """The file `run.json` of an attempt with its content, or why it cannot be read."""

    file: FoundFile
    document: RunDocument | None = None
    problem: EvidenceUnreadable | None = None


def _found(path: Folder) -> FoundFile:
    try:
        content = read_whole(path)
    except EvidenceUnreadable as error:
        return FoundFile(problem=error.findings[0].found)
    return FoundFile(len(content), digest_of(content))


def run_folder(store: MigrationStore, text: str | None) -> RunFolder:
    """Return the folder of a run; `None` means the run that ended last.

    `text` is `dag/run#attempt`, `dag/run`, a run id, the name of the run's folder, its short name
    (`core.run.run_names`), or a part of a run id that no other run has; `…` stands for what is left out. Raises
    `Refused` (`RUN_UNKNOWN`) for a run that is not there, and for several.
    """
    return _newest(store) if text is None else _given(store, text) or _part(store, text)


def _newest(store: MigrationStore) -> RunFolder:
    """Return the run that ended last; where nothing says which one, the newest of those with a report."""
    last = store.last_run()
    if last and (identity := RunIdentity.from_holder(last.run)):
        return _of(store, identity)
    folders = (RunFolder(store.root / store.name / name, store.name) for name in _names(store))
    found = next((folder for folder in folders if folder.reported() is not None), None)
    if found is None:
        raise Refused([_none_ended(store)])
    return found


def _of(store: MigrationStore, run: RunIdentity, attempt: int | None = None) -> RunFolder:
    return RunFolder(store.root / store.name / run_folder_name(run), store.name, run.dag_id, run.run_id, attempt)


def _given(store: MigrationStore, text: str) -> RunFolder | None:
    """Return the run of a DAG of this migration, also if its folder was deleted; `None` for a text without a DAG."""
    attempt, run = RunIdentity.from_holder(text), RunIdentity.from_holder(f"{text}#1")
    if attempt and _is_here(store, attempt):
        return _of(store, attempt, attempt.attempt)
    return _of(store, run) if run and _is_here(store, run) else None


def _is_here(store: MigrationStore, run: RunIdentity) -> bool:
    return migration_of(run.dag_id) == store.name or run_folder_name(run) in _names(store)


def _part(store: MigrationStore, text: str) -> RunFolder:
    """Return the only run with this id, or else with this short name, or else with this part of an id."""
    stems = {name: match["run"] for name in _names(store) if (match := _FOLDER.fullmatch(name))}
    short, attempt = _shown_name(text)
    ways: tuple[Callable[[str, str], bool], ...] = (
        lambda name, stem: text == name or stem == safe_run_id(text),
        lambda _, stem: short in short_names(_id_like(stem)),
        lambda _, stem: _has_parts(stem, text.split(_CUT)),
    )
    found = next(filter(None, ([name for name in stems if way(name, stems[name])] for way in ways)), [])
    if len(found) != 1:
        raise Refused([_not_one(store, text, found, [*stems.values()])])
    runs = (RunIdentity(f"{prefix}{store.name}", text, 1) for prefix in DAG_PREFIXES)
    run = next((run for run in runs if run_folder_name(run) == found[0]), None)
    return _of(store, run) if run else RunFolder(store.root / store.name / found[0], store.name, asked=attempt)


def _shown_name(text: str) -> tuple[str, int | None]:
    """Return the short name of a run (`core.run.run_names`) and its attempt, if the text has one."""
    found = _SHOWN.fullmatch(text)
    return (found["name"], int(found["attempt"])) if found else (text, None)


def _id_like(stem: str) -> str:
    """Return the type and the moment of the run id in the name of a folder, which has no colons."""
    found = _GIVEN.match(stem)
    return f"{found['day']}{found['time'].replace('_', ':')}" if found else stem


def _has_parts(stem: str, parts: Sequence[str]) -> bool:
    """Return whether the parts of a run id are in the name of its folder, one after the other."""
    place = 0
    for part in map(safe_run_id, parts):
        found = stem.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return True


def _names(store: MigrationStore) -> list[str]:
    """Return the folders of the runs, those with the newest times in their ids first."""
    names = [name for name in listed(store.root / store.name, only_folders=True) if _FOLDER.fullmatch(name)]
    return sorted(names, key=lambda name: name.partition("__")[2], reverse=True)


def _not_one(store: MigrationStore, text: str, found: Sequence[str], known: Sequence[str]) -> Finding:
    several = f"several runs with {text}: {some(found)}" if found else f"no run {text}"
    runs = some(known) if known else "none"
    return Finding(
        Code.RUN_UNKNOWN,
        f"run {text} of migration {store.name}",
        several,
        "the id or the short name of one run",
        f"Name the run as `status` shows it, such as DAG/RUN. The newest runs by their ids are: {runs}.",
        happened=f"The evidence of migration {store.name} has {several}.",
        matters="A report belongs to one run, so nothing is shown.",
    )


def _none_ended(store: MigrationStore) -> Finding:
    return Finding(
        Code.REPORT_MISSING,
        f"migration {store.name}",
        "no run with a report",
        "a run that has ended",
        "Wait until a run has ended: its task `finish` writes the report.",
        happened=f"No run of migration {store.name} has a report in {store.root / store.name}.",
        matters="A report says how a run ended, so there is nothing to show.",
    )


def no_report(run: RunFolder) -> Finding:
    """Return the finding for a run without a report in its folder."""
    return Finding(
        Code.REPORT_MISSING,
        f"run {run.name}",
        f"no {RUN_FILE} in {run.folder}",
        f"the {RUN_FILE} that the task `finish` writes",
        "If the run is active, wait until it has ended. Otherwise read the log of its task `finish`.",
        happened=f"Run {run.name} has no {RUN_FILE} in {run.folder}.",
        matters="A report is made of this file, so nothing is shown. The run has not ended, the evidence store did not "
        "take the file, or it was deleted.",
    )
