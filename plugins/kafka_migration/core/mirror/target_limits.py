"""Limits of the target that would refuse or delete copied records."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.brief import some

# The settings that `limit_warnings` compares. A broker has those of its version: `before.max.ms` since Kafka 3.6,
# `difference.max.ms` before 4.0.
LIMITS = (
    "max.message.bytes",
    "retention.ms",
    "retention.bytes",
    "message.timestamp.before.max.ms",
    "message.timestamp.difference.max.ms",
)
_TIMESTAMPS = ("message.timestamp.before.max.ms", "message.timestamp.difference.max.ms")
# Java's largest long, the default of the timestamp limits: no limit.
_UNLIMITED = 2**63 - 1
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


def replica_findings(migration: Migration, created: Iterable[NewTopic]) -> Iterator[Finding]:
    """Name each topic that would be created with fewer replicas than its `min.insync.replicas`."""
    for topic in created:
        least = topic.configs.get("min.insync.replicas", "")
        if least.isdecimal() and topic.replication_factor < int(least):
            yield Finding(
                Code.REPLICATION_BELOW_MIN_INSYNC,
                f"topic {migration.target_topic(topic.topic)}",
                f"replication factor {topic.replication_factor} with min.insync.replicas {least}",
                f"at least {least} replicas",
                "Raise replication_factor of the topic or the target, or set min.insync.replicas in its configs. "
                "Otherwise the brokers refuse every record.",
            )


def limit_warnings(migration: Migration, source: Configs, target: Configs) -> Iterator[Finding]:
    """Warn of each existing topic that takes smaller or younger records than its source, or keeps them less long.

    Both sides give the effective settings of topics that this migration did not create.
    """
    for topic, found in target.items():
        name = f"topic {migration.target_topic(topic)}"
        wanted = source.get(topic, {})
        yield from _smaller(name, wanted, found)
        yield from _shorter(name, wanted, found)
        yield from _younger(name, found)


def _smaller(name: str, wanted: Mapping[str, str], found: Mapping[str, str]) -> Iterator[Finding]:
    there, here = _number(wanted, "max.message.bytes"), _number(found, "max.message.bytes")
    if there is not None and here is not None and here < there:
        yield Finding(
            Code.RECORD_LIMIT_LOWER,
            name,
            f"max.message.bytes {here:,} on the target",
            f"at least {there:,}, as on the source",
            "Raise it on the target. A larger batch of records would stop MirrorMaker.",
        )


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


def _younger(name: str, found: Mapping[str, str]) -> Iterator[Finding]:
    for setting in _TIMESTAMPS:
        limit = _number(found, setting)
        if limit is not None and limit < _UNLIMITED:
            yield Finding(
                Code.TIMESTAMPS_LIMITED,
                name,
                f"{setting} {limit:,} on the target",
                "no limit for old timestamps",
                "Remove the limit until the cutover. The target refuses records that are older, which stops "
                "MirrorMaker.",
            )


def _number(configs: Mapping[str, str], name: str) -> int | None:
    """Return a setting as a number; `None` if it is not known."""
    try:
        return int(configs[name])
    except (KeyError, ValueError):
        return None
