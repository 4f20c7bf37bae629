"""Samples of the newest records of topics, which several checks look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from kafka_migration.core.kafka.records import SampledRecord
from kafka_migration.preflight.scene.scene import Scene, asked_once, topics_of

PARTITIONS = 200
RECORDS = 20
TIME_LIMIT_S = 10.0


@asked_once
def newest_records(scene: Scene, topics: tuple[str, ...]) -> Mapping[str, list[SampledRecord]]:
    """Return up to `RECORDS` of the newest records of each partition of these topics on the source, by topic.

    At most `PARTITIONS` partitions are read; a topic without a record is missing.
    """
    known, source = topics_of(scene, "source"), scene.source
    partitions = [partition for topic in topics for partition in known[topic].topic_partitions][:PARTITIONS]
    starts = source.log_start_offsets(partitions)
    ends = source.log_end_offsets(partitions, "read_uncommitted")
    ends = {partition: end for partition, end in ends.items() if partition in starts}
    first = {partition: max(starts[partition], end - RECORDS) for partition, end in ends.items()}
    found = defaultdict[str, list[SampledRecord]](list)
    for record in source.sampled_records(first, ends, TIME_LIMIT_S):
        found[record.partition.topic].append(record)
    return found
