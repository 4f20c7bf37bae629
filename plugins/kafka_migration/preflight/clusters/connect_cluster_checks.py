"""Checks of what the target shows of the workers of a Kafka Connect cluster: their group and their topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.migration.settings import ConnectSettings
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.preflight.clusters.heap_check import partition_count
from kafka_migration.preflight.scene.check import BOTH, Asked, Findings, NotApplicable, check, without_connect
from kafka_migration.preflight.scene.scene import Scene, asked_once, facts

CONFIG_TOPIC = "config_topic"
# The fields that need not name a topic, and what they name.
_OPTIONAL = {CONFIG_TOPIC: "config.storage.topic", "offset_topic": "offset.storage.topic"}
# What replicates records durably, if there are as many brokers.
REPLICAS = 3
_POLICY = "cleanup.policy"
FLUSH_INTERVAL = "offset.flush.interval.ms"


@dataclass(frozen=True, slots=True)
class WorkerAddresses:
    """The REST addresses of the workers, as their group names them; without any, `why_unknown` is the reason."""

    addresses: tuple[str, ...] = ()
    why_unknown: str = ""
    remedy: str = ""


NO_GROUP = WorkerAddresses(
    why_unknown="the migration file does not name the group of the workers",
    remedy="Set mirror.connect.group to the group.id of the workers.",
)


@asked_once
def worker_addresses(scene: Scene) -> WorkerAddresses:
    """Return the addresses of the workers in the group that the migration file names."""
    settings = scene.migration.mirror.connect
    if settings is None or settings.group is None:
        return NO_GROUP
    named = group_subject(settings.group)
    try:
        found = scene.target.connect_workers(settings.group)
    except TransientError as error:
        return WorkerAddresses((), str(error), "Run preflight again when the workers do not rebalance.")
    except Refused as refused:
        return WorkerAddresses((), refused.findings[0].found, f"Grant Describe on the {named} on the target.")
    remedy = f"Correct mirror.connect.group, or grant Describe on the {named} on the target."
    return (
        WorkerAddresses(found) if found else WorkerAddresses((), f"the target shows no worker in the {named}", remedy)
    )


def _settings(scene: Scene) -> ConnectSettings:
    settings = scene.migration.mirror.connect
    if settings is None:
        raise NotApplicable("the migration file has no mirror.connect")
    return settings


def internal_topics(settings: ConnectSettings) -> dict[str, str]:
    """Return the internal topics of the workers that the file names, by its fields."""
    fields = {"status_topic": settings.status_topic, CONFIG_TOPIC: settings.config_topic}
    fields["offset_topic"] = settings.offset_topic
    return {field: topic for field, topic in fields.items() if topic is not None}


def _topics_warnings(scene: Scene) -> Findings:
    return unknown_settings_warnings(_settings(scene))


@check("connect topics", asks={Asked.TARGET}, needs=("clusters",), warn=_topics_warnings, unless=without_connect)
def connect_topics(scene: Scene) -> Findings:
    """The internal topics of the workers that the migration file names are compacted and replicated."""
    topics = internal_topics(_settings(scene))
    names = sorted(set(topics.values()))
    policies = {topic: found[_POLICY] for topic, found in scene.target.effective_configs(names, _POLICY).items()}
    described = scene.target.describe_topics(names)
    return internal_topic_findings(topics, described, policies, min(REPLICAS, facts(scene, "target").brokers))


def internal_topic_findings(
    topics: Mapping[str, str], described: Mapping[str, TopicDescription], policies: Mapping[str, str], replicas: int
) -> Findings:
    """Name each internal topic that is missing, not only compacted, or has fewer replicas than these."""
    for field, topic in topics.items():
        found = described.get(topic)
        if found is None:
            yield _missing(field, topic)
            continue
        for has, needs in _problems(found, policies.get(topic, "unknown"), replicas, is_config=field == CONFIG_TOPIC):
            happened = f"The internal topic {topic} of the workers has {has}, but it needs {needs}."
            yield _unsafe(field, topic, has, needs, happened)


def _missing(field: str, topic: str) -> Finding:
    happened = f"The target shows no topic {topic}, which mirror.connect.{field} names."
    return _unsafe(field, topic, "no topic on the target that the login may describe", "the workers' topic", happened)


def _problems(topic: TopicDescription, policy: str, replicas: int, *, is_config: bool) -> Iterator[tuple[str, str]]:
    """Yield what a topic has, and what it needs instead."""
    if policy != "compact":
        yield f"{_POLICY} {policy}", f"{_POLICY} compact"
    if topic.replicas is None or topic.replicas < replicas:
        number = "an unknown number of" if topic.replicas is None else topic.replicas
        yield f"{number} replica(s)", f"{replicas} replicas"
    if is_config and topic.partitions != 1:
        yield f"{topic.partitions:,} partitions", "1 partition, as each config.storage.topic has"


def _unsafe(field: str, topic: str, has: str, needs: str, happened: str) -> Finding:
    return Finding(
        Code.CONNECT_TOPIC_UNSAFE,
        f"topic {topic} (mirror.connect.{field})",
        has,
        needs,
        f"Correct mirror.connect.{field}, or let those who operate the workers give the topic {needs}.",
        happened=happened,
        matters="The workers keep connectors, positions and states in such topics. If they lose some, they forget "
        "connectors, or it is unknown which tasks were restarted.",
    )


def unknown_settings_warnings(settings: ConnectSettings) -> Findings:
    """Warn of the settings of the workers that neither REST nor the migration file tells, all in one finding."""
    named = internal_topics(settings)
    missing = {field: name for field, name in _OPTIONAL.items() if field not in named}
    providers = f"config.providers (needed: {', '.join(_providers(settings))})"
    unknown = [*missing.values(), *([providers] if settings.secrets else []), FLUSH_INTERVAL]
    fields = " and ".join(f"mirror.connect.{field}" for field in missing)
    yield Finding(
        Code.CONNECT_UNKNOWN,
        "the settings of the workers",
        f"no word of {', '.join(unknown)}",
        "settings that the migration file names or that you have looked at",
        (f"Name {fields}, so that they are checked. " if missing else "")
        + f"Look at {' and '.join(unknown)} of the workers, and accept CONNECT_UNKNOWN if you know their settings.",
        happened=f"It is unknown what {' and '.join(unknown)} of the workers are: REST does not tell it.",
        matters=" ".join(_consequences(missing, settings)),
    )


def _providers(settings: ConnectSettings) -> list[str]:
    """Return the config providers that the references name, such as `file` of `${file:/etc/shop.properties:source}`."""
    references = [each for of_side in settings.secrets.values() for each in of_side.values()]
    return sorted({each.removeprefix("${").partition(":")[0] for each in references})


def _consequences(missing: Mapping[str, str], settings: ConnectSettings) -> Iterator[str]:
    if missing:
        yield "If a topic is not compacted or has too few replicas, the workers may forget connectors."
    if settings.secrets:
        yield (
            "If a worker lacks a provider that a reference names, or the provider lacks the key, Connect takes the "
            "text of the reference for the secret, and the tasks fail at the start."
        )
    yield (
        "If a worker is killed, its tasks copy again what they copied since they last stored positions, which "
        f"{FLUSH_INTERVAL} (60 s by default) bounds."
    )


@check("connect tasks", asks=BOTH, needs=("topics",), unless=without_connect, warns=True)
def connect_tasks(scene: Scene) -> Findings:
    """The connector has a task for each worker, if there are as many partitions."""
    workers = worker_addresses(scene)
    if not workers.addresses:
        raise NotApplicable(f"the number of workers is unknown: {workers.why_unknown}")
    return task_findings(scene.migration.mirror.tasks, partition_count(scene), len(workers.addresses))


def task_findings(tasks: int, partitions: int, workers: int) -> Findings:
    """Advise one task per worker, and no more than partitions, if there are fewer.

    Kafka Connect spreads the tasks over the workers, and MirrorMaker the partitions over the tasks. With fewer tasks
    than workers some workers have nothing to copy.
    """
    useful = min(partitions, workers)
    if tasks < useful:
        yield Finding(
            Code.CONNECT_TASKS,
            "mirror.tasks",
            f"{tasks:,} task(s) for {partitions:,} partition(s) and {workers:,} workers",
            f"{useful:,} tasks",
            f"Set mirror.tasks to {useful}. A multiple of the number of workers loads them alike.",
            happened=f"The connector has {tasks:,} task(s), but there are {workers:,} workers and {partitions:,} "
            "partition(s).",
            matters=f"Only {tasks:,} of the workers copy, so the copy takes longer than it could.",
        )
