"""Topics whose copy does not keep partitions, or has offsets between records: the request to translate offsets.

A group's committed offsets on such a topic are one vector (`translation_contract.py`). The ledger gives target
offsets before which no copy of an unread record lies: the target ends at the start of the last generation that started,
in every source partition, at or before the vector. From there the Spark job looks for the copies. If the source has
deleted unread records the job cannot find them, and the group resumes at these target offsets.

In a rollback (`CopiedTopic`) a group that read on the target resumes on the source. It has read the records before its
commits on the source and before its commits on the target. So a record is unread if it was not read on the source and
a copy of it lies at or after the group's target offset. If every offset of the target partition is a copied record, the
source offset follows from the ledger (`counted`). Otherwise a Spark job finds it among the records that the group is
not known to have read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Uncommitted
from kafka_migration.core.translation.copies import PartitionCopy
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
        asked = sorted({vector for vector in vectors if self.is_held(vector)})
        return self.request(asked, asked) if asked else None

    def request(
        self, vectors: Sequence[Vector], unread_from: Sequence[Vector], *, is_back: bool = False
    ) -> TopicToTranslate:
        """Return the Spark job's request for vectors, and the source offsets from which each has unread records."""
        first = {places[0][0]: min(offset for _, offset in places) for places in zip(*unread_from, strict=True)}
        return TopicToTranslate(
            topic=self.topic,
            target_topic=self.how.target_topic,
            by_key=self.how.by_key,
            is_compacted=self.how.is_compacted,
            has_timestamps=self.how.has_timestamps,
            source={p: (offset, self.mirror_positions[p]) for p, offset in first.items()},
            target={p: (at, self.target_ends[p]) for p, at in self.nothing_before(vector_of(first)).items()},
            vectors=tuple(map(dict, vectors)),
            read=tuple(map(dict, unread_from)) if is_back else (),
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
    return {
        topic: _topic(
            ledger,
            topic,
            how,
            source_log_start,
            frozenset(p.partition for p in readable if p.topic == topic),
            uncommitted,
        )
        for topic, how in hows.items()
    }


def _topic(
    ledger: Ledger, topic: str, how: HowCopied, held: Offsets, readable: frozenset[int], uncommitted: Uncommitted
) -> RepartitionedTopic:
    copied = [(g.start, g.stop) for g in ledger.generations if g.stop is not None and topic in g.topics]
    return RepartitionedTopic(
        topic,
        how,
        _of_topic(topic, held),
        _of_topic(topic, held, *(stop.mirror_positions for _, stop in copied)),
        _of_topic(topic, *(stop.target_end_offsets for _, stop in copied)),
        tuple(
            Began(*(_of_topic(topic, each) for each in (s.mirror_positions, s.target_end_offsets))) for s, _ in copied
        ),
        readable,
        uncommitted,
    )


def _of_topic(topic: str, *offsets: Offsets) -> dict[int, int]:
    """Return the offsets of a topic by partition; later ones replace earlier ones."""
    return {p.partition: offset for each in offsets for p, offset in each.items() if p.topic == topic}


def by_partition(topic: str, offsets: PartitionOffsets) -> dict[TopicPartition, int]:
    """Return a topic's offsets as those of partitions."""
    return {TopicPartition(topic, partition): offset for partition, offset in sorted(offsets.items())}


@dataclass(frozen=True, slots=True)
class CopiedTopic:
    """One topic by the ledger and both clusters; offsets are by partition of their side.

    :param copies: how each partition was copied, by its number; only if partitions are kept
    """

    topic: RepartitionedTopic
    target_log_start: PartitionOffsets
    copies: Mapping[int, PartitionCopy]

    def is_all_read(self, committed: PartitionOffsets) -> bool:
        """Whether a group has read the whole copy; if partitions are kept, of the partitions with commits."""
        return all(at >= self.topic.target_ends[p] for p, at in vector_of(self._stand(committed)))

    def counted(self, committed: PartitionOffsets) -> dict[int, int] | None:
        """Return the source offsets of the records at the committed offsets; `None` if counting is not possible.

        It requires that partitions are kept, that the validation read a record at every offset up to there, each once,
        and that nothing was deleted since.
        """
        found = {p: self._counted(p, at) for p, at in committed.items() if p in self.topic.target_ends}
        places = {p: at for p, at in found.items() if at is not None}
        how = self.topic.how
        return places if how.has_timestamps and not how.by_key and len(places) == len(found) else None

    def _counted(self, partition: int, committed: int) -> int | None:
        copy = self.copies.get(partition)
        if copy is None or committed < self.target_log_start.get(partition, 0):
            return None
        windows = [w for w in copy.windows if w.target_start <= committed] or list(copy.windows[:1])
        if not all(map(copy.is_dense, windows)):
            return None
        last = windows[-1]
        return last.source_start + min(max(committed - last.target_start, 0), last.target_end - last.target_start)

    def vector(self, committed: PartitionOffsets) -> Vector:
        """Return a group's target offsets, limited to the end of the copy."""
        ends = self.topic.target_ends
        return vector_of({p: min(at, ends[p]) for p, at in self._stand(committed).items()})

    def _stand(self, committed: PartitionOffsets) -> dict[int, int]:
        """Return an offset for every target partition.

        A partition without a commit is ignored if partitions are kept; otherwise nothing of it was read.
        """
        ends, first = self.topic.target_ends, self.topic.began[0].target_ends if self.topic.began else {}
        unset = ends if self.topic.how.keeps_partitions else {p: first.get(p, 0) for p in ends}
        return {p: committed.get(p, unset[p]) for p in ends}

    def read(self, committed: PartitionOffsets, on_source: PartitionOffsets) -> Vector:
        """Return the source offsets before which a group has read everything, on either side.

        These are its commits on the source. Without any, the group started on the target: then these are the positions
        of the generations whose copies it has read completely. For a moved group that would be wrong, because it may
        have been moved to a later, equal record.

        :param committed: its commits on the target
        :param on_source: its commits on the source
        """
        stand = self._stand(committed)
        began = [b for b in self.topic.began if all(b.target_ends.get(p, 0) <= at for p, at in stand.items())]
        read = on_source or (began[-1].mirror_positions if began else {})
        return vector_of({p: min(read.get(p, 0), end) for p, end in self.topic.mirror_positions.items()})

    def to_translate(self, groups: Iterable[tuple[PartitionOffsets, PartitionOffsets]]) -> TopicToTranslate | None:
        """Return the Spark job's request for groups with these commits; `None` if it is not needed.

        :param groups: the commits of each group on the target and on the source
        """
        stands = [(each, self.read(each, there)) for each, there in groups if self.counted(each) is None]
        left = ((each, read) for each, read in stands if not self.is_all_read(each) and self.topic.is_held(read))
        asked = sorted({(self.vector(each), read) for each, read in left})
        vectors, reads = [vector for vector, _ in asked], [read for _, read in asked]
        return self.topic.request(vectors, reads, is_back=True) if asked else None
