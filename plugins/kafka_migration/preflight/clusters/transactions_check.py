"""No transaction on the source has been open for too long; those that have are warnings."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.watching.open_transactions import held_back, open_transaction_findings
from kafka_migration.preflight.scene.asking_host import only_with_mirrormaker
from kafka_migration.preflight.scene.check import Check, Subject


def _warn(subject: Subject) -> Iterable[Finding]:
    partitions = [p for topic in subject.source_topics.values() for p in topic.topic_partitions]
    ends = subject.source.log_end_offsets(partitions, "read_uncommitted")
    held = held_back(ends, subject.source.log_end_offsets(partitions, "read_committed"))
    opened = {partition: stable for partition, (stable, _) in held.items()}
    firsts = subject.source.records_at(opened, "read_uncommitted") if opened else {}
    return open_transaction_findings(opened, firsts, subject.now)


CHECK = Check("transactions", lambda _: (), needs=("topics",), warn=only_with_mirrormaker(_warn))
