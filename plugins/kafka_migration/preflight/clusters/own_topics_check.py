"""Topics of MirrorMaker 2's own that exist on the target have the settings with which it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import KafkaCluster, TopicDescription
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.text.shortened import some
from kafka_migration.engines.mirrormaker2_topics import OwnTopics
from kafka_migration.preflight.scene.check import Asked, Check, Findings, NotApplicable, without_mirrormaker
from kafka_migration.preflight.scene.scene import Scene

# The settings that decide; Kafka Connect refuses some of their values.
POLICY, MIN_INSYNC = "cleanup.policy", "min.insync.replicas"


def _check(scene: Scene) -> Findings:
    last = scene.ledger.last_generation
    seen = own_topics_seen(scene.migration, last.number if last else 0, scene.target)
    if seen.unseen and not seen.findings:
        raise NotApplicable(f"the login may not describe {some(seen.unseen)}")
    return seen.findings


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
        return _finding(own, topic.topic, f"{POLICY}={policy}", f"{POLICY}=compact", f"{POLICY}=compact")
    if topic.topic.startswith("mm2-configs.") and topic.partitions != 1:
        return _finding(own, topic.topic, f"{topic.partitions} partitions", "one partition", "")
    if topic.replicas is not None and in_sync.isdecimal() and int(in_sync) > topic.replicas:
        found, expected = f"{topic.replicas} replica(s) with {MIN_INSYNC}={in_sync}", "enough replicas for its writes"
        return _finding(own, topic.topic, found, expected, f"{MIN_INSYNC}={topic.replicas}")
    return None


def _finding(own: OwnTopics, topic: str, found: str, expected: str, config: str) -> Finding:
    """Return the finding of a topic; `config` corrects it, unless it is of no use and is deleted."""
    tool = "kafka-topics.sh" if topic in own.fresh else "kafka-configs.sh"
    change = (
        f"--delete --topic {shell_word(topic)}"
        if topic in own.fresh
        else f"--alter --entity-type topics --entity-name {shell_word(topic)} --add-config {config}"
    )
    return Finding(
        Code.MIRROR_TOPIC_UNFIT,
        f"topic {topic} on the target",
        found,
        expected,
        f"Run `{tool} --bootstrap-server <target> {change}` while no MirrorMaker of this migration runs. Then trigger "
        "the run again.",
        happened=f"MirrorMaker's own topic {topic} has {found}, but MirrorMaker 2 needs {expected}.",
        matters="MirrorMaker 2 keeps its state in this topic. It would not start, or could not write its state.",
    )


CHECK = Check("own topics", _check, asks={Asked.TARGET}, needs=("clusters",), unless=without_mirrormaker)
