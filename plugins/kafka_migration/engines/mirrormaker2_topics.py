"""What MirrorMaker 2 keeps in its own topics on the target: positions, configuration, health.

The formats are those of Kafka Connect, seen on Kafka 3.9.1: JSON without a schema, keys as texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from kafka_migration.core.engine import FailedTask
from kafka_migration.core.offsets import TopicPartition

CONNECTOR = "MirrorSourceConnector"
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
    lists = [_task_properties(row).get("task.assigned.partitions") for row in rows]
    given = [text for text in lists if text is not None]
    if not given:
        return None
    named = (name.rpartition("-") for text in given for name in text.split(",") if name)
    return frozenset(TopicPartition(topic, int(number)) for topic, _, number in named)


def _task_properties(row: Row) -> dict[str, str]:
    key, value = row
    if value is None or not (key or b"").startswith(f"task-{CONNECTOR}-".encode()):
        return {}
    properties: dict[str, str] = json.loads(value).get("properties") or {}
    return properties
