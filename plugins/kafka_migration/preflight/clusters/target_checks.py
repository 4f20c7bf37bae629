"""Checks of what the target's brokers do to new topics, and of MirrorMaker's own topics there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import KafkaCluster, TopicDescription
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.text.shortened import some
from kafka_migration.engines.mirrormaker2_topics import OwnTopics
from kafka_migration.preflight.scene.check import (
    NO_DESCRIBE_CONFIGS,
    Asked,
    Fact,
    Findings,
    NotApplicable,
    UnknownFact,
    check,
    unknown_finding,
    without_mirrormaker,
)
from kafka_migration.preflight.scene.scene import Scene, asked_once

Brokers = Mapping[int, Mapping[str, str]]
"""The settings of each broker, by its id."""

AUTO_CREATE = "auto.create.topics.enable"


def _strictest(values: Iterable[str], choose: Callable[[list[int]], int]) -> str | None:
    numbers = [int(value) for value in values if value.lstrip("-").isdecimal()]
    return str(choose(numbers)) if numbers else None


def _with_compaction(values: Iterable[str]) -> str | None:
    """Return a policy that compacts if any broker has one."""
    return next(iter(sorted(values, key=lambda value: "compact" not in value)), None)


# The settings that a topic without its own value takes from its broker: their name there, and the value that limits
# most, because brokers may differ.
_DEFAULTS: Mapping[str, tuple[str, Callable[[Iterable[str]], str | None]]] = {
    "max.message.bytes": ("message.max.bytes", lambda values: _strictest(values, min)),
    "min.insync.replicas": ("min.insync.replicas", lambda values: _strictest(values, max)),
    "cleanup.policy": ("log.cleanup.policy", _with_compaction),
    **{
        f"message.timestamp.{limit}.max.ms": (
            f"log.message.timestamp.{limit}.max.ms",
            lambda values: _strictest(values, min),
        )
        for limit in ("before", "after", "difference")
    },
}
BROKER_SETTINGS = (AUTO_CREATE, *(name for name, _ in _DEFAULTS.values()))


@asked_once
def target_brokers(scene: Scene) -> Brokers:
    """Return the settings of the target's brokers; empty if the login may not read them."""
    try:
        return scene.target.broker_settings(*BROKER_SETTINGS)
    except Refused:
        return {}


def topic_defaults(brokers: Brokers) -> dict[str, str]:
    """Return the settings of a topic that has none itself; what no broker shows is missing."""
    found = {
        topic_setting: choose([settings[name] for settings in brokers.values() if name in settings])
        for topic_setting, (name, choose) in _DEFAULTS.items()
    }
    return {name: value for name, value in found.items() if value is not None}


_NOT_READ = UnknownFact(
    Fact(
        "which settings new topics get from the brokers, and whether brokers create each topic that a client asks for",
        "A topic that the run creates may refuse or delete copied records, or a client may create it first.",
    ),
    NO_DESCRIBE_CONFIGS,
    "Grant DescribeConfigs to the user of the connection, or look at the brokers' settings yourself.",
)


@check("brokers", asks={Asked.TARGET}, needs=("clusters",), unless=without_mirrormaker, warns=True)
def brokers(scene: Scene) -> Findings:
    """The target's brokers create no topic by themselves, and their defaults for new topics are known."""
    if not any(target_brokers(scene).values()):
        yield unknown_finding("the brokers' settings on the target", _NOT_READ)
    yield from auto_create_warnings(target_brokers(scene))


def auto_create_warnings(brokers: Brokers) -> Findings:
    """Warn if brokers create each topic that a client asks for."""
    creating = sum(settings.get(AUTO_CREATE) == "true" for settings in brokers.values())
    if creating:
        yield Finding(
            Code.TOPICS_AUTO_CREATED,
            "target",
            f"{AUTO_CREATE} true on {creating} of {len(brokers)} brokers",
            "false until the cutover",
            f"Set {AUTO_CREATE} to false on the target's brokers until the cutover.",
            happened=f"{creating} of {len(brokers)} brokers of the target create each topic that a client asks for "
            f"({AUTO_CREATE}).",
            matters="A client that starts too early, or names a wrong topic, creates a topic with the brokers' default "
            "partitions and settings, and a run then refuses to copy into it.",
        )


# The settings that decide; Kafka Connect refuses some of their values.
POLICY, MIN_INSYNC = "cleanup.policy", "min.insync.replicas"


@check("own topics", asks={Asked.TARGET}, needs=("clusters",), unless=without_mirrormaker)
def own_topics(scene: Scene) -> Findings:
    """Topics of MirrorMaker 2's own that exist on the target have the settings with which it starts."""
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
