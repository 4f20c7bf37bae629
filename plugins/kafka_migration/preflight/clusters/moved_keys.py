"""Whether MirrorMaker 1, which partitions again, would move keys to other partitions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.partitioner import java_partition
from kafka_migration.core.kafka.records import SampledRecord


def moved_key_warnings(
    partitions: Mapping[str, int], sampled: Mapping[str, Iterable[SampledRecord]]
) -> Iterator[Finding]:
    """Warn of each topic whose producers use another partitioner than MirrorMaker 1.

    `partitions` are the counts on the source, `sampled` some of the newest records, by topic.
    """
    for topic, records in sampled.items():
        keyed = [record for record in records if record.key is not None]
        moved = sum(java_partition(each.key or b"", partitions[topic]) != each.partition.partition for each in keyed)
        if moved:
            yield Finding(
                Code.KEYS_PARTITIONED_OTHERWISE,
                f"topic {topic}",
                f"{moved} of {len(keyed)} sampled records with a key in another partition than Kafka's default "
                "partitioner gives them",
                "records that the default partitioner (murmur2) put there",
                "Use mirror.engine mirrormaker2, which keeps partitions. MirrorMaker 1 would move these keys, so that "
                "their later records and the copied ones may be in different partitions after the cutover.",
            )
