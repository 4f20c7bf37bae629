"""A run that only shows what a run would do: it reads clusters, host and ledger, and changes none of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from kafka_migration.adapters.store.document_files import rooted
from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.adapters.system.private_folder import private_folder
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.run_identity import RunIdentity, triggered_dag_id
from kafka_migration.core.run.run_window import RunWindow
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.steps.run.deployment import Deployment
from kafka_migration.steps.run.migration_run import MigrationRun


@contextmanager
def preview(name: str, params: Mapping[str, Any], deployment: Deployment) -> Iterator[MigrationRun]:
    """Yield a manual run of the current migration file; its documents are in a private folder, which is removed.

    Raises `Refused` if the file or the params are invalid.
    """
    text, _ = load_migration_file(deployment.migrations_folder / f"{name}.yaml")
    run = MigrationRun(
        name, RunIdentity(triggered_dag_id(name, Mode(params["mode"])), "preview", 1), params, deployment
    )
    run.run_window = RunWindow()
    # Raises if the params are invalid, before anything is opened.
    _ = run.request
    with private_folder() as folder:
        run.evidence = RunEvidence(rooted(folder), name, run.identity)
        run.evidence.freeze_migration(text)
        try:
            yield run
        finally:
            run.close()
