"""Compares what a copy depends on with earlier runs, before anything else is compared, and records it."""

from __future__ import annotations

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.ledger.copy_basis import ClusterSeen, CopyBasis, changed_clusters, changed_settings
from kafka_migration.steps.run.migration_run import MigrationRun


def changes_of_basis(run: MigrationRun, source: ClusterSeen, target: ClusterSeen) -> tuple[Finding, ...]:
    """Return what changed since earlier runs of that on which the copy of this run depends."""
    migration, known = run.filed_migration, run.ledger.known().basis
    return (*changed_settings(known, migration), *changed_clusters(known, migration, source, target))


def require_same_basis(run: MigrationRun) -> CopyBasis:
    """Return what the copy of this run depends on.

    Raises `Refused` if it changed since earlier runs, and `TransientError` if a cluster does not answer.
    """
    source, target = ClusterSeen.of(run.source.facts()), ClusterSeen.of(run.target.facts())
    if changed := changes_of_basis(run, source, target):
        raise Refused(changed)
    return CopyBasis.of(run.identity.holder, run.now(), run.filed_migration, source, target)


def record_basis(run: MigrationRun, basis: CopyBasis) -> None:
    """Record in the ledger what the copy depends on, right before the target is changed, if the ledger lacks it."""
    if basis.adds_to(run.ledger.known().basis):
        run.ledger.append(basis.to_document())
