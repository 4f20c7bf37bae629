"""Rollback of a topic: where a group that read on the target resumes on the source.

The group has read the records before its commits on the source and before its commits on the target. So a record is
unread if it was not read on the source and a copy of it lies at or after the group's target offset. If every offset of
the target partition is a copied record, the source offset follows from the ledger (`counted`). Otherwise a Spark job
finds it among the records that the group is not known to have read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.core.translation.by_topic import RepartitionedTopic
from kafka_migration.core.translation.copies import PartitionCopy
from kafka_migration.core.translation.translation_contract import PartitionOffsets, TopicToTranslate, Vector, vector_of


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

    def is_held(self, read: Vector) -> bool:
        """Whether the source still has every record that a group may not have read."""
        held, ends = self.topic.source_log_start, self.topic.mirror_positions
        return all(at >= min(held.get(p, 0), ends[p]) for p, at in read)

    def to_translate(self, groups: Iterable[tuple[PartitionOffsets, PartitionOffsets]]) -> TopicToTranslate | None:
        """Return the Spark job's request for groups with these commits; `None` if it is not needed.

        :param groups: the commits of each group on the target and on the source
        """
        stands = [(each, self.read(each, there)) for each, there in groups if self.counted(each) is None]
        asked = sorted({(self.vector(e), read) for e, read in stands if not self.is_all_read(e) and self.is_held(read)})
        if not asked:
            return None
        least = {places[0][0]: min(at for _, at in places) for places in zip(*(read for _, read in asked), strict=True)}
        target = self.topic.nothing_before(vector_of(least))
        how = self.topic.how
        return TopicToTranslate(
            topic=self.topic.topic,
            target_topic=how.target_topic,
            by_key=how.by_key,
            is_compacted=how.is_compacted,
            has_timestamps=how.has_timestamps,
            source={p: (at, self.topic.mirror_positions[p]) for p, at in least.items()},
            target={p: (at, self.topic.target_ends[p]) for p, at in target.items()},
            vectors=tuple(dict(vector) for vector, _ in asked),
            read=tuple(dict(read) for _, read in asked),
        )
