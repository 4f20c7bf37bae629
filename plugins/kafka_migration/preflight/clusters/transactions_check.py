"""No transaction on the source has been open for too long; those that have are warnings."""

from __future__ import annotations

from kafka_migration.core.watching.fence import held_back, open_transaction_findings
from kafka_migration.preflight.scene.check import Asked, Check, Findings, without_mirrormaker
from kafka_migration.preflight.scene.scene import Scene, topics_of


def _warn(scene: Scene) -> Findings:
    partitions = [p for topic in topics_of(scene, "source").values() for p in topic.topic_partitions]
    ends = scene.source.log_end_offsets(partitions, "read_uncommitted")
    held = held_back(ends, scene.source.log_end_offsets(partitions, "read_committed"))
    opened = {partition: stable for partition, (stable, _) in held.items()}
    firsts = scene.source.records_at(opened, "read_uncommitted") if opened else {}
    return open_transaction_findings(opened, firsts, scene.now)


CHECK = Check("transactions", asks={Asked.SOURCE}, needs=("topics",), warn=_warn, unless=without_mirrormaker)
