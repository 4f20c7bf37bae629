"""Access of the command line to the evidence root and to the migrations in it."""

from __future__ import annotations

from pathlib import Path

from kafka_migration.adapters.store.document_files import Folder, rooted
from kafka_migration.adapters.store.ledger_store import Anchor
from kafka_migration.cli.shell.airflow_access import loading_airflow
from kafka_migration.cli.shell.progress_line import working
from kafka_migration.steps.answers.kept_migration import MigrationStore, all_migrations, no_anchor


def opened(place: str | None, name: str) -> MigrationStore:
    """Return the migration in an evidence root; `None` means the root in Airflow's configuration."""
    root = evidence_root(place)
    working("Reading the evidence")
    return MigrationStore.open(root, name, _stored_anchor if place is None else no_anchor)


def all_opened(place: str | None) -> list[MigrationStore]:
    """Return all migrations in an evidence root, by name; raises `Refused` (`MIGRATION_UNKNOWN`) if there are none."""
    root = evidence_root(place)
    working("Reading the evidence")
    return all_migrations(root, _stored_anchor if place is None else no_anchor)


def _stored_anchor(name: str) -> Anchor | None:
    """Return what this Airflow keeps of a ledger; it knows only those below its configured evidence root."""
    from kafka_migration.airflow_adapters.ledger_anchor import stored_anchor

    return stored_anchor(name)


def evidence_root(place: str | None) -> Folder:
    """Return the evidence root at a path or URL, or the one in Airflow's configuration."""
    if place is not None and "://" not in place:
        return rooted(Path(place))
    loading_airflow()
    # Airflow takes seconds to import; a plain folder does not need it.
    from kafka_migration.airflow_adapters import airflow_settings as settings

    return settings.evidence_root() if place is None else settings.folder_at(place)
