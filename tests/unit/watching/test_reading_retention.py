"""Reading the retention of topics from a cluster."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta

from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.steps.mirror.stop_mirror import retention_of
from tests.contract.fake_cluster import FakeCluster


class Vanishing(FakeCluster):
    """A cluster that deletes every topic right after its settings were read."""

    def effective_configs(self, topics: Collection[str], *names: str) -> Mapping[str, Mapping[str, str]]:
        """Read the settings, then delete the topics."""
        found = super().effective_configs(topics, *names)
        self.topics.clear()
        return found


def test_topic_that_vanishes_between_two_reads_has_one_answer() -> None:
    """Regression: three calls for three settings failed with a KeyError on a topic deleted between them."""
    cluster = Vanishing()
    cluster.create_topics([NewTopic("orders", 1, 1, {"retention.ms": "60000"})])

    assert {"orders": timedelta(minutes=1)} == {t: r.time_limit for t, r in retention_of(cluster, ["orders"]).items()}
    assert {} == retention_of(cluster, ["orders"])


class Silent(FakeCluster):
    """A cluster that does not show one of the settings."""

    def effective_configs(self, topics: Collection[str], *names: str) -> Mapping[str, Mapping[str, str]]:
        """Leave the size out."""
        return super().effective_configs(topics, *(name for name in names if name != "retention.bytes"))


def test_retention_with_a_missing_setting_is_unknown() -> None:
    """A topic of which one setting is not shown has no known retention, and is not taken for unlimited."""
    cluster = Silent()
    cluster.create_topics([NewTopic("orders", 1, 1, {})])

    assert {} == retention_of(cluster, ["orders"])
