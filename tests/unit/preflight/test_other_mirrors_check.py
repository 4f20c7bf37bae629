"""Rules of the signs of another MirrorMaker."""

from __future__ import annotations

import pytest

from kafka_migration.core.kafka.cluster import GroupDescription, GroupKind, GroupListing, GroupMember, GroupState
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.preflight.clusters.other_mirrors_check import (
    heartbeat_findings,
    heartbeat_topics,
    reader_findings,
    worker_aliases,
    worker_findings,
)


@pytest.mark.parametrize(
    ("group", "state", "kind", "expected"),
    [
        ("east-mm2", GroupState.STABLE, "connect", ["east"]),
        ("east-mm2", GroupState.UNKNOWN, "connect", ["east"]),
        ("east-mm2", GroupState.EMPTY, "connect", []),
        ("east-mm2", GroupState.STABLE, "classic", []),
        ("shop-source-mm2", GroupState.STABLE, "connect", []),
        ("connect-cluster", GroupState.STABLE, "connect", []),
        ("-mm2", GroupState.STABLE, "connect", []),
    ],
)
def test_workers_that_run_are_found(group: str, state: GroupState, kind: GroupKind, expected: list[str]) -> None:
    """Only active groups of Connect's workers with MirrorMaker 2's names count, and not this migration's."""
    assert expected == worker_aliases([GroupListing(group, state, kind)], "shop")


def test_workers_of_other_topics_are_left_alone() -> None:
    """A MirrorMaker 2 is named if it has positions of the migration's topics, or if that is unknown."""
    found = list(worker_findings({"east": {"orders"}, "west": set(), "north": None}))

    assert ["group east-mm2 on the target", "group north-mm2 on the target"] == [each.subject for each in found]
    assert "of orders" in found[0].found
    assert "topics that are not known" in found[1].found


@pytest.mark.parametrize(
    ("group", "client_id", "topic", "expected"),
    [
        ("mm", "mm-0", "orders", 1),
        ("kafka-migration-mirror-other", "kafka-migration-mirror-other-1", "orders", 1),
        ("kafka-migration-mirror-shop", "kafka-migration-mirror-shop-1", "orders", 0),
        ("mm", "mm-0", "others", 0),
        ("mm", "consumer-mm-1", "orders", 0),
        ("m.", "mm-0", "orders", 0),
        ("mm", "mm-0-x", "orders", 0),
    ],
)
def test_readers_named_like_mirrormaker_1(group: str, client_id: str, topic: str, expected: int) -> None:
    """MirrorMaker 1 names its clients after its group; ordinary consumers and this migration's own do not count."""
    member = GroupMember("id", client_id, "/10.0.0.1", frozenset({TopicPartition(topic, 0)}))
    described = [GroupDescription(group, GroupState.STABLE, (member,))]

    assert expected == len(list(reader_findings(described, {"orders"}, "shop")))


def test_heartbeats_that_are_written() -> None:
    """A heartbeats topic counts if its newest record is younger than a minute; this migration's copy never does."""
    names = ["heartbeats", "east.heartbeats", "shop-source.heartbeats", "my-heartbeats", "orders"]

    assert ["east.heartbeats", "heartbeats"] == heartbeat_topics(names, "shop-source")
    assert ["topic new on the target", "topic ahead on the target"] == [
        each.subject for each in heartbeat_findings({"new": 3.0, "old": 60.0, "ahead": -5.0})
    ]
