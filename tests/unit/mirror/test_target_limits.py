"""Names and limits of the target that would refuse or delete copied records."""

from __future__ import annotations

import pytest

from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.target_limits import collision_findings, limit_warnings, replica_findings


@pytest.mark.parametrize(
    ("new", "existing", "expected"),
    [
        (["a.b"], ["a_b"], ["topic a.b"]),
        (["a.b", "a_b"], [], ["topic a.b", "topic a_b"]),
        (["a.b"], ["a.b.c", "ab", "a-b"], []),
        (["a_b"], ["a_b"], []),
    ],
)
def test_names_that_kafka_takes_for_the_same(
    migration: Migration, new: list[str], existing: list[str], expected: list[str]
) -> None:
    """A dot and an underscore are the same letter for Kafka, on the target and among the new topics."""
    assert [finding.subject for finding in collision_findings(migration, new, existing)] == expected


@pytest.mark.parametrize(("replicas", "least", "expected"), [(1, "2", 1), (2, "2", 0), (3, "2", 0), (1, "many", 0)])
def test_fewer_replicas_than_brokers_need(migration: Migration, replicas: int, least: str, expected: int) -> None:
    """With fewer replicas than min.insync.replicas no record is taken, so the topic is refused."""
    topic = NewTopic("orders", 1, replicas, {"min.insync.replicas": least})

    assert len(list(replica_findings(migration, [topic]))) == expected


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ({"max.message.bytes": "9"}, {"max.message.bytes": "8"}, ["RECORD_LIMIT_LOWER"]),
        ({"max.message.bytes": "9"}, {"max.message.bytes": "9"}, []),
        ({"retention.ms": "9"}, {"retention.ms": "8"}, ["TARGET_RETENTION_SHORTER"]),
        ({"retention.ms": "-1"}, {"retention.ms": "8"}, ["TARGET_RETENTION_SHORTER"]),
        ({"retention.bytes": "-1"}, {"retention.bytes": "8"}, ["TARGET_RETENTION_SHORTER"]),
        ({"retention.ms": "9"}, {"retention.ms": "-1"}, []),
        ({}, {"message.timestamp.before.max.ms": "3600000"}, ["TIMESTAMPS_LIMITED"]),
        ({}, {"message.timestamp.difference.max.ms": "9223372036854775807"}, []),
        ({"max.message.bytes": "9"}, {}, []),
    ],
)
def test_lower_limits_are_warnings(
    migration: Migration, source: dict[str, str], target: dict[str, str], expected: list[str]
) -> None:
    """A limit is named only if it is lower than on the source; an unknown limit is not a limit."""
    found = limit_warnings(migration, {"orders": source}, {"orders": target})

    assert [str(finding.code) for finding in found] == expected
