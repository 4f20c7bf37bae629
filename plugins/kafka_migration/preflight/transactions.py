"""No transaction on the source has been open for too long; those that have are warnings."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.mirror.open_transactions import open_partitions, open_transaction_findings
from kafka_migration.preflight.asking_host import only_with_mirrormaker
from kafka_migration.preflight.check import Check, Subject


def _warn(subject: Subject) -> Iterable[Finding]:
    partitions = [p for topic in subject.source_topics.values() for p in topic.topic_partitions]
    # In this order, so that a transaction that begins meanwhile is seen as a young one.
    stable = subject.source.log_end_offsets(partitions, "read_committed")
    opened = open_partitions(stable, subject.source.log_end_offsets(partitions, "read_uncommitted"))
    # A record that was written between both readings is no transaction: its partition's offset moves on.
    again = subject.source.log_end_offsets(opened, "read_committed") if opened else {}
    opened = {partition: offset for partition, offset in opened.items() if again.get(partition) == offset}
    firsts = subject.source.records_at(opened, "read_uncommitted") if opened else {}
    return open_transaction_findings(opened, firsts, subject.now)


CHECK = Check("transactions", lambda _: (), needs=("topics",), warn=only_with_mirrormaker(_warn))
