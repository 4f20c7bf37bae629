"""Rules of the topics of MirrorMaker's own that exist before a start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.migration.settings import Migration
from kafka_migration.preflight.clusters.target_checks import own_topics_seen
from tests.contract.fake_cluster import FakeCluster

OFFSETS = "mm2-offsets.shop-source.internal"
SYNCS = "mm2-offset-syncs.shop-source.internal"
LAST = 3


def name(kind: str, generation: int) -> str:
    return f"mm2-{kind}.shop-source.g{generation}.internal"


@pytest.fixture
def target() -> FakeCluster:
    """A target with two brokers."""
    return FakeCluster("target", brokers=2)


def add(target: FakeCluster, topic: str, partitions: int = 1, replicas: int = 2, **configs: str) -> None:
    settings = {setting.replace("_", "."): value for setting, value in configs.items()}
    target.create_topics([NewTopic(topic, partitions, replicas, settings)])


@pytest.mark.parametrize("topic", [OFFSETS, name("configs", LAST + 1), name("status", LAST + 2)])
@pytest.mark.parametrize("policy", ["delete", "compact,delete", "delete,compact"])
def test_other_cleanup_policy_is_named_with_its_command(
    migration: Migration, target: FakeCluster, topic: str, policy: str
) -> None:
    """Connect refuses every policy but `compact` alone; positions are kept, and what no generation used is deleted."""
    add(target, topic, cleanup_policy=policy)
    (finding,) = own_topics_seen(migration, LAST, target).findings

    assert (Code.MIRROR_TOPIC_UNFIT, f"topic {topic} on the target") == (finding.code, finding.subject)
    assert f"cleanup.policy={policy}" == finding.found
    command = "--add-config cleanup.policy=compact" if topic == OFFSETS else f"--delete --topic {topic}"
    assert command in finding.remedy


def test_settings_have_one_partition(migration: Migration, target: FakeCluster) -> None:
    """A topic of settings with more partitions is refused by Connect; those of positions and states may have any."""
    add(target, name("configs", LAST + 1), partitions=3)
    add(target, name("status", LAST + 1), partitions=3)
    add(target, OFFSETS, partitions=3)

    assert ["3 partitions"] == [f.found for f in own_topics_seen(migration, LAST, target).findings]


@pytest.mark.parametrize("topic", [OFFSETS, SYNCS])
def test_topic_that_cannot_be_written_is_named(migration: Migration, target: FakeCluster, topic: str) -> None:
    """Fewer replicas than min.insync.replicas make every write fail."""
    add(target, topic, replicas=1, min_insync_replicas="2")
    (finding,) = own_topics_seen(migration, LAST, target).findings

    assert "1 replica(s) with min.insync.replicas=2" == finding.found
    assert "--add-config min.insync.replicas=1" in finding.remedy


def test_topics_that_no_start_uses_are_left_alone(migration: Migration, target: FakeCluster) -> None:
    """Topics of earlier generations are deleted before a start; those of others are not MirrorMaker's here."""
    for topic in (name("configs", LAST), name("status", 1), "mm2-offsets.shop.internal", "mm2-configs.shop.internal"):
        add(target, topic, partitions=3, cleanup_policy="delete")
    add(target, SYNCS, cleanup_policy="delete")
    add(target, OFFSETS)

    assert () == own_topics_seen(migration, LAST, target).findings


def test_mirrormaker_1_has_no_topics(migration: Migration, target: FakeCluster) -> None:
    """The topics of a migration that once used MirrorMaker 2 do not matter."""
    add(target, OFFSETS, cleanup_policy="delete")
    first = replace(migration, mirror=replace(migration.mirror, engine="mirrormaker1"))

    assert () == own_topics_seen(first, LAST, target).findings


def test_topic_that_may_not_be_described_hides_no_other(
    migration: Migration, target: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A login without the right to read a topic's settings is no finding, and the other topics are still looked at."""
    add(target, OFFSETS, cleanup_policy="delete")
    add(target, name("status", LAST + 1), cleanup_policy="delete")
    described = target.describe_topics

    def describe(topics: Any) -> Any:
        if OFFSETS in topics:
            raise Refused([])
        return described(topics)

    monkeypatch.setattr(target, "describe_topics", describe)
    seen = own_topics_seen(migration, LAST, target)

    assert ((OFFSETS,), 1) == (seen.unseen, len(seen.findings))
