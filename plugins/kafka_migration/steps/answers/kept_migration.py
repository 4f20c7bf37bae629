"""A migration as its evidence root keeps it, for answers outside of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from kafka_migration.adapters.store.document_files import Folder, listed, naming
from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.adapters.store.ledger_store import LEDGER_FOLDER, Anchor, LedgerStore
from kafka_migration.adapters.store.run_status_store import (
    LAST_RUN_FILE,
    PROGRESS_FILE,
    SERIES_FILE,
    NewsStore,
    StopRequestStore,
)
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnreadable, Finding, Refused, StoreFailed
from kafka_migration.core.ledger.chain import Confirmation, writer_of
from kafka_migration.core.report.progress_series import ProgressSeries
from kafka_migration.core.report.run_status import LastRun, Progress, progress_of
from kafka_migration.core.run.run_identity import is_migration_name
from kafka_migration.core.text.shortened import some

FindAnchor = Callable[[str], Anchor | None]


def no_anchor(_: str) -> None:
    """Return that nothing outside the evidence root keeps the head of the ledger."""


@dataclass(frozen=True)
class MigrationStore:
    """The evidence of one migration; `find_anchor` returns what keeps the head of its ledger outside the root.

    `is_strict`: a ledger that its anchor does not confirm is refused. Entries up to the head are then read only as far
    as they are used, which takes far less time.
    """

    root: Folder
    name: str
    find_anchor: FindAnchor = no_anchor
    is_strict: bool = False

    @classmethod
    def open(cls, root: Folder, name: str, find_anchor: FindAnchor = no_anchor) -> MigrationStore:
        """Return the migration in an evidence root.

        Raises `Refused` (`MIGRATION_UNKNOWN`) if there is no evidence of this migration.
        """
        known = _names(root)
        if name not in known:
            raise Refused([_unknown(name, known, root)])
        return cls(root, name, find_anchor)

    @classmethod
    def find(cls, root: Folder, name: str, find_anchor: FindAnchor, *, is_strict: bool) -> MigrationStore | None:
        """Return the migration in an evidence root, without looking at the others; `None` without evidence of it."""
        return cls(root, name, find_anchor, is_strict) if _is_migration(root / name) else None

    @cached_property
    def ledger(self) -> LedgerStore:
        """The migration's ledger."""
        return LedgerStore(self.root, self.name, anchor=self.find_anchor(self.name) if self.is_strict else None)

    def confirmation(self) -> Confirmation:
        """Return which entries of the ledger are confirmed outside the root, if that can be asked."""
        return self.ledger.confirmation(self.find_anchor(self.name))

    @property
    def stop_requests(self) -> StopRequestStore:
        """The requests to stop mirroring."""
        return StopRequestStore(self.root, self.name)

    @property
    def news(self) -> NewsStore:
        """The progress of the active run, and the result of the last run."""
        return NewsStore(self.root, self.name)

    def last_run(self) -> LastRun | None:
        """Return the result of the last run; `None` if none has ended."""
        with naming(self.news.folder / LAST_RUN_FILE):
            document = self.news.last_run()
            return None if document is None else LastRun.from_document(document)

    def progress(self) -> Progress | None:
        """Return the latest progress of the active run; `None` if no run is active."""
        with naming(self.news.folder / PROGRESS_FILE):
            document = self.news.progress()
            progress = None if document is None else progress_of(document)
        return None if progress is None or progress.ended_at is not None else progress

    def series(self) -> ProgressSeries:
        """Return the course of the newest runs; empty if none has told any."""
        with naming(self.news.folder / SERIES_FILE):
            document = self.news.series()
            return ProgressSeries() if document is None else ProgressSeries.from_document(document)

    def evidence_of(self, holder: str) -> RunEvidence:
        """Return the evidence of the run with this holder name."""
        identity = writer_of(holder, f"ledger of {self.name}")
        return RunEvidence(self.root, self.name, identity, self.ledger.read().keeper_of(identity))


def all_migrations(root: Folder, find_anchor: FindAnchor = no_anchor) -> list[MigrationStore]:
    """Return all migrations in an evidence root, by name; raises `Refused` (`MIGRATION_UNKNOWN`) if there are none."""
    if not (names := _names(root)):
        raise Refused([_unknown("", names, root)])
    return [MigrationStore(root, name, find_anchor) for name in names]


def _names(root: Folder) -> list[str]:
    return sorted(
        name for name in listed(root, only_folders=True) if is_migration_name(name) and _is_migration(root / name)
    )


def _is_migration(folder: Folder) -> bool:
    """Return whether the folder holds a ledger, or the first attempt of a run; if it cannot be read, this shows it."""
    try:
        names = listed(folder, only_folders=True)
        return LEDGER_FOLDER in names or any("attempt-1" in listed(folder / run, only_folders=True) for run in names)
    except (EvidenceUnreadable, StoreFailed):
        return True


def _unknown(name: str, known: list[str], root: Folder) -> Finding:
    subject = f"migration {name}" if name else "migrations"
    there = f"{subject}; it has that of {some(known)}" if known else "any migration"
    return Finding(
        Code.MIGRATION_UNKNOWN,
        subject,
        f"no evidence in {root}",
        f"one of {', '.join(known)}" if known else "evidence of at least one run",
        "Correct the name, or pass the evidence root that Airflow writes to (--evidence-root, or AIRFLOW_HOME with "
        "Airflow's own configuration).",
        happened=f"The evidence root {root} has no evidence of {there}.",
        matters="Without evidence nothing is known about runs, so the command has no answer.",
    )
