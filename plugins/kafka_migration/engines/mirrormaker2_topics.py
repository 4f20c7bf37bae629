"""What MirrorMaker 2 keeps in its own topics on the target: positions, configuration, health.

The formats are those of Kafka Connect, seen on Kafka 3.9.1: JSON without a schema, keys as texts.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from kafka_migration.core.checkpoints import Checkpoint
from kafka_migration.core.engine import FailedTask
from kafka_migration.core.offsets import TopicPartition

CONNECTOR = "MirrorSourceConnector"
LONGEST_SHOWN = 100
Row = tuple[bytes | None, bytes | None]


@dataclass(frozen=True, slots=True)
class InternalTopics:
    """MirrorMaker's own topics on the target, by what they hold.

    They are named after the migration: two migrations never share one, and every run finds its own again.
    """

    offsets: str
    configs: str
    status: str

    @classmethod
    def of(cls, migration: str, generation: int) -> InternalTopics:
        """Return the names of one generation; the offsets topic is the same for all."""
        return cls(
            offsets=f"mm2-offsets.{migration}-source.internal",
            configs=f"mm2-configs.{migration}-source.g{generation}.internal",
            status=f"mm2-status.{migration}-source.g{generation}.internal",
        )


def stale_topics(migration: str, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
    """Return the configuration and status topics of generations before this one, out of all `topics`."""
    pattern = re.compile(rf"^mm2-(?:configs|status)\.{re.escape(migration)}-source\.g(\d+)\.internal$")
    numbered = ((topic, pattern.match(topic)) for topic in sorted(topics))
    return tuple(topic for topic, match in numbered if match and int(match[1]) < generation)


def stored_positions(rows: Iterable[Row], alias: str, topics: Collection[str]) -> dict[TopicPartition, int]:
    """Decode rows of the offsets topic into the next source offset to copy, per partition of these topics.

    MirrorMaker stores the offset of the last copied record, so next = stored + 1 (seen on Kafka 3.9.1). Rows
    of other connectors, other sources and other topics are left out; a row without a value was reset.
    """
    positions: dict[TopicPartition, int] = {}
    for key, value in rows:
        partition = _position_key(key, alias)
        if partition is not None and partition.topic in topics and value is not None:
            positions[partition] = int(json.loads(value)["offset"]) + 1
    return positions


def _position_key(key: bytes | None, alias: str) -> TopicPartition | None:
    if key is None:
        return None
    connector, source = json.loads(key)
    if connector != CONNECTOR or source.get("cluster") != alias:
        return None
    return TopicPartition(source["topic"], int(source["partition"]))


def checkpoints_topic(source_alias: str) -> str:
    """Return the topic on the target in which MirrorMaker keeps its checkpoints."""
    return f"{source_alias}.checkpoints.internal"


def stored_checkpoints(rows: Iterable[Row]) -> dict[tuple[str, TopicPartition], Checkpoint]:
    """Decode rows of the checkpoints topic, by group and partition of the target; a row without a value was reset.

    Kafka's protocol types, big-endian: key STRING group, STRING topic, INT32 partition; value INT16 version (0), INT64
    source offset, INT64 target offset, STRING metadata (the same from 2.4 to 4.x). A row that is none is left out.
    """
    found = {}
    for key, value in rows:
        with suppress(struct.error, UnicodeDecodeError):
            group, at = _text(key or b"", 0)
            topic, at = _text(key or b"", at)
            (number,) = struct.unpack_from(">i", key or b"", at)
            version, source, target = struct.unpack_from(">hqq", value or b"")
            if version == 0:
                found[group, TopicPartition(topic, number)] = Checkpoint(source, target)
    return found


def _text(content: bytes, at: int) -> tuple[str, int]:
    """Return a STRING and where it ends."""
    (length,) = struct.unpack_from(">h", content, at)
    end = at + 2 + length
    return content[at + 2 : end].decode(), end


def failed_tasks(rows: Iterable[Row]) -> tuple[FailedTask, ...]:
    """Decode rows of a generation's status topic; `status-topic-…` rows are of no interest."""
    failed = []
    for key, value in rows:
        name = (key or b"").decode()
        if value is None or not name.startswith(("status-connector-", "status-task-")):
            continue
        status = json.loads(value)
        if status["state"] == "FAILED":
            failed.append(FailedTask(name, status.get("trace") or ""))
    return tuple(sorted(failed, key=lambda task: task.name))


def assigned_partitions(rows: Iterable[Row]) -> frozenset[TopicPartition] | None:
    """Decode rows of a generation's configuration topic into the partitions that its tasks copy.

    `None` before there is any task. The list is `topic-0,topic-1`, so the last dash divides.
    """
    lists = (properties.get("task.assigned.partitions") for _, properties in _configurations(rows))
    given = [text for text in lists if text is not None]
    if not given:
        return None
    named = (name.rpartition("-") for text in given for name in text.split(",") if name)
    return frozenset(TopicPartition(topic, int(number)) for topic, _, number in named)


def differences(rows: Iterable[Row], expected: Mapping[str, str]) -> tuple[str, ...]:
    """Say where the copying connector and its tasks run with another configuration than the expected one.

    Rows of a generation's configuration topic in; nothing before the connector is there. Only expected keys are looked
    at, so that no login gets into a sentence; of the producer's limits, that none may send more than the other allows.
    """
    found = []
    for name, stored in _configurations(rows):
        differing = (key for key in sorted(expected) if stored.get(key) != expected[key])
        found += [
            f"{name}: {key} is {_short(stored.get(key, 'not set'))}, rendered as {_short(expected[key])}"
            for key in differing
        ]
        if not _keeps_limits(stored):
            found.append(f"{name}: target.producer.batch.size or max.request.size is not what was rendered")
    return tuple(found)


def _short(value: str) -> str:
    """Return a value that a sentence can hold; a list of topics may be very long."""
    return value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…"


def _keeps_limits(stored: Mapping[str, str]) -> bool:
    sizes = [stored.get(f"target.producer.{name}", "") for name in ("batch.size", "max.request.size")]
    return all(size.isdecimal() for size in sizes) and int(sizes[0]) <= int(sizes[1])


def _configurations(rows: Iterable[Row]) -> list[tuple[str, dict[str, str]]]:
    """Return the configuration of the copying connector and of each of its tasks, by its name in the topic."""
    wanted = (f"connector-{CONNECTOR}", f"task-{CONNECTOR}-")
    named = (((key or b"").decode(errors="replace"), value) for key, value in rows)
    return sorted(
        (name, json.loads(value).get("properties") or {})
        for name, value in named
        if value is not None and name.startswith(wanted)
    )
