"""Names and limits of the target that would refuse or delete copied records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.migration.settings import Migration
from kafka_migration.preflight.clusters.limits_check import (
    after_limits,
    collision_findings,
    large_record_findings,
    limit_warnings,
    lowered_limits,
    replica_findings,
    replica_warnings,
)

INTERNAL = "MirrorMaker's internal topics"
LEAST_1 = {"min.insync.replicas": "1"}


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

    assert len(list(replica_findings(migration, [topic], "1"))) == expected


@pytest.mark.parametrize(
    ("default", "refused"),
    [
        ("", []),
        ("1", []),
        ("2", ["topic orders", INTERNAL]),
        ("3", ["topic orders", "topic audit", INTERNAL]),
    ],
)
def test_brokers_default_counts_for_topics_without_their_own(
    migration: Migration, default: str, refused: list[str]
) -> None:
    """A topic without min.insync.replicas has the brokers' value, MirrorMaker's internal topics too."""
    topics = [NewTopic("orders", 1, 1, {}), NewTopic("audit", 1, 2, {}), NewTopic("own", 1, 1, LEAST_1)]

    assert refused == [finding.subject for finding in replica_findings(migration, topics, default)]


def test_as_many_replicas_as_needed_is_a_warning(migration: Migration) -> None:
    """With exactly min.insync.replicas replicas one broker that is down stops writes; a single replica is a choice."""
    topics = [NewTopic("orders", 1, 2, {}), NewTopic("audit", 1, 3, {}), NewTopic("own", 1, 1, LEAST_1)]

    assert ["topic orders"] == [finding.subject for finding in replica_warnings(migration, topics, "2")]


def test_mirrormaker_1_has_no_internal_topics(migration: Migration) -> None:
    """MirrorMaker 1 creates no topics, so the brokers' default does not matter for it."""
    first = replace(migration, mirror=replace(migration.mirror, engine="mirrormaker1"))

    assert [] == list(replica_findings(first, [], "2"))


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
        ({"cleanup.policy": "delete"}, {"cleanup.policy": "compact,delete"}, ["TARGET_COMPACTS"]),
        ({"cleanup.policy": "compact"}, {"cleanup.policy": "compact,delete"}, []),
        ({}, {"cleanup.policy": "compact"}, []),
    ],
)
def test_lower_limits_are_warnings(
    migration: Migration, source: dict[str, str], target: dict[str, str], expected: list[str]
) -> None:
    """A limit is named only if it is lower than on the source; an unknown limit is not a limit."""
    found = limit_warnings(migration, {"orders": source}, {"orders": target})

    assert [str(finding.code) for finding in found] == expected


def test_smallest_limit_counts_for_all_topics(migration: Migration) -> None:
    """MirrorMaker's requests are as small as the smallest limit of all topics, so each topic is compared with it."""
    source = {"orders": {"max.message.bytes": "9"}, "audit": {"max.message.bytes": "4"}}
    target = {"orders": {"max.message.bytes": "9"}, "audit": {"max.message.bytes": "5"}}
    (warning,) = limit_warnings(migration, source, target)

    assert "topic orders" == warning.subject
    assert "max.message.bytes 5 of topic audit on the target" == warning.found
    assert {} == lowered_limits(source, {"orders": {}})


@pytest.mark.parametrize(("size", "expected"), [(5, 0), (6, 1)])
def test_record_that_cannot_be_copied_is_refused(migration: Migration, size: int, expected: int) -> None:
    """A sampled record above the limit is a refusal; one at the limit, or of a topic without a lower limit, is not."""
    found = list(large_record_findings(migration, {"orders": (5, "audit")}, {"orders": size, "audit": 100}))

    assert expected == len(found)


def test_only_real_limits_of_late_timestamps_count() -> None:
    """Java's largest number, a time that no date has, and an unknown value are no limit."""
    limits = {"a": "3600000", "b": "9223372036854775807", "c": "x", "d": "1000000000000000"}

    assert {"a": 3_600_000} == after_limits({t: {"message.timestamp.after.max.ms": v} for t, v in limits.items()})
