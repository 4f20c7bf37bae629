"""Creates topics on the target so that an interruption at any point is recognized by the next try.

The ledger has a topic as announced before it exists, and as created with its id afterwards.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.cluster import NewTopic, TopicDescription
from kafka_migration.core.ledger.cutovers import (
    AnnouncedTopic,
    CreatedTopic,
    SettingsFrozen,
    TopicsAnnounced,
    TopicsCreated,
)
from kafka_migration.core.stored.stored_documents import PlanDocument, Stored, TopicsDocument
from kafka_migration.core.target.target_topics import is_as_announced, settings_to_freeze, unclear_creations
from kafka_migration.steps.run.copy_scope import record_basis, require_same_basis
from kafka_migration.steps.run.guards import require_rights_on_target_topics
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of
from kafka_migration.steps.run.task_frame import Summary

log = logging.getLogger(__name__)


def create_topics(run: MigrationRun) -> Summary:
    """Create topics, add partitions, freeze settings, and record the result; raises `Refused` for a login without
    rights."""
    plan = run.evidence.require(Stored.PLAN)
    _adopt_announced(run)
    if plan.create or plan.grow:
        record_basis(run, require_same_basis(run))
    topics = _create_announced(run, plan)
    run.target.create_partitions(plan.grow)
    require_rights_on_target_topics(run)
    _freeze_again(run)
    run.evidence.write(Stored.TOPICS, TopicsDocument(run.now(), plan.create, plan.grow))
    _log(topics, plan.grow)
    return {"created": len(topics), "grown": len(plan.grow)}


def _log(created: Collection[NewTopic], grown: Mapping[str, int]) -> None:
    for topic in created:
        configs = ", ".join(f"{name}={value}" for name, value in sorted(topic.configs.items())) or "none"
        what = f"{topic.partitions} partitions, replication factor {topic.replication_factor}, settings: {configs}"
        log.info("Created %s: %s", topic.topic, what)
    for name, partitions in sorted(grown.items()):
        log.info("Added partitions to %s: now %d partitions", name, partitions)
    if not created and not grown:
        log.info("Nothing to create: all topics exist.")


def _freeze_again(run: MigrationRun) -> None:
    configs = settings_to_freeze(run.ledger.known(), run.migration.topics) if run.request.mode.mirrors else {}
    if configs:
        run.target.alter_configs(configs)
        run.ledger.append(SettingsFrozen(run.identity.holder, run.now(), tuple(sorted(configs))).to_document())


def _adopt_announced(run: MigrationRun) -> None:
    """Record announced topics of the run that exist as created; an interrupted try could not.

    Raises `Refused` (`TOPIC_CREATION_UNCLEAR`) if one is not as it was announced, or is not empty.
    """
    announced = {topic: each for topic, each in run.ledger.known().announced.items() if topic in run.migration.topics}
    found = run.describe("target", announced) if announced else {}
    ends = run.target.log_end_offsets(partitions_of(found), "read_uncommitted") if found else {}
    if findings := unclear_creations(run.ledger.known(), found, ends):
        raise Refused(findings)
    _record(run, found, announced)


def _create_announced(run: MigrationRun, plan: PlanDocument) -> tuple[NewTopic, ...]:
    """Announce the planned topics, create them, and record those that exist; return them.

    A topic that another client created since the plan is not announced, and remains as it is.
    """
    topics = plan.create
    there = run.describe("target", [topic.topic for topic in topics]) if topics else {}
    known = run.ledger.known().topics
    _tell_others(name for name in there if name not in known)
    announced = {
        topic.topic: AnnouncedTopic(topic.partitions, topic.configs, plan.frozen_configs[topic.topic])
        for topic in topics
        if topic.topic not in there
    }
    if announced:
        run.ledger.append(TopicsAnnounced(run.identity.holder, run.now(), announced).to_document())
    try:
        run.target.create_topics(topics)
    finally:
        # Also after a refusal of some: the ledger must know each topic whose retention is disabled.
        _record(run, run.describe("target", announced) if announced else {}, announced)
    return topics


def _record(run: MigrationRun, found: Mapping[str, TopicDescription], announced: Mapping[str, AnnouncedTopic]) -> None:
    ours = {
        topic: CreatedTopic(description.topic_id, announced[topic].frozen_configs)
        for topic, description in found.items()
        if is_as_announced(announced[topic], description)
    }
    left = tuple(sorted(found.keys() - ours.keys()))
    _tell_others(left)
    if found:
        run.ledger.append(TopicsCreated(run.identity.holder, run.now(), ours, left).to_document())


def _tell_others(topics: Iterable[str]) -> None:
    for topic in topics:
        log.warning("%s was created by others, with other settings: the run leaves them as found.", topic)
