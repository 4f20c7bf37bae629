"""The brokers of both clusters are new enough for the MirrorMaker on the host."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.engines.required_versions import PROTOCOL, needs_new_brokers, old_broker_findings
from kafka_migration.preflight.scene.asking_host import only_with_mirrormaker
from kafka_migration.preflight.scene.broker_settings import not_checked
from kafka_migration.preflight.scene.check import Check, NotApplicable, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    for side, cluster in _asked(subject).items():
        yield from old_broker_findings(side, _brokers(cluster), subject.host_facts.get("kafka", ""))


def _warn(subject: Subject) -> Iterable[Finding]:
    for side, cluster in _asked(subject).items():
        if not _brokers(cluster):
            yield not_checked(
                f"the brokers' settings on the {side}",
                "no right DescribeConfigs on the cluster",
                "whether the brokers are new enough for this MirrorMaker (Kafka 2.1)",
                "Grant it to the user of the connection, or look at the brokers' version yourself.",
            )


def _asked(subject: Subject) -> Mapping[str, KafkaCluster]:
    """Return the clusters to ask."""
    version = subject.host_facts.get("kafka", "")
    if not needs_new_brokers(version):
        raise NotApplicable(f"MirrorMaker of Kafka {version} works with old brokers too")
    return {"source": subject.source, "target": subject.target}


def _brokers(cluster: KafkaCluster) -> Mapping[int, Mapping[str, str]]:
    """Return the settings of the brokers; empty if the login may not read them."""
    try:
        return cluster.broker_settings(PROTOCOL)
    except Refused:
        return {}


CHECK = Check("versions", only_with_mirrormaker(_check), needs=("clusters", "host", "mirror"), warn=_warn)
