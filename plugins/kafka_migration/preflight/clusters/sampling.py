"""Samples of the newest records of topics, which several checks look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from kafka_migration.core.kafka.cluster import KafkaCluster, TopicDescription
from kafka_migration.core.kafka.records import SampledRecord
from kafka_migration.preflight.scene.scene import Scene, asked_once, topics_of

PARTITIONS = 200
RECORDS = 20
TIME_LIMIT_S = 10.0


@asked_once
def newest_records(scene: Scene, topics: tuple[str, ...]) -> Mapping[str, list[SampledRecord]]:
    """Return a sample of the newest records of these topics on the source, by topic; a topic without one is missing."""
    known = topics_of(scene, "source")
    return _sampled(scene.source, [known[topic] for topic in topics])


def _sampled(cluster: KafkaCluster, topics: Iterable[TopicDescription]) -> Mapping[str, list[SampledRecord]]:
    """Return up to `RECORDS` of the newest records of each partition, by topic, of up to `PARTITIONS` partitions."""
    partitions = [partition for topic in topics for partition in topic.topic_partitions][:PARTITIONS]
    starts = cluster.log_start_offsets(partitions)
    ends = cluster.log_end_offsets(partitions, "read_uncommitted")
    known = {partition: end for partition, end in ends.items() if partition in starts}
    first = {partition: max(starts[partition], end - RECORDS) for partition, end in known.items()}
    found = defaultdict[str, list[SampledRecord]](list)
    for record in cluster.sampled_records(first, known, TIME_LIMIT_S):
        found[record.partition.topic].append(record)
    return found
