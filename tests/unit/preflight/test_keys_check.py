"""Rules of keys that MirrorMaker 1 would move to other partitions."""

from __future__ import annotations

import pytest

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.records import SampledRecord
from kafka_migration.preflight.clusters.keys_check import java_partition, moved_key_warnings

OWN = java_partition(b"foobar", 3)


@pytest.mark.parametrize(
    ("key", "partition", "expected"),
    [
        (b"foobar", OWN, []),
        (b"foobar", (OWN + 1) % 3, ["1 of 1 sampled"]),
        (None, 0, []),
        (b"", (java_partition(b"", 3) + 1) % 3, ["1 of 1 sampled"]),
    ],
)
def test_keys_in_other_partitions_are_named(key: bytes | None, partition: int, expected: list[str]) -> None:
    """A keyed record elsewhere than the default partitioner puts it is named; one without a key moves in any case."""
    record = SampledRecord(TopicPartition("orders", partition), key, 1)
    found = [finding.found for finding in moved_key_warnings({"orders": 3}, {"orders": [record]})]

    assert len(expected) == len(found)
    assert all(text.startswith(words) for text, words in zip(found, expected, strict=True))


def test_empty_sample_says_nothing() -> None:
    """Without records there is nothing to move."""
    assert [] == list(moved_key_warnings({"orders": 3}, {"orders": []}))
