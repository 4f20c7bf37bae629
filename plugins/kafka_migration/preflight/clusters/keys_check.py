"""MirrorMaker 1 would put the newest records into the partitions that they have: its partitioner is the producers'."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.partitioner import java_partition
from kafka_migration.core.kafka.records import SampledRecord
from kafka_migration.preflight.clusters.sampling import newest_records
from kafka_migration.preflight.scene.check import Asked, Check, Findings, without_mirrormaker
from kafka_migration.preflight.scene.scene import Scene, topics_of


def _keeps_partitions(scene: Scene) -> str:
    kept = (
        f"{scene.migration.mirror.abilities.title} keeps the partitions of the source"
        if scene.migration.keeps_partitions
        else ""
    )
    return without_mirrormaker(scene) or kept


def _warn(scene: Scene) -> Findings:
    partitions = {name: each.partitions for name, each in topics_of(scene, "source").items() if each.partitions > 1}
    return moved_key_warnings(partitions, newest_records(scene, tuple(partitions)))


def moved_key_warnings(partitions: Mapping[str, int], sampled: Mapping[str, Iterable[SampledRecord]]) -> Findings:
    """Warn of each topic whose producers use another partitioner than MirrorMaker 1.

    `partitions` are the counts on the source, `sampled` some of the newest records, by topic.
    """
    for topic, records in sampled.items():
        keyed = [record for record in records if record.key is not None]
        moved = sum(java_partition(each.key or b"", partitions[topic]) != each.partition.partition for each in keyed)
        if moved:
            sample = f"{moved} of {len(keyed)} sampled records with a key"
            yield Finding(
                Code.KEYS_PARTITIONED_OTHERWISE,
                f"topic {topic}",
                f"{sample} in another partition than Kafka's default partitioner gives them",
                "records that the default partitioner (murmur2) put there",
                "Use mirror.engine mirrormaker2, which keeps partitions.",
                happened=f"MirrorMaker 1 would write {sample} of topic {topic} to another partition than they have.",
                matters="After the cutover the copied and the later records of such a key may be in different "
                "partitions, without an order between them.",
            )


CHECK = Check("keys", asks={Asked.SOURCE}, needs=("topics",), warn=_warn, unless=_keeps_partitions)
