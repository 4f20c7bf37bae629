"""Topics looked at from the copy: where a reader of the target stands on the source.

A source record is read as soon as one copy of it was. Where every offset of the target's partition is a copied record,
the place follows from the ledger (`counted`). Else a Spark job finds it: the ledger knows a place on both sides before
which everything was read, the ends at the start of the last generation that began at or before all that the group has
committed, and from there the records are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.core.repartitioned import Began, RepartitionedTopic
from kafka_migration.core.translation import PartitionCopy
from kafka_migration.core.vector_translation import PartitionOffsets, TopicToTranslate, Vector, vector_of


@dataclass(frozen=True, slots=True)
class CopiedTopic:
    """One topic as the ledger and both clusters tell it; offsets are by partition of their side.

    :param copies: how each partition was copied, by its number; only where partitions are kept
    """

    topic: RepartitionedTopic
    target_log_start: PartitionOffsets
    copies: Mapping[int, PartitionCopy]

    def is_all_read(self, committed: PartitionOffsets) -> bool:
        """Whether a group has read the whole copy; where partitions are kept, of those that it has committed on."""
        return all(at >= self.topic.target_ends[p] for p, at in vector_of(self._stand(committed)))

    def counted(self, committed: PartitionOffsets) -> dict[int, int] | None:
        """Return the source offsets of the records at the committed ones; `None` where counting does not tell them.

        It does where partitions are kept, no offset up to there, on either side, was anything but a record when it was
        copied, and nothing is deleted since.
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
        if not all(window.has_no_holes for window in windows):
            return None
        last = windows[-1]
        return last.source_start + min(max(committed - last.target_start, 0), last.target_end - last.target_start)

    def vector(self, committed: PartitionOffsets) -> Vector:
        """Return where a group stands in what the target still holds of the copy."""
        ends = self.topic.target_ends
        return vector_of(
            {p: min(max(at, self.target_log_start.get(p, 0)), ends[p]) for p, at in self._stand(committed).items()}
        )

    def _stand(self, committed: PartitionOffsets) -> dict[int, int]:
        """Return an offset for every target partition.

        One without a commit says nothing of the others where partitions are kept; else nothing of it was read.
        """
        ends, first = self.topic.target_ends, self.topic.began[0].target_ends if self.topic.began else {}
        unset = ends if self.topic.how.keeps_partitions else {p: first.get(p, 0) for p in ends}
        return {p: committed.get(p, unset[p]) for p in ends}

    def all_read_before(self, committed: PartitionOffsets) -> tuple[PartitionOffsets, PartitionOffsets]:
        """Return source and target offsets before which a group has read everything."""
        stand = self._stand(committed)
        reached = [
            number
            for number, began in enumerate(self.topic.began)
            if all(began.target_ends.get(p, 0) <= at for p, at in stand.items())
        ]
        later = self.topic.began[reached[-1] if reached else 0 :]
        ends = later[0].target_ends if later else {}
        source = {p: self._begun_at(p, later) for p in self.topic.mirror_positions}
        return source, {p: min(ends.get(p, 0), end) for p, end in self.topic.target_ends.items()}

    def _begun_at(self, partition: int, later: Iterable[Began]) -> int:
        # A partition that the source got later was copied from where the first generation that knew it began.
        end = self.topic.mirror_positions[partition]
        return min(next((b.mirror_positions[partition] for b in later if partition in b.mirror_positions), end), end)

    def is_held(self, committed: PartitionOffsets) -> bool:
        """Whether the source still has everything that a group may not have read."""
        source, _ = self.all_read_before(committed)
        held = self.topic.source_log_start
        return all(at >= held.get(p, 0) or at == self.topic.mirror_positions[p] for p, at in source.items())

    def to_translate(self, groups: Iterable[PartitionOffsets]) -> TopicToTranslate | None:
        """Return what the Spark job is asked about groups with these commits; `None` where it need not be asked."""
        asked = [each for each in groups if self.asks_records(each)]
        if not asked:
            return None
        stands = [self._stand(each) for each in asked]
        source, target = self.all_read_before({p: min(stand[p] for stand in stands) for p in self.topic.target_ends})
        held = {p: min(max(at, self.target_log_start.get(p, 0)), self.topic.target_ends[p]) for p, at in target.items()}
        how = self.topic.how
        return TopicToTranslate(
            topic=self.topic.topic,
            target_topic=how.target_topic,
            by_key=how.by_key,
            is_compacted=how.is_compacted,
            has_timestamps=how.has_timestamps,
            source={p: (at, self.topic.mirror_positions[p]) for p, at in source.items()},
            target={p: (at, self.topic.target_ends[p]) for p, at in held.items()},
            vectors=tuple(sorted({self.vector(each) for each in asked})),
        )

    def asks_records(self, committed: PartitionOffsets) -> bool:
        """Whether only the records themselves tell where a group goes on, and the source has them."""
        return not self.is_all_read(committed) and self.counted(committed) is None and self.is_held(committed)
