"""What is right on a history, by trying: which offsets lose nothing, and which are the best.

Records of a key in one partition of each side must follow in order, one copy for each. A record without a
key, and one of a key in several partitions, must be there as often as it is unread. On a compacted target this holds
for the records that are still there. A record without a timestamp equals its copy whatever the copy's time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from kafka_migration.core.kafka.records import NO_TIMESTAMP
from kafka_migration.core.translation.translation_contract import TopicToTranslate, Vector
from tests.compaction.cleaner import Record
from tests.translation.histories import History, Place

Offsets = Mapping[int, int]
Placed = tuple[int, int, Record]
ANY_TIME = -2
"""The timestamp of a source record that is not compared."""


@dataclass
class Scope:
    """The records of one scope of order on both sides, as far as the job reads them.

    :param held: the places of source records of which the target still has a copy
    """

    source: list[Placed] = field(default_factory=list)
    target: list[Placed] = field(default_factory=list)
    held: set[Place] = field(default_factory=set)

    @property
    def is_in_one(self) -> bool:
        """Whether the records lie in one partition of each side, so that they have an order."""
        return all(len({partition for partition, _, _ in side}) <= 1 for side in (self.source, self.target))

    @property
    def is_known(self) -> bool:
        """Whether it can be known which records the target still has: all, or no two are equal."""
        records = [record for _, _, record in self.source]
        has_any_time = any(record.timestamp == ANY_TIME for record in records)
        return len(self.held) == len(records) or len({r[:2] if has_any_time else r for r in records}) == len(records)

    def unread(self, committed: Offsets) -> list[Placed]:
        """Return the unread records."""
        return [record for record in self.source if record[1] >= committed[record[0]]]

    def loses_nothing(self, committed: Offsets, start: Offsets) -> bool:
        """Whether the unread records that the target still has follow from an offset per target partition."""
        held = [record for record in self.unread(committed) if record[:2] in self.held]
        return self.delivered(held, start) == len(held)

    def delivered(self, wanted: Sequence[Placed], start: Offsets) -> int:
        """Return how many of these records follow from these offsets, each in a copy of its own."""
        records = [record for _, _, record in wanted]
        there = [record for partition, offset, record in self.target if offset >= start[partition]]
        return common_length(records, there) if self.is_in_one else common_number(records, there)


class Truth:
    """What is right for the groups of a history.

    :param asked: the ranges that the job reads
    """

    def __init__(self, history: History, asked: TopicToTranslate) -> None:
        self.asked = asked
        timestamps = {r.timestamp for n, bounds in asked.source.items() for _, r in history.source[n].read(*bounds)}
        self.has_any_time = not asked.has_timestamps or NO_TIMESTAMP in timestamps
        self.scopes: dict[Hashable, Scope] = {}
        self.places: list[Place] = []
        self.ends = {number: end for number, (_, end) in asked.target.items()}
        for number, (start, end) in asked.target.items():
            for offset, record in history.target[number].read(start, end):
                self.places.append((number, offset))
                self._scope(number, record).target.append((number, offset, record))
        for number, (start, end) in asked.source.items():
            for offset, record in history.source[number].read(start, end):
                scope = self._scope(number, record)
                is_timed = asked.has_timestamps and record.timestamp != NO_TIMESTAMP
                scope.source.append((number, offset, record if is_timed else record._replace(timestamp=ANY_TIME)))
                if not set(history.copies[number, offset]).isdisjoint(self.places):
                    scope.held.add((number, offset))

    def _scope(self, number: int, record: Record) -> Scope:
        alone = record[:2] if self.has_any_time else record
        key: Hashable = alone if record.key is None else record.key
        return self.scopes.setdefault(key if self.asked.by_key else number, Scope())

    def has_best(self, vector: Vector) -> bool:
        """Whether all unread records have an order that can be known, so that there is a best place."""
        unread = (scope for scope in self.scopes.values() if scope.unread(dict(vector)))
        return all(scope.is_in_one and scope.is_known for scope in unread)

    def again(self, vector: Vector, start: Offsets) -> int:
        """Return how many records follow from these offsets beside one copy of each unread record."""
        delivered = sum(offset >= start[number] for number, offset in self.places)
        return delivered - sum(s.delivered(s.unread(dict(vector)), start) for s in self.scopes.values())

    def loses_nothing(self, vector: Vector, start: Offsets) -> bool:
        """Whether each unread record that the target still has follows from these offsets."""
        return all(scope.loses_nothing(dict(vector), start) for scope in self.scopes.values())

    def is_best(self, vector: Vector, start: Offsets) -> bool:
        """Whether no partition could begin any later, even if the others began as early as they can."""
        first = dict.fromkeys(start, 0)
        later = ({**first, number: at + 1} for number, at in start.items() if at < self.ends[number])
        return not any(self.loses_nothing(vector, at) and self._holds_as_many(vector, at) for at in later)

    def _holds_as_many(self, vector: Vector, start: Offsets) -> bool:
        """Whether as many of the unread records follow as the target has in order, equal ones of others included."""
        first = dict.fromkeys(start, 0)
        unread = ((scope, scope.unread(dict(vector))) for scope in self.scopes.values())
        return all(scope.delivered(wanted, start) == scope.delivered(wanted, first) for scope, wanted in unread)


def is_copy(source: Record, target: Record) -> bool:
    """Whether a target record equals a source record."""
    return source[:2] == target[:2] and source.timestamp in (ANY_TIME, target.timestamp)


def common_length(source: Sequence[Record], target: Sequence[Record]) -> int:
    """Return how many source records have copies in the same order, each one of its own."""
    above = [0] * (len(target) + 1)
    for ours in source:
        row = [0]
        for number, theirs in enumerate(target):
            row.append(above[number] + 1 if is_copy(ours, theirs) else max(above[number + 1], row[-1]))
        above = row
    return above[-1]


def common_number(source: Sequence[Record], target: Sequence[Record]) -> int:
    """Return how many source records have copies in any order, each one of its own."""
    timed = Counter(record for record in source if record.timestamp != ANY_TIME)
    rest = Counter(target) - timed
    others = Counter(record[:2] for record in rest.elements())
    untimed = Counter(record[:2] for record in source if record.timestamp == ANY_TIME)
    return (timed & Counter(target)).total() + (untimed & others).total()
