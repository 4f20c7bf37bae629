"""Limits of the target that would refuse or delete copied records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.shortened import some

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
# Java's largest long, the default of the timestamp limits: no limit.
_UNLIMITED = 2**63 - 1
# More than a thousand years: a later time has no date, so no cluster can be asked for its records.
_FARTHEST_MS = 1_000 * 365 * 86_400_000
Configs = Mapping[str, Mapping[str, str]]


def collision_findings(migration: Migration, new: Iterable[str], existing: Collection[str]) -> Iterator[Finding]:
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
                "Kafka refuses to create the topic. Leave one of the topics out, or rename the copies "
                "(mirror.topic_names).",
            )


def replica_findings(migration: Migration, created: Iterable[NewTopic], default: str) -> Iterator[Finding]:
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
                f"Raise replication_factor of the topic or the target, or set {_MIN_INSYNC} in its configs. "
                "Otherwise the brokers refuse every record.",
            )


def replica_warnings(migration: Migration, created: Iterable[NewTopic], default: str) -> Iterator[Finding]:
    """Warn of each topic to which no client can write as soon as one of its brokers is down."""
    for name, replicas, least in _replicas(migration, created, default):
        if least.isdecimal() and replicas == int(least) > 1:
            yield Finding(
                Code.REPLICATION_AT_MIN_INSYNC,
                name,
                f"replication factor {replicas} with {_MIN_INSYNC} {least}",
                f"at least {replicas + 1} replicas",
                f"Raise replication_factor of the topic or the target, or lower {_MIN_INSYNC}. Otherwise the topic "
                "takes no records while one of its brokers is down.",
            )


def _replicas(migration: Migration, created: Iterable[NewTopic], default: str) -> Iterator[tuple[str, int, str]]:
    """Yield name, replicas and `min.insync.replicas` of the topics that a run creates."""
    for topic in created:
        least = topic.configs.get(_MIN_INSYNC, default)
        yield f"topic {migration.target_topic(topic.topic)}", topic.replication_factor, least
    if migration.mirror.abilities.has_own_positions:
        yield "MirrorMaker's internal topics", migration.target_replication_factor, default


def limits_of_new(created: Iterable[NewTopic], defaults: Mapping[str, str]) -> dict[str, Mapping[str, str]]:
    """Return the limits that new topics will have, with the defaults of the brokers."""
    wanted = {topic.topic: {**defaults, **topic.configs} for topic in created}
    return {topic: {name: values[name] for name in LIMITS if name in values} for topic, values in wanted.items()}


def limit_warnings(migration: Migration, source: Configs, target: Configs) -> Iterator[Finding]:
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


def _smaller(migration: Migration, source: Configs, target: Configs) -> Iterator[Finding]:
    for topic, (limit, smallest) in lowered_limits(source, target).items():
        of_another = "" if smallest == topic else f" of topic {migration.target_topic(smallest)}"
        yield Finding(
            Code.RECORD_LIMIT_LOWER,
            f"topic {migration.target_topic(topic)}",
            f"max.message.bytes {limit:,}{of_another} on the target",
            f"at least {_number(source[topic], 'max.message.bytes'):,}, as on the source",
            "Raise it on the target (max.message.bytes in the topic's configs). A larger record stops MirrorMaker, "
            "whose requests are limited by the smallest limit of all topics.",
        )


def large_record_findings(
    migration: Migration, lowered: Mapping[str, tuple[int, str]], largest: Mapping[str, int]
) -> Iterator[Finding]:
    """Name each topic of which a sampled record is larger than MirrorMaker may send.

    `largest` are the bytes of the largest sampled record by topic.
    """
    for topic, size in largest.items():
        if topic in lowered and size > lowered[topic][0]:
            limit, smallest = lowered[topic]
            yield Finding(
                Code.RECORD_ABOVE_LIMIT,
                f"topic {topic}",
                f"a record of {size:,} bytes among its newest on the source",
                f"at most {limit:,} bytes, max.message.bytes of topic {migration.target_topic(smallest)} on the target",
                "Raise max.message.bytes of this topic on the target. MirrorMaker cannot copy the record.",
            )


def late_record_warnings(migration: Migration, limits: Mapping[str, int], later: Collection[str]) -> Iterator[Finding]:
    """Warn of each topic whose records have later timestamps than the target takes.

    `limits` are the milliseconds after now that the target takes, by topic; `later` are the topics of the source with
    later records.
    """
    for topic in later:
        yield Finding(
            Code.TIMESTAMPS_LIMITED,
            f"topic {migration.target_topic(topic)}",
            f"{AFTER_LIMIT} {limits[topic]:,} on the target, and records with later timestamps on the source",
            "no limit for late timestamps",
            "Remove the limit until the cutover. The target refuses these records, which stops MirrorMaker.",
        )


def after_limits(target: Configs) -> dict[str, int]:
    """Return the topics with a limit for late timestamps, in milliseconds after now."""
    found = {topic: _number(configs, AFTER_LIMIT) for topic, configs in target.items()}
    return {topic: limit for topic, limit in found.items() if limit is not None and 0 <= limit < _FARTHEST_MS}


def _shorter(name: str, wanted: Mapping[str, str], found: Mapping[str, str]) -> Iterator[Finding]:
    for setting in ("retention.ms", "retention.bytes"):
        there, here = _number(wanted, setting), _number(found, setting)
        # -1 stands for no limit.
        if there is not None and here is not None and here >= 0 and (there < 0 or here < there):
            yield Finding(
                Code.TARGET_RETENTION_SHORTER,
                name,
                f"{setting} {here:,} on the target",
                f"{setting} {there:,}, as on the source, or -1 until the cutover",
                "Raise it on the target. Otherwise the target deletes copied records that the source still has.",
            )


def _compacting(name: str, wanted: Mapping[str, str], found: Mapping[str, str]) -> Iterator[Finding]:
    there, here = wanted.get("cleanup.policy", "compact"), found.get("cleanup.policy", "")
    if "compact" in here and "compact" not in there:
        yield Finding(
            Code.TARGET_COMPACTS,
            name,
            f"cleanup.policy {here} on the target",
            f"{there}, as on the source",
            "Set it on the target (cleanup.policy in the topic's configs). Otherwise the target deletes copied records "
            "whose key has a newer record.",
        )


def _younger(name: str, found: Mapping[str, str]) -> Iterator[Finding]:
    for setting in _TIMESTAMPS:
        limit = _number(found, setting)
        if limit is not None and limit < _UNLIMITED:
            yield Finding(
                Code.TIMESTAMPS_LIMITED,
                name,
                f"{setting} {limit:,} on the target",
                "no limit for old timestamps",
                "Remove the limit until the cutover (for a new topic: in the configs of its item). The target refuses "
                "older records, which stops MirrorMaker.",
            )


def _number(configs: Mapping[str, str], name: str) -> int | None:
    """Return a setting as a number; `None` if it is not known."""
    try:
        return int(configs[name])
    except (KeyError, ValueError):
        return None
