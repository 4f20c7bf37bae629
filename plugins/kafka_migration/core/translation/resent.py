"""The exact place of an offset before records that MirrorMaker may have sent twice.

A killed MirrorMaker has sent records that the next one sends again, and markers, aborted or compacted records leave
offsets without a record. So the lengths of the ranges on both sides do not show how many records were sent twice. The
records show it: the unread source records up to the last place of such copies are compared with the target's, from the
right. The place of each record is the last equal one before the place of the next record. That is the *rightmost
order-preserving one-to-one embedding*: no unread record lies before it, and no place further right has all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.records import RecordPrint


class ResentRange(NamedTuple):
    """The source offsets whose records are compared, and the target offsets among which their copies are."""

    partition: TopicPartition
    source_start: int
    source_end: int
    target_start: int
    target_end: int


@dataclass(frozen=True, slots=True)
class Resent:
    """Where the records of a range are on the target.

    :param offsets: the source offsets of the visible records, ascending
    :param places: the target offsets of the last of them, ascending; earlier ones have no copy in order
    """

    range: ResentRange
    offsets: tuple[int, ...]
    places: tuple[int, ...]

    def place_of(self, offset: int) -> int | None:
        """Return the target offset of the first record at or after a source offset.

        It is the range's target end if no record follows, and `None` for an offset outside of the range, or if a record
        from there on has no copy in order.
        """
        if not self.range.source_start <= offset <= self.range.source_end:
            return None
        unread = self.unread_from(offset)
        if unread == 0:
            return self.range.target_end
        return self.places[-unread] if unread <= len(self.places) else None

    def unread_from(self, offset: int) -> int:
        """Return the number of records at or after a source offset of the range."""
        return len(self.offsets) - bisect_left(self.offsets, offset)


NOTHING_RESENT: Mapping[TopicPartition, Resent] = {}


@dataclass
class FromTheRight:
    """Finds the places of a range's source records while the target's records are read backwards in blocks."""

    range: ResentRange
    records: Sequence[RecordPrint]
    timestamps: bool = True
    _places: list[int] = field(default_factory=list)

    @property
    def is_done(self) -> bool:
        """Whether every record has its place."""
        return len(self._places) == len(self.records)

    def take(self, block: Sequence[RecordPrint]) -> None:
        """Match a block of target records, ascending; each block ends where the previous one began."""
        for copy in reversed(block):
            if self.is_done:
                return
            if self.records[-len(self._places) - 1].same_as(copy, timestamps=self.timestamps):
                self._places.append(copy.offset)

    def found(self) -> Resent:
        """Return the places that were found."""
        return Resent(self.range, tuple(each.offset for each in self.records), tuple(reversed(self._places)))
