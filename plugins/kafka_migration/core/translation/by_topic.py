"""Topics whose copy does not keep partitions, or has offsets between records: the request to translate offsets.

A group's committed offsets on such a topic are one vector (`translation_contract.py`). The ledger gives target
offsets before which no copy of an unread record lies: the target ends at the start of the last generation that started,
in every source partition, at or before the vector. From there the Spark job looks for the copies. If the source has
deleted unread records the job cannot find them, and the group resumes at these target offsets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Uncommitted
from kafka_migration.core.translation.translation_contract import (
    PartitionOffsets,
    TopicToTranslate,
    Vector,
    VectorTranslation,
    vector_of,
)


class Began(NamedTuple):
    """The state of a topic right before a generation: source offsets to copy next, and the target's ends."""

    mirror_positions: PartitionOffsets
    target_ends: PartitionOffsets


@dataclass(frozen=True, slots=True)
class HowCopied:
    """How a topic was copied and is compared; see `TopicToTranslate`."""

    target_topic: str
    keeps_partitions: bool
    is_compacted: bool
    has_timestamps: bool

    @property
    def by_key(self) -> bool:
        """Whether records are matched by key: the copy keeps the order only per key, or compaction left holes."""
        return not self.keeps_partitions or self.is_compacted


@dataclass(frozen=True, slots=True)
class RepartitionedTopic:
    """One topic by the ledger and the source; offsets are by partition of their side.

    :param began: the stopped generations, oldest first
    :param mirror_positions: the source offsets at which the copy ends
    :param target_ends: the target's ends at the stop; later records are not part of the copy
    :param readable: the source partitions that hold a record which some group without a commit could still read
    :param uncommitted: the rule for these partitions
    """

    topic: str
    how: HowCopied
    source_log_start: PartitionOffsets
    mirror_positions: PartitionOffsets
    target_ends: PartitionOffsets
    began: tuple[Began, ...]
    readable: frozenset[int] = frozenset()
    uncommitted: Uncommitted = "refuse"

    def lacking(self, committed: PartitionOffsets) -> tuple[int, ...]:
        """Return the partitions without a commit because of which a group is not moved."""
        return self._without_offset(committed) if self.uncommitted == "refuse" else ()

    def unset(self, committed: PartitionOffsets) -> tuple[int, ...]:
        """Return the partitions without a commit that stay unset on the target."""
        return self._without_offset(committed) if self.uncommitted == "unset" else ()

    def gives_up(self, committed: PartitionOffsets) -> bool:
        """Whether a group passes over records because the rule is `latest`."""
        return self.uncommitted == "latest" and bool(self._without_offset(committed))

    def starts_at_end(self, partition: int) -> bool:
        """Whether a group without a commit on a partition starts there at the end of the copy."""
        return partition not in self.readable or self.uncommitted == "latest"

    def _without_offset(self, committed: PartitionOffsets) -> tuple[int, ...]:
        return tuple(p for p in sorted(self.mirror_positions) if p not in committed and p in self.readable)

    def vector(self, committed: PartitionOffsets) -> Vector:
        """Return a group's vector, limited to the end of the copy; no partition may be `lacking`."""
        return vector_of(
            {p: min(committed.get(p, self._without_commit(p)), end) for p, end in self.mirror_positions.items()}
        )

    def _without_commit(self, partition: int) -> int:
        return self._first(partition) if self.uncommitted == "earliest" else self.mirror_positions[partition]

    def _first(self, partition: int) -> int:
        return min(self.source_log_start.get(partition, 0), self.mirror_positions[partition])

    def is_held(self, vector: Vector) -> bool:
        """Whether the source still has every record that the vector has not read."""
        return all(offset >= self._first(partition) for partition, offset in vector)

    def to_translate(self, vectors: Iterable[Vector]) -> TopicToTranslate | None:
        """Return the Spark job's request for these vectors; `None` if it is not needed."""
        asked = tuple(sorted({vector for vector in vectors if self.is_held(vector)}))
        if not asked:
            return None
        first = {places[0][0]: min(offset for _, offset in places) for places in zip(*asked, strict=True)}
        return TopicToTranslate(
            topic=self.topic,
            target_topic=self.how.target_topic,
            by_key=self.how.by_key,
            is_compacted=self.how.is_compacted,
            has_timestamps=self.how.has_timestamps,
            source={p: (offset, self.mirror_positions[p]) for p, offset in first.items()},
            target={p: (at, self.target_ends[p]) for p, at in self.nothing_before(vector_of(first)).items()},
            vectors=tuple(dict(vector) for vector in asked),
        )

    def nothing_before(self, vector: Vector) -> PartitionOffsets:
        """Return target offsets before which no copy of an unread record lies.

        The start of the first generation is the earliest: records that it did not find on the source were not copied.
        """
        reached = [b for b in self.began if all(b.mirror_positions.get(p, 0) <= offset for p, offset in vector)]
        start = (reached[-1:] or self.began[:1] or [Began({}, {})])[0]
        return {p: min(start.target_ends.get(p, 0), end) for p, end in self.target_ends.items()}

    def by_ledger(self, vector: Vector) -> VectorTranslation:
        """Return where a vector resumes if the source has deleted unread records: without loss, but not minimal.

        The number of unread records is unknown, so all delivered records count as delivered again.
        """
        target = self.nothing_before(vector)
        delivered = sum(end - target[p] for p, end in self.target_ends.items())
        return VectorTranslation(target, 0, delivered, {}, is_minimal=False)


def repartitioned_topics(
    ledger: Ledger,
    hows: Mapping[str, HowCopied],
    source_log_start: Offsets,
    readable: Collection[TopicPartition] = (),
    uncommitted: Uncommitted = "refuse",
) -> dict[str, RepartitionedTopic]:
    """Return these topics by the ledger and the source; see `RepartitionedTopic`.

    Nothing was copied of a partition without a generation: its copy ends at the log start.
    """
    found = {topic: _topic(ledger, topic, how, source_log_start) for topic, how in hows.items()}
    return {
        name: replace(
            topic, uncommitted=uncommitted, readable=frozenset(p.partition for p in readable if p.topic == name)
        )
        for name, topic in found.items()
    }


def _topic(ledger: Ledger, topic: str, how: HowCopied, source_log_start: Offsets) -> RepartitionedTopic:
    copied = [(g.start, g.stop) for g in ledger.generations if g.stop is not None and topic in g.topics]
    return RepartitionedTopic(
        topic,
        how,
        _of_topic(topic, source_log_start),
        _of_topic(topic, source_log_start, *(stop.mirror_positions for _, stop in copied)),
        _of_topic(topic, *(stop.target_end_offsets for _, stop in copied)),
        tuple(
            Began(_of_topic(topic, start.mirror_positions), _of_topic(topic, start.target_end_offsets))
            for start, _ in copied
        ),
    )


def _of_topic(topic: str, *offsets: Offsets) -> dict[int, int]:
    """Return the offsets of a topic by partition; later ones replace earlier ones."""
    return {p.partition: offset for each in offsets for p, offset in each.items() if p.topic == topic}


def by_partition(topic: str, offsets: PartitionOffsets) -> dict[TopicPartition, int]:
    """Return a topic's offsets as those of partitions."""
    return {TopicPartition(topic, partition): offset for partition, offset in sorted(offsets.items())}
