"""Both clusters answer, and they are those of earlier runs and different ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import ClusterFacts
from kafka_migration.core.ledger.copy_basis import ClusterSeen, changed_clusters
from kafka_migration.core.migration.settings import Migration
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    findings: list[Finding] = []
    source = _facts("source.connection", lambda: subject.source_facts, findings)
    target = _facts("target.connection", lambda: subject.target_facts, findings)
    if source is not None and target is not None:
        seen = ClusterSeen.of(source), ClusterSeen.of(target)
        changed = tuple(changed_clusters(subject.ledger.basis, subject.migration, *seen))
        findings += changed or difference_findings(subject.migration, source, target)
    return findings


def _facts(field: str, ask: Callable[[], ClusterFacts], findings: list[Finding]) -> ClusterFacts | None:
    try:
        return ask()
    except Refused as refused:
        findings += refused.findings
    except TransientError as error:
        findings.append(
            Finding(
                Code.CLUSTER_UNREACHABLE,
                field,
                str(error),
                "an answer from the cluster",
                "Check bootstrap.servers and the security settings in the Airflow connection, and that Airflow "
                "reaches the brokers' advertised listeners.",
            )
        )
    return None


def difference_findings(migration: Migration, source: ClusterFacts, target: ClusterFacts) -> Iterable[Finding]:
    """Yield why a migration between these clusters is impossible."""
    if source.cluster_id == target.cluster_id:
        yield Finding(
            Code.SAME_CLUSTER,
            "source and target",
            f"the same cluster, id {source.cluster_id}",
            "two different clusters",
            "Correct one of the two connections. Topics keep their names, so a cluster cannot mirror into itself.",
        )
    wanted = migration.target_replication_factor
    if wanted > target.brokers:
        yield Finding(
            Code.REPLICATION_FACTOR_TOO_HIGH,
            "target.replication_factor",
            f"{wanted}, with {target.brokers} broker(s) on the target",
            f"at most {target.brokers}",
            "Lower target.replication_factor in the migration file, or add brokers.",
        )


CHECK = Check("clusters", _check, needs=("connections", "security"))
