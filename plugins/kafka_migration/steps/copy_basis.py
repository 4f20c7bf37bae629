"""Compares what a copy depends on with earlier runs, before anything else is compared, and records it."""

from __future__ import annotations

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.ledger.copy_basis import ClusterSeen, CopyBasis, changed_clusters, changed_settings
from kafka_migration.steps.run import MigrationRun


def present_basis(run: MigrationRun) -> tuple[CopyBasis, tuple[Finding, ...]]:
    """Return what the copy of this run depends on, and what of it changed since earlier runs.

    Raises `TransientError` if a cluster does not answer.
    """
    migration, known = run.filed_migration, run.ledger.known().basis
    source, target = ClusterSeen.of(run.source.facts()), ClusterSeen.of(run.target.facts())
    changed = (*changed_settings(known, migration), *changed_clusters(known, migration, source, target))
    return CopyBasis.of(run.identity.holder, run.now(), migration, source, target), changed


def require_same_basis(run: MigrationRun) -> CopyBasis:
    """Return what the copy of this run depends on; raises `Refused` if it changed since earlier runs."""
    basis, changed = present_basis(run)
    if changed:
        raise Refused(changed)
    return basis


def record_basis(run: MigrationRun, basis: CopyBasis) -> None:
    """Record in the ledger what the copy depends on, right before the target is changed, if the ledger lacks it."""
    if basis.adds_to(run.ledger.known().basis):
        run.ledger.append(basis.to_document())
