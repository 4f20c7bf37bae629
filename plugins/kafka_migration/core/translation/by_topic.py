"""Topics whose copy chose partitions anew, or put offsets between records: what is translated of groups, from where.

A group's committed offsets on such a topic are one vector (`core.translation.contract`). The ledger knows from where on
the target nothing that the vector has not read lies before: the ends at the start of the last generation that began, in
every source partition, at or before it. From there the Spark job looks for the copies. Where the source has deleted
unread records there is nothing to look for, and that place itself is where the group goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Uncommitted
from kafka_migration.core.translation.contract import (
    PartitionOffsets,
    TopicToTranslate,
    Vector,
    VectorTranslation,
    vector_of,
)


class Began(NamedTuple):
    """What was true of a topic right before a generation: source offsets to copy next, and the target's ends."""

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
        """Whether the copy has the order of each key; compaction leaves holes that only the keys explain."""
        return not self.keeps_partitions or self.is_compacted


@dataclass(frozen=True, slots=True)
class RepartitionedTopic:
    """One topic as the ledger and the source tell it; offsets are by partition of their side.

    :param began: the stopped generations, oldest first
    :param mirror_positions: the source offsets that the copy reaches
    :param target_ends: the target's ends at the stop; what lies behind is no part of the copy
    :param uncommitted: what holds where a group never committed on a partition that has records
    """

    topic: str
    how: HowCopied
    source_log_start: PartitionOffsets
    mirror_positions: PartitionOffsets
    target_ends: PartitionOffsets
    began: tuple[Began, ...]
    uncommitted: Uncommitted = "refuse"

    def lacking(self, committed: PartitionOffsets) -> tuple[int, ...]:
        """Return the partitions on which a group should have committed and did not: those that hold records.

        Where partitions are kept none is lacking: what the group has not committed stays unset on the target.
        """
        if self.how.keeps_partitions or self.uncommitted != "refuse":
            return ()
        return tuple(p for p in sorted(self.mirror_positions) if p not in committed and self._holds_records(p))

    def vector(self, committed: PartitionOffsets) -> Vector:
        """Return a group's vector, none of it beyond what was copied; nothing may be `lacking`."""
        return vector_of(
            {p: min(committed.get(p, self._without_commit(p)), end) for p, end in self.mirror_positions.items()}
        )

    def _without_commit(self, partition: int) -> int:
        return self._first(partition) if self.uncommitted == "earliest" else self.mirror_positions[partition]

    def _holds_records(self, partition: int) -> bool:
        return self._first(partition) < self.mirror_positions[partition]

    def _first(self, partition: int) -> int:
        return min(self.source_log_start.get(partition, 0), self.mirror_positions[partition])

    def is_held(self, vector: Vector) -> bool:
        """Whether the source still has everything that the vector has not read."""
        return all(offset >= self._first(partition) for partition, offset in vector)

    def to_translate(self, vectors: Iterable[Vector]) -> TopicToTranslate | None:
        """Return what the Spark job is asked about these vectors; `None` where it need not be asked."""
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
            vectors=asked,
        )

    def nothing_before(self, vector: Vector) -> PartitionOffsets:
        """Return target offsets before which nothing lies that the vector has not read.

        What the first generation did not find on the source any more was never copied, so it is the earliest place.
        """
        reached = [b for b in self.began if all(b.mirror_positions.get(p, 0) <= offset for p, offset in vector)]
        start = (reached[-1:] or self.began[:1] or [Began({}, {})])[0]
        return {p: min(start.target_ends.get(p, 0), end) for p, end in self.target_ends.items()}

    def by_ledger(self, vector: Vector) -> VectorTranslation:
        """Return where a vector goes on of whose unread records the source has deleted some: lossless, not minimal.

        How many records are unread cannot be known, so all that is delivered counts as delivered again.
        """
        target = self.nothing_before(vector)
        delivered = sum(end - target[p] for p, end in self.target_ends.items())
        return VectorTranslation(target, 0, delivered, {}, is_minimal=False)


def repartitioned_topics(
    ledger: Ledger,
    hows: Mapping[str, HowCopied],
    source_log_start: Offsets,
    uncommitted: Uncommitted,
) -> dict[str, RepartitionedTopic]:
    """Return these topics as the ledger and the source tell them.

    Of a partition that no generation knows nothing was copied: the copy reaches its log start.
    """
    return {topic: _topic(ledger, topic, how, source_log_start, uncommitted) for topic, how in hows.items()}


def _topic(
    ledger: Ledger, topic: str, how: HowCopied, source_log_start: Offsets, uncommitted: Uncommitted
) -> RepartitionedTopic:
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
        uncommitted,
    )


def _of_topic(topic: str, *offsets: Offsets) -> dict[int, int]:
    """Return the offsets of a topic by partition; later ones take the place of earlier ones."""
    return {p.partition: offset for each in offsets for p, offset in each.items() if p.topic == topic}


def by_partition(topic: str, offsets: PartitionOffsets) -> dict[TopicPartition, int]:
    """Return a topic's offsets as those of partitions."""
    return {TopicPartition(topic, partition): offset for partition, offset in sorted(offsets.items())}
