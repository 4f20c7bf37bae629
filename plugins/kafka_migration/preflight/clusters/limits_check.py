"""The check of what the target allows for the topics of the copy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import timedelta

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.migration.settings import Migration, Mode
from kafka_migration.core.mirror.engine import DEFAULT_MAX_MESSAGE_BYTES
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.engines.mirrormaker2_topics import has_own_topics
from kafka_migration.preflight.clusters.target_checks import target_brokers, topic_defaults
from kafka_migration.preflight.scene.check import BOTH, Findings, check, without_mirrormaker
from kafka_migration.preflight.scene.scene import Scene, asked_once, new_topics, newest_records, topics_of

AFTER_LIMIT = "message.timestamp.after.max.ms"
# The settings that are compared. A broker has those of its version: `before.max.ms` and `after.max.ms` since Kafka 3.6,
# `difference.max.ms` before 4.0.
LIMITS = (
    AFTER_LIMIT,
    "max.message.bytes",
    "cleanup.policy",
    "retention.ms",
    "retention.bytes",
    "message.timestamp.before.max.ms",
    "message.timestamp.difference.max.ms",
)
_TIMESTAMPS = ("message.timestamp.before.max.ms", "message.timestamp.difference.max.ms")
_MIN_INSYNC = "min.insync.replicas"
_IF_NEW = "For a topic that the run creates, change it in the configs of its item."
# Java's largest long, the default of the timestamp limits: no limit.
_UNLIMITED = 2**63 - 1
_DAY_MS = 86_400_000
# More than a thousand years: a later time has no date, so no cluster can be asked for its records.
_FARTHEST_MS = 1_000 * 365 * _DAY_MS
# A sample of more topics would take long; their limits are warnings in any case.
MAX_SAMPLED = 20
Configs = Mapping[str, Mapping[str, str]]


@asked_once
def limits_of_sides(scene: Scene) -> tuple[Configs, Configs]:
    """Return the limits of the topics on both sides, on the target also those that new topics will have."""
    source, target = topics_of(scene, "source"), topics_of(scene, "target")
    topics = [topic for topic in scene.migration.topics if topic in source]
    existing = [topic for topic in topics if topic in target]
    new = limits_of_new(new_topics(scene), topic_defaults(target_brokers(scene)))
    return (
        scene.source.effective_configs(topics, *LIMITS),
        {**scene.target.effective_configs(existing, *LIMITS), **new},
    )


def largest_request(scene: Scene) -> int:
    """Return the size of the largest request to the target: the smallest limit of its topics."""
    found = limits_of_sides(scene)[1].values()
    limits = [limit for each in found if (limit := _number(each, "max.message.bytes"))]
    return min(limits, default=DEFAULT_MAX_MESSAGE_BYTES)


def _warn(scene: Scene) -> Findings:
    yield from replica_warnings(scene.migration, new_topics(scene), _min_insync(scene))
    source, target = limits_of_sides(scene)
    yield from limit_warnings(scene.migration, source, target)
    limits = after_limits(target)
    yield from late_record_warnings(scene.migration, limits, _with_later_records(scene, limits))


@check("limits", asks=BOTH, needs=("topics",), warn=_warn, unless=without_mirrormaker)
def topic_limits(scene: Scene) -> Findings:
    """Names, replicas and limits of the topics on the target allow the copy."""
    if scene.mode is Mode.INTERVAL:
        return
    created = new_topics(scene)
    if created:
        yield from collision_findings(scene.migration, [topic.topic for topic in created], _names_on_target(scene))
    yield from replica_findings(scene.migration, created, _min_insync(scene))
    lowered = lowered_limits(*limits_of_sides(scene))
    if lowered:
        sampled = newest_records(scene, tuple(lowered)[:MAX_SAMPLED])
        largest = {topic: max(record.size for record in records) for topic, records in sampled.items() if records}
        yield from large_record_findings(scene.migration, lowered, largest)


def _names_on_target(scene: Scene) -> frozenset[str]:
    """Return the real names of all topics on the target, which shows those of the migration by their source names."""
    own = {*scene.run.whole_migration.topics, *scene.ledger.copied_topics}
    shown = scene.target.topic_names()
    return frozenset(scene.migration.target_topic(name) if name in own else name for name in shown)


def _min_insync(scene: Scene) -> str:
    return topic_defaults(target_brokers(scene)).get(_MIN_INSYNC, "")


def _with_later_records(scene: Scene, limits: Mapping[str, int]) -> list[str]:
    """Return the topics whose source has a record with a later timestamp than the target takes now."""
    found: set[str] = set()
    for limit in set(limits.values()):
        topics = (topics_of(scene, "source")[topic] for topic, own in limits.items() if own == limit)
        partitions = [partition for topic in topics for partition in topic.topic_partitions]
        # Read the ends first: without such a record, the offset for a time is a later end.
        ends = scene.source.log_end_offsets(partitions, "read_uncommitted")
        after = scene.now + timedelta(milliseconds=limit)
        late = scene.source.offsets_for_time(partitions, after, "read_uncommitted")
        found |= {partition.topic for partition, offset in late.items() if offset < ends.get(partition, 0)}
    return sorted(found)


def collision_findings(migration: Migration, new: Iterable[str], existing: Collection[str]) -> Findings:
    """Name each new topic whose target name collides with another topic: Kafka takes `.` and `_` for the same letter.

    `new` are topics that the target lacks, `existing` all names on the target.
    """
    alike = defaultdict[str, set[str]](set)
    created = {topic: migration.target_topic(topic) for topic in new}
    for name in (*existing, *created.values()):
        alike[name.replace(".", "_")].add(name)
    for name in created.values():
        if others := alike[name.replace(".", "_")] - {name}:
            yield Finding(
                Code.TOPIC_NAME_COLLIDES,
                f"topic {name}",
                f"{some(sorted(others))}, which differs from it only by a dot and an underscore",
                "a name that Kafka can tell from all other names on the target",
                "Leave one of the topics out of the migration file, or rename the copies (mirror.topic_names).",
                happened=f"The name {name} differs from {some(sorted(others))} on the target only by a dot and an "
                "underscore.",
                matters="Kafka takes both for the same name and refuses to create the topic.",
            )


def replica_findings(migration: Migration, created: Iterable[NewTopic], default: str) -> Findings:
    """Name each topic that would be created with fewer replicas than its `min.insync.replicas`.

    `default` is that of the brokers, empty if unknown. MirrorMaker 2 creates its internal topics with it.
    """
    for name, replicas, least in _replicas(migration, created, default):
        if least.isdecimal() and replicas < int(least):
            yield Finding(
                Code.REPLICATION_BELOW_MIN_INSYNC,
                name,
                f"replication factor {replicas} with {_MIN_INSYNC} {least}",
                f"at least {least} replicas",
                "Raise target.replication_factor or replication_factor of the topic's item, or set a lower "
                f"{_MIN_INSYNC} in the configs of the item.",
                happened=f"The run would create {name} with {replicas} replica(s), but with {_MIN_INSYNC} {least}.",
                matters="The brokers would refuse every record, so MirrorMaker would copy nothing.",
            )


def replica_warnings(migration: Migration, created: Iterable[NewTopic], default: str) -> Findings:
    """Warn of each topic to which no client can write as soon as one of its brokers is down."""
    for name, replicas, least in _replicas(migration, created, default):
        if least.isdecimal() and replicas == int(least) > 1:
            yield Finding(
                Code.REPLICATION_AT_MIN_INSYNC,
                name,
                f"replication factor {replicas} with {_MIN_INSYNC} {least}",
                f"at least {replicas + 1} replicas",
                "Raise target.replication_factor or replication_factor of the topic's item, or set a lower "
                f"{_MIN_INSYNC} in the configs of the item.",
                happened=f"The run would create {name} with {replicas} replicas and {_MIN_INSYNC} {least}.",
                matters="No client can write to it while a broker with a replica is down, for example for an update.",
            )


def _replicas(migration: Migration, created: Iterable[NewTopic], default: str) -> Iterator[tuple[str, int, str]]:
    """Yield name, replicas and `min.insync.replicas` of the topics that a run creates."""
    for topic in created:
        least = topic.configs.get(_MIN_INSYNC, default)
        yield f"topic {migration.target_topic(topic.topic)}", topic.replication_factor, least
    if has_own_topics(migration):
        yield "MirrorMaker's internal topics", migration.target_replication_factor, default


def limits_of_new(created: Iterable[NewTopic], defaults: Mapping[str, str]) -> dict[str, Mapping[str, str]]:
    """Return the limits that new topics will have, with the defaults of the brokers."""
    wanted = {topic.topic: {**defaults, **topic.configs} for topic in created}
    return {topic: {name: values[name] for name in LIMITS if name in values} for topic, values in wanted.items()}


def limit_warnings(migration: Migration, source: Configs, target: Configs) -> Findings:
    """Warn of each topic that takes smaller or younger records than its source, keeps them less long, or compacts.

    Both sides give the effective settings; on the target also those that a new topic will have.
    """
    yield from _smaller(migration, source, target)
    for topic, found in target.items():
        name = f"topic {migration.target_topic(topic)}"
        wanted = source.get(topic, {})
        yield from _shorter(name, wanted, found)
        yield from _compacting(name, wanted, found)
        yield from _younger(name, found)


def lowered_limits(source: Configs, target: Configs) -> dict[str, tuple[int, str]]:
    """Return the topics of the source with larger records than MirrorMaker may send, with its limit and why.

    MirrorMaker's requests are limited for all topics by the smallest `max.message.bytes` of the target's topics, given
    with the topic that has it.
    """
    limits = [(limit, topic) for topic, found in target.items() if (limit := _number(found, "max.message.bytes"))]
    if not limits:
        return {}
    smallest = min(limits)
    allowed = {topic: _number(found, "max.message.bytes") for topic, found in source.items()}
    return {topic: smallest for topic, limit in allowed.items() if limit is not None and limit > smallest[0]}


def _smaller(migration: Migration, source: Configs, target: Configs) -> Findings:
    for topic, (limit, smallest) in lowered_limits(source, target).items():
        name, other = migration.target_topic(topic), migration.target_topic(smallest)
        wanted = f"{_number(source[topic], 'max.message.bytes'):,}"
        yield Finding(
            Code.RECORD_LIMIT_LOWER,
            f"topic {name}",
            f"max.message.bytes {limit:,}{'' if smallest == topic else f' of topic {other}'} on the target",
            f"at least {wanted}, as on the source",
            f"Raise max.message.bytes of topic {other} on the target. {_IF_NEW}",
            happened=f"Records of {name} may have {wanted} bytes on the source, but MirrorMaker can send only "
            f"{limit:,}, the smallest max.message.bytes of the target's topics (that of {other}).",
            matters="A larger record stops MirrorMaker, because this limit holds for its requests to all topics.",
        )


def large_record_findings(
    migration: Migration, lowered: Mapping[str, tuple[int, str]], largest: Mapping[str, int]
) -> Findings:
    """Name each topic of which a sampled record is larger than MirrorMaker may send.

    `largest` are the bytes of the largest sampled record by topic.
    """
    for topic, size in largest.items():
        if topic in lowered and size > lowered[topic][0]:
            limit, smallest = lowered[topic]
            other = migration.target_topic(smallest)
            yield Finding(
                Code.RECORD_ABOVE_LIMIT,
                f"topic {topic}",
                f"a record of {size:,} bytes among its newest on the source",
                f"at most {limit:,} bytes, max.message.bytes of topic {other} on the target",
                f"Raise max.message.bytes of topic {other} on the target. {_IF_NEW}",
                happened=f"One of the newest records of {topic} on the source has {size:,} bytes, but MirrorMaker can "
                f"send only {limit:,}, max.message.bytes of topic {other} on the target.",
                matters="MirrorMaker would stop at this record and copy nothing after it.",
            )


def late_record_warnings(migration: Migration, limits: Mapping[str, int], later: Collection[str]) -> Findings:
    """Warn of each topic whose records have later timestamps than the target takes.

    `limits` are the milliseconds after now that the target takes, by topic; `later` are the topics of the source with
    later records.
    """
    for topic in later:
        limit, name = f"{AFTER_LIMIT} {limits[topic]:,}", migration.target_topic(topic)
        yield Finding(
            Code.TIMESTAMPS_LIMITED,
            f"topic {name}",
            f"{limit} on the target, and records with later timestamps on the source",
            "no limit for late timestamps",
            f"Remove this setting from the target's topic, and set it again after the cutover. {_IF_NEW}",
            happened=f"Topic {name} has {limit} on the target, and the source holds records whose timestamps are "
            "further in the future.",
            matters="The target would refuse these records, and MirrorMaker would stop.",
        )


def after_limits(target: Configs) -> dict[str, int]:
    """Return the topics with a limit for late timestamps, in milliseconds after now."""
    found = {topic: _number(configs, AFTER_LIMIT) for topic, configs in target.items()}
    return {topic: limit for topic, limit in found.items() if limit is not None and 0 <= limit < _FARTHEST_MS}


def _shorter(name: str, wanted: Mapping[str, str], found: Mapping[str, str]) -> Findings:
    for setting in ("retention.ms", "retention.bytes"):
        there, here = _number(wanted, setting), _number(found, setting)
        # -1 stands for no limit.
        if there is not None and here is not None and here >= 0 and (there < 0 or here < there):
            yield Finding(
                Code.TARGET_RETENTION_SHORTER,
                name,
                f"{setting} {here:,} on the target",
                f"{setting} {there:,}, as on the source, or -1 until the cutover",
                f"Raise {setting} of the target's topic, or set it to -1 until the cutover. {_IF_NEW}",
                happened=f"The target keeps records of {name} {_kept(setting, here)}, the source "
                f"{_kept(setting, there)} ({setting}).",
                matters="The target deletes copied records that the source still has.",
            )


def _kept(setting: str, value: int) -> str:
    """Return a retention as a person reads it; -1 stands for no limit."""
    if value < 0:
        return "without a limit"
    if setting == "retention.bytes":
        return f"up to {value:,} bytes per partition"
    return f"for {value / _DAY_MS:.4g} day(s)" if value >= _DAY_MS else f"for {duration(value / 1000)}"


def _compacting(name: str, wanted: Mapping[str, str], found: Mapping[str, str]) -> Findings:
    there, here = wanted.get("cleanup.policy", "compact"), found.get("cleanup.policy", "")
    if "compact" in here and "compact" not in there:
        yield Finding(
            Code.TARGET_COMPACTS,
            name,
            f"cleanup.policy {here} on the target",
            f"{there}, as on the source",
            f"Set cleanup.policy {there} on the target's topic. {_IF_NEW}",
            happened=f"The target compacts {name} (cleanup.policy {here}), but the source does not ({there}).",
            matters="The target deletes copied records whose key has a newer record.",
        )


def _younger(name: str, found: Mapping[str, str]) -> Findings:
    for setting in _TIMESTAMPS:
        limit = _number(found, setting)
        if limit is not None and limit < _UNLIMITED:
            yield Finding(
                Code.TIMESTAMPS_LIMITED,
                name,
                f"{setting} {limit:,} on the target",
                "no limit for old timestamps",
                f"Remove this setting from the target's topic, and set it again after the cutover. {_IF_NEW}",
                happened=f"The target takes no records of {name} with old timestamps ({setting} {limit:,}).",
                matters="If the source holds older records, the target would refuse them, and MirrorMaker would stop.",
            )


def _number(configs: Mapping[str, str], name: str) -> int | None:
    """Return a setting as a number; `None` if it is not known."""
    try:
        return int(configs[name])
    except (KeyError, ValueError):
        return None
