"""The internal topics of MirrorMaker 2 on the target: positions, configuration, health.

The formats are those of Kafka Connect, seen on Kafka 3.9.1: JSON without a schema, keys as texts. Any client with write
permission may write to these topics. A record that MirrorMaker would not write is ignored, and its key is reported.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.engine import FailedTask
from kafka_migration.core.text.terminal_text import storable_document

CONNECTOR = "MirrorSourceConnector"
LONGEST_SHOWN = 100
LONGEST_TRACE = 131_072
Row = tuple[bytes | None, bytes | None]
Malformed = Callable[[bytes | None], None]
"""Called with the key of each row that is ignored because MirrorMaker would not write it."""

T = TypeVar("T")


def _loaded(data: bytes) -> Any:
    return storable_document(json.loads(data))


def _unsaid(_: bytes | None) -> None:
    """Ignore the key."""


def _decoded(rows: Iterable[Row], decode: Callable[[bytes, bytes], T | None], malformed: Malformed) -> Iterator[T]:
    """Decode the rows that have a key and a value; rows for which `decode` returns `None` are skipped."""
    for key, value in rows:
        if key is None or value is None:
            continue
        try:
            row = decode(key, value)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            malformed(key)
            continue
        if row is not None:
            yield row


def _of_type(value: Any, kind: type[T]) -> T:
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise TypeError(f"not a value of type {kind.__name__}")
    return value


def _number(value: Any, bits: int) -> int:
    """Return the value if it is a number in Kafka's range."""
    number = _of_type(value, int)
    if not 0 <= number < 2 ** (bits - 1):
        raise ValueError("out of range")
    return number


@dataclass(frozen=True, slots=True)
class InternalTopics:
    """MirrorMaker's internal topics on the target, by their content.

    Their names contain the migration: two migrations never share a topic, and later runs find theirs again.
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


def offset_syncs_topic(alias: str) -> str:
    """Return the name of the topic to which MirrorMaker writes pairs of offsets, by the alias of the source."""
    return f"mm2-offset-syncs.{alias}.internal"


def stale_topics(migration: str, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
    """Return the configuration and status topics of generations before this one, out of all `topics`."""
    return tuple(topic for topic, number in _numbered(migration, topics) if number < generation)


def later_topics(migration: str, generation: int, topics: Iterable[str]) -> tuple[str, ...]:
    """Return the configuration and status topics of generations after this one, out of all `topics`."""
    return tuple(topic for topic, number in _numbered(migration, topics) if number > generation)


def _numbered(migration: str, topics: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the configuration and status topics of a migration, with the number of their generation."""
    pattern = re.compile(rf"^mm2-(?:configs|status)\.{re.escape(migration)}-source\.g(\d+)\.internal")
    for topic in sorted(topics):
        if match := pattern.fullmatch(topic):
            yield topic, int(match[1])


def has_own_topics(migration: Migration) -> bool:
    """Return whether the engine of a migration has topics of its own on the target."""
    return bool(migration.mirror.abilities.has_own_positions)


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
        if not has_own_topics(migration):
            return cls("", (), ())
        written = {offset_syncs_topic(migration.source.alias)} & set(topics)
        offsets = InternalTopics.of(migration.name, 0).offsets
        return cls(offsets if offsets in topics else "", later_topics(migration.name, last_generation, topics), written)

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        return (*((self.offsets,) if self.offsets else ()), *self.fresh, *self.written)


def stored_positions(
    rows: Iterable[Row],
    alias: str,
    topics: Collection[str],
    malformed: Malformed = _unsaid,
    connector: str = CONNECTOR,
) -> dict[TopicPartition, int]:
    """Decode rows of the offsets topic into the next source offset to copy, per partition of these topics.

    MirrorMaker stores the offset of the last copied record, so next = stored + 1 (seen on Kafka 3.9.1). Rows
    of other connectors, sources and topics are skipped; a row without a value was reset.
    """

    def decode(key: bytes, value: bytes) -> tuple[TopicPartition, int] | None:
        partition = _position_key(key, alias, connector)
        if partition is None or partition.topic not in topics:
            return None
        return partition, _number(_loaded(value)["offset"], 64) + 1

    return dict(_decoded(rows, decode, malformed))


def copied_topics(rows: Iterable[Row], topics: Collection[str]) -> frozenset[str]:
    """Decode rows of an offsets topic into those of the topics of which there is a position, of whatever source."""

    def decode(key: bytes, _: bytes) -> str | None:
        source = _loaded(key)[1]
        # In Kafka Connect the connector may have any name; only the copying one has topics and no group.
        topic = None if "group" in source else source.get("topic")
        return topic if topic in topics else None

    return frozenset(_decoded(rows, decode, _unsaid))


def _position_key(key: bytes, alias: str, expected: str) -> TopicPartition | None:
    connector, source = _loaded(key)
    if connector != expected or source.get("cluster") != alias:
        return None
    return TopicPartition(_of_type(source["topic"], str), _number(source["partition"], 32))


def failed_tasks(rows: Iterable[Row], malformed: Malformed = _unsaid) -> tuple[FailedTask, ...]:
    """Decode rows of a generation's status topic; `status-topic-…` rows are skipped."""

    def decode(key: bytes, value: bytes) -> FailedTask | None:
        name = key.decode()
        if not name.startswith(("status-connector-", "status-task-")):
            return None
        status = _loaded(value)
        if _of_type(status["state"], str) != "FAILED":
            return None
        return FailedTask(name, _of_type(status.get("trace") or "", str)[:LONGEST_TRACE])

    return tuple(sorted(_decoded(rows, decode, malformed), key=lambda task: task.name))


def assigned_partitions(rows: Iterable[Row], malformed: Malformed = _unsaid) -> list[list[TopicPartition]]:
    """Decode rows of a generation's configuration topic into the partitions that each of its tasks copies.

    None if there is no task yet. The list is `topic-0,topic-1`, so the last dash is the separator.
    """

    def decode(key: bytes, value: bytes) -> list[TopicPartition] | None:
        named = _configuration(key, value)
        given = named and named[1].get("task.assigned.partitions")
        return None if given is None else partitions_named(given)

    return list(_decoded(rows, decode, malformed))


def partitions_named(names: str) -> list[TopicPartition]:
    """Return the partitions of a task's list, such as `orders-0,orders-1`. Raises `ValueError` for any other text."""
    return [_partition_named(name) for name in names.split(",") if name]


def _partition_named(name: str) -> TopicPartition:
    topic, _, number = name.rpartition("-")
    return TopicPartition(topic, _number(int(number), 32))


def differences(rows: Iterable[Row], expected: Mapping[str, str], malformed: Malformed = _unsaid) -> tuple[str, ...]:
    """Return the differences between the expected configuration and that of the copying connector and its tasks.

    `rows` are those of a generation's configuration topic; there are none before the connector exists. Only expected
    keys are compared, so that no login appears in a text. For the producer's limits, only their relation is checked.
    """
    found = []
    for name, stored in sorted(_decoded(rows, _configuration, malformed), key=lambda named: named[0]):
        differing = (key for key in sorted(expected) if stored.get(key) != expected[key])
        found += [
            f"{name}: {key} is {_short(stored.get(key, 'not set'))}, rendered as {_short(expected[key])}"
            for key in differing
        ]
        if not _keeps_limits(stored):
            found.append(f"{name}: target.producer.batch.size or max.request.size differs from the rendered value")
    return tuple(found)


def _short(value: str) -> str:
    """Return the value, truncated; a list of topics may be very long."""
    return value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…"


def _keeps_limits(stored: Mapping[str, str]) -> bool:
    sizes = [stored.get(f"target.producer.{name}", "") for name in ("batch.size", "max.request.size")]
    return all(size.isdecimal() for size in sizes) and int(sizes[0]) <= int(sizes[1])


def _configuration(key: bytes, value: bytes) -> tuple[str, dict[str, str]] | None:
    """Return the name and configuration of the copying connector or of one of its tasks."""
    name = key.decode(errors="replace")
    if not name.startswith((f"connector-{CONNECTOR}", f"task-{CONNECTOR}-")):
        return None
    properties = _of_type(_loaded(value).get("properties") or {}, dict)
    return name, {key: _of_type(text, str) for key, text in properties.items()}
