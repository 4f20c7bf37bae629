"""Checks of the migration's topics and consumer groups."""

from __future__ import annotations

from kafka_migration.core.groups.selection import which_groups
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.migration.topic_list_rules import topic_list_findings, topic_list_warnings
from kafka_migration.core.run.run_conf import unknown_findings
from kafka_migration.core.target.planned_topics import TopicsSeen, drift_findings
from kafka_migration.core.target.target_topics import (
    missing_topic_findings,
    recreated_findings,
    refused_creations,
    target_topic_findings,
)
from kafka_migration.core.text.shortened import some
from kafka_migration.core.watching.fence import held_back, open_transaction_findings
from kafka_migration.preflight.scene.check import (
    BOTH,
    Asked,
    Findings,
    NotApplicable,
    check,
    without_mirrormaker,
)
from kafka_migration.preflight.scene.scene import Scene, new_topics, topics_of


def _topics_warnings(scene: Scene) -> Findings:
    found = scene.find_topic_list()
    if found is not None:
        yield from topic_list_warnings(scene.migration, found, scene.mode)
    if scene.mode.mirrors:
        source, target = topics_of(scene, "source"), topics_of(scene, "target")
        yield from drift_findings(TopicsSeen(scene.migration, source, target, scene.ledger))


@check("topics", asks=BOTH, needs=("earlier runs", "clusters"), warn=_topics_warnings)
def topics(scene: Scene) -> Findings:
    """The source has every topic, and the target topics allow a same-partition copy."""
    found = scene.find_topic_list()
    if found is not None and not scene.mode.rolls_back:
        yield from topic_list_findings(scene.migration, found, scene.mode)
    yield from _unknown_requested(scene)
    if not scene.mode.rolls_back:
        yield from missing_topic_findings(scene.migration, topics_of(scene, "source"))
    # Only the plan of a backfill shows whether there is anything to copy; the plan checks the target too.
    if not scene.mode.mirrors or scene.mode is Mode.INTERVAL:
        return
    source, target = topics_of(scene, "source"), topics_of(scene, "target")
    partitions = [p for topic in target.values() for p in topic.topic_partitions]
    ends = scene.target.log_end_offsets(partitions, "read_uncommitted")
    yield from target_topic_findings(scene.migration, source, target, ends, scene.ledger)
    yield from recreated_findings(target, scene.ledger)


def _unknown_requested(scene: Scene) -> Findings:
    known = scene.run.whole_migration.topics
    unknown = [topic for topic in scene.run.request.topics if topic not in frozenset(known)]
    yield from unknown_findings("topics", unknown, f"topics of the migration: {some(known)}")


@check("creation", asks=BOTH, needs=("topics", "limits"), unless=without_mirrormaker)
def creation(scene: Scene) -> Findings:
    """The target would create every topic that it lacks: its controller was asked, and nothing was created."""
    if scene.mode is Mode.INTERVAL:
        raise NotApplicable("only the plan of a backfill shows whether there is anything to copy")
    if not new_topics(scene):
        raise NotApplicable("the target has every topic")
    return refused_creations(scene.migration, scene.target.refused_topics(new_topics(scene)))


@check("groups", asks={Asked.SOURCE}, needs=("clusters",))
def groups(scene: Scene) -> Findings:
    """The requested groups exist on the source and belong to the migration."""
    if requested := scene.run.request.groups:
        known = frozenset(which_groups(scene.source.list_groups(), scene.migration.cutover.groups))
        unknown = [group for group in requested if group not in known]
        expected = "groups on the source that match cutover.groups of the migration file"
        yield from unknown_findings("groups", unknown, expected)


@check("transactions", asks={Asked.SOURCE}, needs=("topics",), unless=without_mirrormaker, warns=True)
def transactions(scene: Scene) -> Findings:
    """No transaction on the source has been open for too long; those that have are warnings."""
    partitions = [p for topic in topics_of(scene, "source").values() for p in topic.topic_partitions]
    ends = scene.source.log_end_offsets(partitions, "read_uncommitted")
    held = held_back(ends, scene.source.log_end_offsets(partitions, "read_committed"))
    opened = {partition: stable for partition, (stable, _) in held.items()}
    firsts = scene.source.records_at(opened, "read_uncommitted") if opened else {}
    return open_transaction_findings(opened, firsts, scene.now)
