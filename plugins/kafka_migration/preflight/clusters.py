"""Both clusters answer, and they are different clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import ClusterFacts
from kafka_migration.preflight.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    findings: list[Finding] = []
    source = _facts("source.connection", lambda: subject.source_facts, findings)
    target = _facts("target.connection", lambda: subject.target_facts, findings)
    if source is not None and target is not None:
        findings += _differences(subject, source, target)
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


def _differences(subject: Subject, source: ClusterFacts, target: ClusterFacts) -> Iterable[Finding]:
    if source.cluster_id == target.cluster_id:
        yield Finding(
            Code.SAME_CLUSTER,
            "source and target",
            f"the same cluster, id {source.cluster_id}",
            "two different clusters",
            "Correct one of the two connections. Topics keep their names, so a cluster cannot mirror into itself.",
        )
    wanted = subject.migration.target_replication_factor
    if wanted > target.brokers:
        yield Finding(
            Code.REPLICATION_FACTOR_TOO_HIGH,
            "target.replication_factor",
            f"{wanted}, with {target.brokers} broker(s) on the target",
            f"at most {target.brokers}",
            "Lower target.replication_factor in the migration file, or add brokers.",
        )


CHECK = Check("clusters", _check, needs=("connections", "security"))
