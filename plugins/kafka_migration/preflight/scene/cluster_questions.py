"""The questions to the clusters that several checks ask."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_migration.core.kafka.cluster import ClusterFacts, NewTopic, Side, TopicDescription
from kafka_migration.core.target.target_topics import plan_topics
from kafka_migration.preflight.scene.scene import Scene, asked_once


@asked_once
def facts(scene: Scene, side: Side) -> ClusterFacts:
    """Return the id and the brokers of a cluster."""
    return scene.cluster(side).facts()


@asked_once
def topics_of(scene: Scene, side: Side) -> Mapping[str, TopicDescription]:
    """Return the migration's topics on a side, by their source names; those that do not exist are missing."""
    return scene.cluster(side).describe_topics(scene.migration.topics)


@asked_once
def new_topics(scene: Scene) -> tuple[NewTopic, ...]:
    """Return the topics that the target lacks, as a run would create them."""
    source, target = topics_of(scene, "source"), topics_of(scene, "target")
    return plan_topics(scene.migration, source, target, scene.ledger).create
