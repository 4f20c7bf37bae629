"""Topics of MirrorMaker 2's own that exist on the target before a start; Kafka Connect refuses some settings."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import KafkaCluster, TopicDescription
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.shell import shell_word
from kafka_migration.engines.mirrormaker2_topics import InternalTopics, later_topics, offset_syncs_topic

# The settings that decide.
POLICY, MIN_INSYNC = "cleanup.policy", "min.insync.replicas"


@dataclass(frozen=True, slots=True)
class OwnTopics:
    """The existing topics that the next generation may use, by their content.

    `offsets` keeps the positions of all generations. `fresh` hold settings and states of a generation that has not
    started yet, so they are of no use. MirrorMaker only writes to `written`.
    """

    offsets: str
    fresh: Collection[str]
    written: Collection[str]

    @classmethod
    def of(cls, migration: Migration, last_generation: int, topics: Collection[str]) -> OwnTopics:
        """Return the names among `topics`; none if MirrorMaker has no topics of its own."""
        if migration.mirror.engine != "mirrormaker2":
            return cls("", (), ())
        written = {offset_syncs_topic(migration.source.alias)} & set(topics)
        offsets = InternalTopics.of(migration.name, 0).offsets
        return cls(offsets if offsets in topics else "", later_topics(migration.name, last_generation, topics), written)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*((self.offsets,) if self.offsets else ()), *self.fresh, *self.written)


@dataclass(frozen=True, slots=True)
class OwnTopicsSeen:
    """What would end MirrorMaker 2 at its start or keep it from writing, and the topics that may not be described."""

    findings: tuple[Finding, ...]
    unseen: tuple[str, ...]


def own_topics_seen(migration: Migration, last_generation: int, target: KafkaCluster) -> OwnTopicsSeen:
    """Look at the existing topics, each by itself: the login need not have the right to describe all of them."""
    own = OwnTopics.of(migration, last_generation, target.topic_names())
    findings, unseen = [], []
    for name in own.names:
        try:
            topic = target.describe_topics([name]).get(name)
            configs = target.effective_configs([name], POLICY, MIN_INSYNC).get(name, {})
        except Refused:
            unseen.append(name)
            continue
        if topic is not None and (unfit := _unfit(own, topic, configs)):
            findings.append(unfit)
    return OwnTopicsSeen(tuple(findings), tuple(unseen))


def _unfit(own: OwnTopics, topic: TopicDescription, configs: Mapping[str, str]) -> Finding | None:
    policy, in_sync = configs.get(POLICY, "compact"), configs.get(MIN_INSYNC, "")
    if topic.topic not in own.written and policy != "compact":
        return _finding(own, topic.topic, f"cleanup.policy={policy}", "cleanup.policy=compact", POLICY, "compact")
    if topic.topic.startswith("mm2-configs.") and topic.partitions != 1:
        return _finding(own, topic.topic, f"{topic.partitions} partitions", "one partition", "", "")
    if topic.replicas is not None and in_sync.isdecimal() and int(in_sync) > topic.replicas:
        found, expected = f"{topic.replicas} replica(s) with {MIN_INSYNC}={in_sync}", "enough replicas for its writes"
        return _finding(own, topic.topic, found, expected, MIN_INSYNC, str(topic.replicas))
    return None


def _finding(own: OwnTopics, topic: str, found: str, expected: str, setting: str, value: str) -> Finding:
    """Return the finding of a topic; `setting` and `value` correct it, unless it is of no use and is deleted."""
    tool = "kafka-topics.sh" if topic in own.fresh else "kafka-configs.sh"
    change = (
        f"--delete --topic {shell_word(topic)}"
        if topic in own.fresh
        else f"--alter --entity-type topics --entity-name {shell_word(topic)} --add-config {setting}={value}"
    )
    return Finding(
        Code.MIRROR_TOPIC_UNFIT,
        f"topic {topic} on the target",
        found,
        expected,
        f"Run `{tool} --bootstrap-server <target> {change}` while no MirrorMaker of this migration runs. Then trigger "
        "the run again.",
        happened=f"Topic {topic} on the target has {found}; MirrorMaker 2 needs {expected}.",
        matters="MirrorMaker 2 keeps its state in this topic, so it would not start, or could not write.",
    )
