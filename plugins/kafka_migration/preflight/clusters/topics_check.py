"""The source has every topic, and the target topics allow a same-partition copy."""

from __future__ import annotations

from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.migration.topic_list_rules import topic_list_findings, topic_list_warnings
from kafka_migration.core.run.run_conf import unknown_findings
from kafka_migration.core.target.planned_topics import TopicsSeen, drift_findings
from kafka_migration.core.target.target_topics import missing_topic_findings, recreated_findings, target_topic_findings
from kafka_migration.core.text.shortened import some
from kafka_migration.preflight.scene.check import BOTH, Check, Findings
from kafka_migration.preflight.scene.scene import Scene, topics_of


def _check(scene: Scene) -> Findings:
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


def _warn(scene: Scene) -> Findings:
    found = scene.find_topic_list()
    if found is not None:
        yield from topic_list_warnings(scene.migration, found, scene.mode)
    if scene.mode.mirrors:
        source, target = topics_of(scene, "source"), topics_of(scene, "target")
        yield from drift_findings(TopicsSeen(scene.migration, source, target, scene.ledger))


CHECK = Check("topics", _check, asks=BOTH, needs=("earlier runs", "clusters"), warn=_warn)
