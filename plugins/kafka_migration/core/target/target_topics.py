"""Topics and partitions that the target lacks, and findings about topics that it already has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import NewTopic, TopicDescription
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.cutovers import AnnouncedTopic, CreatedTopic
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.migration.topic_rules import TopicSettings
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.text.shortened import sentence, some

OTHERS_CONTINUE = (
    "To continue with the other topics, remove this one from topics in the migration file (if a pattern matches it, "
    "add an exclude item for it) and trigger the run again."
)
COPY_ELSEWHERE = "Create a second migration file that copies the topic to a different target name (mirror.topic_names)."
RECREATED_TARGET = f"Find out who deleted it, and copy the topic again with a second migration file. {OTHERS_CONTINUE}"
RECREATED_MATTERS = (
    "The copied records were deleted with the old topic. The new topic is not the copy, so no run continues in it."
)


# Broker-side state of a reassignment, not a property of the topic.
NOT_COPIED = {
    "leader.replication.throttled.replicas",
    "follower.replication.throttled.replicas",
    # Kafka 3 ignores it, Kafka 4 refuses it, and an old format on an old target would drop headers.
    "message.format.version",
}
_RETENTION = ("retention.ms", "retention.bytes")
_NO_LIMIT = str(2**63 - 1)
# The settings while records are copied, with no limit: record timestamps are kept, so the target would delete or refuse
# old records on arrival. Limits of timestamps are set only on copies of topics that have them.
FROZEN = {
    **dict.fromkeys(_RETENTION, "-1"),
    "message.timestamp.difference.max.ms": _NO_LIMIT,
    "message.timestamp.before.max.ms": _NO_LIMIT,
    "message.timestamp.after.max.ms": _NO_LIMIT,
}


@dataclass(frozen=True, slots=True)
class TopicPlan:
    """What `create_topics` will do: topics to create, and existing topics that need more partitions."""

    create: tuple[NewTopic, ...]
    grow: Mapping[str, int]
    frozen_configs: Mapping[str, Mapping[str, str | None]]
    """Per new topic the settings that are frozen, with the value to restore (`None`: the default of the target)."""


def plan_topics(
    migration: Migration,
    source: Mapping[str, TopicDescription],
    target: Mapping[str, TopicDescription],
    ledger: Ledger,
) -> TopicPlan:
    """Return the topics and partitions to create, for topics that exist on the source."""
    new = [topic for topic in migration.topics if topic in source and topic not in target]
    configs = {topic: wanted_configs(source[topic], migration.settings_of(topic)) for topic in new}
    grow = {
        topic: source[topic].partitions
        for topic in migration.topics
        if topic in source
        and topic in target
        and topic in ledger.own_topics
        and target[topic].partitions < source[topic].partitions
        and migration.settings_of(topic).partitions is None
    }
    return TopicPlan(
        create=tuple(_copy_of(migration, source[topic], configs[topic]) for topic in new),
        grow=grow,
        frozen_configs={topic: {n: configs[topic].get(n) for n in _frozen_names(configs[topic])} for topic in new},
    )


def _frozen_names(configs: Mapping[str, str]) -> list[str]:
    return [name for name in FROZEN if name in _RETENTION or name in configs]


def wanted_configs(description: TopicDescription, settings: TopicSettings) -> dict[str, str]:
    """Return the settings that a copy of a source topic has after the cutover."""
    configs = {name: value for name, value in description.configs.items() if name not in NOT_COPIED}
    return {name: value for name, value in {**configs, **settings.configs}.items() if value is not None}


def settings_to_restore(
    ledger: Ledger, topics: Collection[str], target: Mapping[str, TopicDescription]
) -> dict[str, Mapping[str, str | None]]:
    """Return the frozen settings of these topics, if this migration created them, with the source's values."""
    return {
        topic: created.frozen_configs
        for topic, created in sorted(ledger.topics.items())
        if topic in topics and topic in target
        if created.is_frozen and not target[topic].is_another_than(created.topic_id)
    }


def settings_to_freeze(ledger: Ledger, topics: Iterable[str]) -> dict[str, Mapping[str, str | None]]:
    """Return the settings to freeze again, by topic, of created topics that a rolled-back cutover had restored."""
    return {
        topic: frozen_settings(ledger.topics[topic])
        for topic in topics
        if topic in ledger.topics and not ledger.topics[topic].is_frozen
    }


def frozen_settings(created: CreatedTopic) -> dict[str, str]:
    """Return the settings of a created topic while records are copied."""
    return {name: FROZEN[name] for name in (*_RETENTION, *created.frozen_configs)}


def _copy_of(migration: Migration, source: TopicDescription, configs: Mapping[str, str]) -> NewTopic:
    settings = migration.settings_of(source.topic)
    return NewTopic(
        source.topic,
        settings.partitions or source.partitions,
        settings.replication_factor or migration.target_replication_factor,
        {**configs, **{name: FROZEN[name] for name in _frozen_names(configs)}},
    )


def is_as_announced(announced: AnnouncedTopic, found: TopicDescription) -> bool:
    """Return whether a topic has the partitions and the settings with which a run was about to create it."""
    has_settings = all(found.configs.get(name) == value for name, value in announced.configs.items())
    return found.partitions == announced.partitions and has_settings


def unclear_creations(
    ledger: Ledger, target: Mapping[str, TopicDescription], target_end_offsets: Offsets
) -> tuple[Finding, ...]:
    """Name every announced topic that exists, but not as it was announced, or with records.

    A topic is created with all its settings in one step. So another client created or changed such a topic.
    """
    return tuple(
        _unclear(announced, found, sum(target_end_offsets.get(p, 0) for p in found.topic_partitions))
        for topic, announced in sorted(ledger.announced.items())
        if (found := target.get(topic)) is not None
        if not is_as_announced(announced, found) or any(target_end_offsets.get(p, 0) for p in found.topic_partitions)
    )


def _unclear(announced: AnnouncedTopic, found: TopicDescription, records: int) -> Finding:
    present = f"{found.partitions} partitions, {_settings(found.configs)}, {records:,} records"
    wanted = f"{announced.partitions} partitions, {_settings(announced.configs)}, no records"
    return Finding(
        Code.TOPIC_CREATION_UNCLEAR,
        f"topic {found.topic}",
        present,
        f"{wanted}, as the run that was about to create it announced",
        "If the topic has no records that you need, delete it on the target: the next run creates it. If it has, take "
        "the topic out of the migration file. An empty topic can also be given the announced settings.",
        happened=f"A run was interrupted while it created topic {found.topic} on the target. In the ledger it "
        f"announced {wanted}; the topic has {present}.",
        matters="The run or another client may have made this topic, so a run neither copies into it nor changes its "
        "settings.",
    )


def _settings(configs: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(configs.items())) or "no settings"


def refused_creations(migration: Migration, reasons: Mapping[str, str]) -> tuple[Finding, ...]:
    """Name every topic that the target would refuse to create, with the target's reason."""
    return tuple(
        Finding(
            Code.TOPIC_NOT_CREATED,
            f"topic {migration.target_topic(topic)}",
            reason,
            "a topic that the target would create",
            "Correct what the broker names: configs in the topic's item of the migration file, a missing right, a "
            "policy of the target. Otherwise create the topic by hand with the source's partition count. Then trigger "
            "the run again.",
            happened=sentence(f"The target refuses to create topic {migration.target_topic(topic)}: {reason}"),
            matters="Without this topic MirrorMaker has no place for its records.",
        )
        for topic, reason in sorted(reasons.items())
    )


def missing_topic_findings(migration: Migration, source: Mapping[str, TopicDescription]) -> Iterable[Finding]:
    """Name every topic of the migration that the source does not have."""
    for topic in migration.topics:
        if topic not in source:
            yield Finding(
                Code.SOURCE_TOPIC_MISSING,
                f"topic {topic}",
                "no such topic on the source",
                "an existing topic that the connection's user may describe",
                "Correct or remove the name in the migration file, or grant Describe. Then trigger the run again.",
                happened=f"The source has no topic {topic}, or the connection's user may not describe it.",
                matters="No record of this topic can be copied.",
            )


def missing_target_findings(
    migration: Migration, target: Mapping[str, TopicDescription], topics: Iterable[str] | None = None
) -> tuple[Finding, ...]:
    """Name every topic (`None`: of the migration) that the target does not have.

    MirrorMaker 1 would wait for it forever and copy nothing.
    """
    return tuple(
        Finding(
            Code.TARGET_TOPIC_MISSING,
            f"topic {migration.target_topic(topic)}",
            "no such topic on the target",
            "the topic that create_topics created",
            "Find out who deleted it. If nothing was copied to it yet, trigger a new run, which creates it again. "
            "Otherwise copy the topic with a second migration file.",
            happened=f"Topic {migration.target_topic(topic)} no longer exists on the target.",
            matters="Without the target topic no record of it can be copied or compared, and no group can read it.",
        )
        for topic in (migration.topics if topics is None else topics)
        if topic not in target
    )


def target_topic_findings(
    migration: Migration,
    source: Mapping[str, TopicDescription],
    target: Mapping[str, TopicDescription],
    target_end_offsets: Offsets,
    ledger: Ledger,
) -> Iterable[Finding]:
    """Name every target topic whose partitions do not match, or that already holds other records."""
    for topic in migration.topics:
        if topic not in source or topic not in target:
            continue
        if migration.keeps_partitions:
            yield from _partition_findings(source[topic], target[topic], ledger.own_topics.get(topic))
        if topic not in ledger.topics and topic not in ledger.copied_topics:
            yield from _content_findings(target[topic], target_end_offsets)


def _partition_findings(
    source: TopicDescription, target: TopicDescription, ours: CreatedTopic | None
) -> Iterable[Finding]:
    can_grow = ours is not None and target.partitions < source.partitions
    if target.partitions != source.partitions and not can_grow:
        yield Finding(
            Code.TOPIC_PARTITIONS_DIFFER,
            f"topic {source.topic}",
            f"{target.partitions} partitions on the target",
            f"{source.partitions}, as on the source",
            "If the target topic has no records: "
            f"{partition_command(target.topic, target.partitions, source.partitions)}."
            f"{' The next run creates it.' if target.partitions > source.partitions else ''} If it has records, leave "
            "it out of the migration.",
            happened=f"Topic {source.topic} has {target.partitions} partitions on the target, and "
            f"{source.partitions} on the source.",
            matters="After the cutover, new records of a key would go to another partition than its copied records.",
        )


def partition_command(topic: str, found: int, wanted: int) -> str:
    """Return the command of Kafka that gives a topic of the target more partitions, or deletes one with too many."""
    command = f"kafka-topics.sh --bootstrap-server TARGET:9092 --topic {shell_word(topic)}"
    return f"{command} --alter --partitions {wanted}" if found < wanted else f"{command} --delete"


def _content_findings(target: TopicDescription, target_end_offsets: Offsets) -> Iterable[Finding]:
    written = [p for p in target.topic_partitions if target_end_offsets.get(p, 0) > 0]
    if written:
        yield Finding(
            Code.TARGET_TOPIC_NOT_EMPTY,
            f"topic {target.topic}",
            f"end offset {target_end_offsets[written[0]]:,} on partition {written[0].partition} of the target",
            "an empty topic, or records that this migration's ledger knows",
            "Find the producer of these records and stop it. If they are not needed, delete the topic on the target. "
            "Otherwise copy into topics with other names (mirror.topic_names). Then trigger the run again.",
            happened=f"The target's topic {target.topic} (end {target_end_offsets[written[0]]:,} on partition "
            f"{written[0].partition}) holds records that no run of this migration wrote.",
            matters="The copy would be mixed with these records, and could not be proved.",
        )


def recreated_findings(target: Mapping[str, TopicDescription], ledger: Ledger) -> tuple[Finding, ...]:
    """Name every target topic whose id is not the one that the ledger recorded at its creation."""
    return tuple(
        Finding(
            Code.TARGET_TOPIC_RECREATED,
            f"topic {topic}",
            f"topic id {target[topic].topic_id}",
            f"{created.topic_id}, recorded when the topic was created",
            RECREATED_TARGET,
            happened=f"The target topic {topic} was deleted and created again: its topic id is "
            f"{target[topic].topic_id}, and the run that created it recorded {created.topic_id}.",
            matters=RECREATED_MATTERS,
        )
        for topic, created in sorted(ledger.topics.items())
        if topic in target and target[topic].is_another_than(created.topic_id)
    )


def removed_topic_warnings(migration: Migration, ledger: Ledger) -> tuple[Finding, ...]:
    """Name the topics that were copied or created, are not cut over, and that no item of the file applies to.

    A topic that an `exclude` item matches was taken out on purpose.
    """
    known = {*ledger.copied_topics, *ledger.own_topics} - ledger.moved_topics()
    rules = migration.rules
    removed = sorted(topic for topic in known if not rules.takes(topic) and not rules.excludes(topic))
    if not removed:
        return ()
    return (
        Finding(
            Code.TOPICS_REMOVED,
            f"{migration.name}.yaml: topics",
            f"no {some(removed)}",
            "each topic that earlier runs copied and that is not cut over",
            "To continue their copy, add them to topics again. Otherwise add TOPICS_REMOVED to accept in the file.",
            happened=f"The migration file no longer has {some(removed)}, which earlier runs copied or created.",
            matters="Their copies stay on the target as they are: no run continues or validates them, and a cutover "
            "moves no group to them.",
        ),
    )
