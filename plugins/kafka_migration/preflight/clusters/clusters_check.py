"""Both clusters answer, and they are those of earlier runs and different ones."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import ClusterFacts, Side
from kafka_migration.core.ledger.copy_basis import ClusterSeen, changed_clusters
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.shortened import sentence
from kafka_migration.preflight.scene.check import BOTH, Check, Findings
from kafka_migration.preflight.scene.scene import Scene, facts


def _check(scene: Scene) -> Findings:
    findings: list[Finding] = []
    source, target = _facts(scene, "source", findings), _facts(scene, "target", findings)
    if source is not None and target is not None:
        seen = ClusterSeen.of(source), ClusterSeen.of(target)
        changed = tuple(changed_clusters(scene.ledger.basis, scene.migration, *seen))
        findings += changed or difference_findings(scene.migration, source, target)
    return findings


def _facts(scene: Scene, side: Side, findings: list[Finding]) -> ClusterFacts | None:
    try:
        return facts(scene, side)
    except Refused as refused:
        findings += refused.findings
    except TransientError as error:
        findings.append(_unreachable(side, error))
    return None


def _unreachable(side: Side, error: TransientError) -> Finding:
    return Finding(
        Code.CLUSTER_UNREACHABLE,
        f"{side}.connection",
        str(error),
        "an answer from the cluster",
        "Check bootstrap.servers and the security settings in the Airflow connection, and that Airflow reaches the "
        "brokers' advertised listeners. Then trigger the run again.",
        happened=sentence(f"The {side} did not answer Airflow: {error}"),
        matters="It is unknown what a run would copy, so the other checks of the clusters were left out.",
    )


def difference_findings(migration: Migration, source: ClusterFacts, target: ClusterFacts) -> Findings:
    """Yield why a migration between these clusters is impossible."""
    if source.cluster_id == target.cluster_id:
        yield Finding(
            Code.SAME_CLUSTER,
            "source and target",
            f"the same cluster, id {source.cluster_id}",
            "two different clusters",
            "Correct source.connection or target.connection in the migration file, or the connection in Airflow.",
            happened="The connections source.connection and target.connection lead to the same cluster, with the id "
            f"{source.cluster_id}.",
            matters="With equal topic names MirrorMaker would read what it writes, and copy each record without end.",
        )
    wanted = migration.target_replication_factor
    if wanted > target.brokers:
        yield Finding(
            Code.REPLICATION_FACTOR_TOO_HIGH,
            "target.replication_factor",
            f"{wanted}, with {target.brokers} broker(s) on the target",
            f"at most {target.brokers}",
            "Lower target.replication_factor in the migration file, or add brokers to the target.",
            happened=f"target.replication_factor is {wanted}, but the target has {target.brokers} broker(s).",
            matters="Each replica needs a broker of its own, so the target would create no topic.",
        )


CHECK = Check("clusters", _check, asks=BOTH, needs=("connections", "security"))
