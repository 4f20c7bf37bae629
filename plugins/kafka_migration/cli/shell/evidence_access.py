"""Access of the command line to the evidence root and to the migrations in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from kafka_migration.adapters.store.document_files import listed_folders, rooted
from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.adapters.store.ledger_store import LEDGER_FOLDER, LedgerStore
from kafka_migration.adapters.store.run_status_store import NewsStore
from kafka_migration.adapters.store.stop_requests import StopRequestStore
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnreadable, Finding, Refused, StoreFailed
from kafka_migration.core.ledger.chain import Confirmation, writer_of
from kafka_migration.core.run.run_identity import is_migration_name


@dataclass(frozen=True)
class MigrationStore:
    """The evidence of one migration; `has_airflow` if the root is that of this Airflow's configuration."""

    root: Any
    name: str
    has_airflow: bool = False

    @classmethod
    def open(cls, place: str | None, name: str) -> MigrationStore:
        """Return the migration in an evidence root; `None` means the root in Airflow's configuration.

        Raises `Refused` (`MIGRATION_UNKNOWN`) if there is no evidence of this migration.
        """
        root = evidence_root(place)
        known = _names(root)
        if name not in known:
            raise Refused([_unknown(name, known, root)])
        return cls(root, name, place is None)

    @cached_property
    def ledger(self) -> LedgerStore:
        """The migration's ledger."""
        return LedgerStore(self.root, self.name)

    def confirmation(self) -> Confirmation:
        """Return which entries of the ledger this Airflow confirms, if its database can be asked."""
        if not self.has_airflow:
            return self.ledger.confirmation(None)
        from kafka_migration.airflow_adapters.ledger_anchor import stored_anchor

        return self.ledger.confirmation(stored_anchor(self.name))

    @property
    def stop_requests(self) -> StopRequestStore:
        """The requests to stop mirroring."""
        return StopRequestStore(self.root, self.name)

    @property
    def news(self) -> NewsStore:
        """The progress of the active run, and the result of the last run."""
        return NewsStore(self.root, self.name)

    def evidence_of(self, holder: str) -> RunEvidence:
        """Return the evidence of the run with this holder name."""
        identity = writer_of(holder, f"ledger of {self.name}")
        return RunEvidence(self.root, self.name, identity, self.ledger.read().keeper_of(identity))


def all_migrations(place: str | None) -> list[MigrationStore]:
    """Return all migrations in an evidence root, by name; raises `Refused` (`MIGRATION_UNKNOWN`) if there are none."""
    root = evidence_root(place)
    if not (names := _names(root)):
        raise Refused([_unknown("", names, root)])
    return [MigrationStore(root, name, place is None) for name in names]


def evidence_root(place: str | None) -> Any:
    """Return the evidence root at a path or URL, or the one in Airflow's configuration."""
    if place is not None and "://" not in place:
        return rooted(Path(place))
    # Airflow takes seconds to import; a plain folder does not need it.
    from kafka_migration.airflow_adapters import airflow_settings as settings

    return settings.evidence_root() if place is None else settings.folder_at(place)


def _names(root: Any) -> list[str]:
    return sorted(name for name in listed_folders(root) if is_migration_name(name) and _is_migration(root / name))


def _is_migration(folder: Any) -> bool:
    """Return whether the folder holds a ledger, or the first attempt of a run; if it cannot be read, this shows it."""
    try:
        names = listed_folders(folder)
        return LEDGER_FOLDER in names or any("attempt-1" in listed_folders(folder / run) for run in names)
    except (EvidenceUnreadable, StoreFailed):
        return True


def _unknown(name: str, known: list[str], root: Any) -> Finding:
    return Finding(
        Code.MIGRATION_UNKNOWN,
        f"migration {name}" if name else "migrations",
        f"no evidence in {root}",
        f"one of {', '.join(known)}" if known else "evidence of at least one run",
        "Correct the name, or pass the evidence root that Airflow writes to (--evidence-root, or AIRFLOW_HOME with "
        "Airflow's own configuration).",
    )
