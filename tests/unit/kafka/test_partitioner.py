"""The partitioner of Kafka's Java clients."""

from __future__ import annotations

import pytest

from kafka_migration.preflight.clusters.keys_check import java_partition, murmur2


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_hashes_are_those_of_kafka(key: bytes, expected: int) -> None:
    """The hashes are those in the tests of Kafka's own `Utils` (Kafka 3.9)."""
    assert expected % 2**32 == murmur2(key)


def test_partition_is_in_range() -> None:
    """The sign of the hash is dropped, as in Java."""
    assert (-973932308 & 0x7FFFFFFF) % 7 == java_partition(b"21", 7)
    assert {java_partition(b"%d" % number, 3) for number in range(100)} == {0, 1, 2}
