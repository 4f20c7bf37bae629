"""The logins of both connections have the rights that a run of this mode needs, as far as the brokers show them."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.access.missing import missing_findings, rights_for
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import KafkaCluster, Side
from kafka_migration.core.migration.settings import Cluster
from kafka_migration.engines.rights import required_rights
from kafka_migration.preflight.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    yield from _of_side(subject, "source", subject.source, subject.migration.source)
    yield from _of_side(subject, "target", subject.target, subject.migration.target)


def _of_side(subject: Subject, side: Side, cluster: KafkaCluster, named: Cluster) -> Iterable[Finding]:
    rights = rights_for(subject.mode, required_rights(subject.migration, side))
    granted = cluster.granted(list(dict.fromkeys(right.resource for right in rights)))
    principal = subject.connections.principal(named)
    yield from missing_findings(f"{side} (connection {named.connection})", rights, granted, principal)


CHECK = Check("rights", _check, needs=("clusters",))
