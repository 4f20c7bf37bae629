"""Units that are compared by key as a whole: first the buckets of both sides, then every difference."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from pyspark.sql import DataFrame

from kafka_digest.keys.align_tasks import SOURCE_BEFORE, SOURCE_BEHIND, UNCOMMITTED, Circumstances
from kafka_digest.keys.alignment import COMPACTED, INTERLEAVED, UNCLASSIFIED, UNPROVED
from kafka_digest.keys.compaction import within_holes
from kafka_digest.keys.difference_file import DifferenceFile
from kafka_digest.keys.frames import KeyedSide, compared_rows
from kafka_digest.keys.key_tasks import DIFFERING, TOTAL
from kafka_digest.keys.locate_key_differences import Suspects, aligned_keys, explained_buckets, reconciled
from kafka_digest.reading.isolation import Isolation, as_far_as_possible
from kafka_digest.reading.kafka_clusters import SIDES, Clusters
from kafka_digest.reading.read_windows import SideRange
from kafka_digest.runtime.job_errors import JobError, naming, tell

# The maximum number of comparisons while a log cleaner runs.
_ATTEMPTS = 3
NO_RECORDS = {"records": 0, "key_value_bytes": 0, "first_offset": None, "last_offset": None, "untimed": 0}


@dataclass
class Unit:
    """Ranges of both sides that are compared as a whole, and the result.

    :param window: one of the unit's windows in the request; all have the same generation and topics
    :param topic: a number that units of one topic share; a record may have moved between them
    :param ranges: the ranges that are read on each side
    :param recounted: by side, the number of records left when they were counted again
    """

    number: int
    window: Mapping[str, Any]
    topic: int
    ranges: Mapping[str, Sequence[SideRange]]
    counts: dict[tuple[str, str, int], dict[str, Any]] = field(default_factory=dict)
    totals: dict[str, list[int]] = field(default_factory=lambda: {side: [0, 0] for side in SIDES})
    buckets: set[int] = field(default_factory=set)
    recounted: dict[str, int] = field(default_factory=dict)

    def holes(self, side: str) -> int:
        """Return the number of offsets without a record in a side's ranges."""
        return sum(piece.offsets for piece in self.ranges[side]) - self.recounted.get(side, self.totals[side][0])

    @property
    def topic_name(self) -> str:
        """The source topic of the unit."""
        return str(self.window["topic"])

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read on either side."""
        return all(piece.is_empty for pieces in self.ranges.values() for piece in pieces)

    @property
    def has_untimed(self) -> bool:
        """Whether the source has no timestamp of some records, so that digests may differ although all are equal."""
        return any(count["untimed"] for (side, *_), count in self.counts.items() if side == SIDES[0])

    def is_expired(self, side: str) -> bool:
        """Whether a side has deleted records from the beginning of its ranges."""
        return any(piece.is_expired for piece in self.ranges[side])

    def count(self, side: str, place: tuple[str, int]) -> Mapping[str, Any]:
        """Return what was read of a partition of a side."""
        return self.counts.get((side, *place), NO_RECORDS)

    def forget(self) -> None:
        """Remove what was read, before it is read again."""
        self.counts.clear()
        self.buckets.clear()
        self.totals.update({side: [0, 0] for side in SIDES})

    def note(self, row: Any) -> None:
        """Add a row of `key_tasks.COMPARED`."""
        if row["kind"] == DIFFERING:
            self.buckets.add(row["bucket"])
            return
        side = SIDES[row["side"]]
        if row["kind"] == TOTAL:
            self.totals[side][0] += row["records"]
            self.totals[side][1] += row["digest"]
        else:
            self._note_range(side, row)

    def _note_range(self, side: str, row: Any) -> None:
        topic = self.window["topic" if side == "source" else "target_topic"]
        place = (side, topic, row["partition"])
        if place in self.counts:
            raise JobError(f"{side} {topic}[{row['partition']}] was not read in one piece")
        self.counts[place] = {name: row[name] for name in NO_RECORDS}

    def check_counts(self) -> None:
        """Raise `JobError` unless the buckets hold as many records as were read."""
        for side, (in_buckets, _) in self.totals.items():
            read = sum(count["records"] for (of_side, *_), count in self.counts.items() if of_side == side)
            if read != in_buckets:
                raise JobError(f"{side} {self.window['topic']}: {read} records were read, {in_buckets} digested")


@dataclass(frozen=True)
class KeyComparison:
    """Compares units that do not share a partition.

    :param null_keys_have_order: whether records without a key are compared in log order
    :param killed: generations that ended ungracefully: their target ranges may hold records after the source's ranges
    """

    clusters: Clusters
    file: DifferenceFile
    null_keys_have_order: bool
    killed: Collection[int] = ()

    def run(self, units: Sequence[Unit], isolation: Isolation) -> dict[int, JobError]:
        """Store the result in each unit, and write the differences of units that differ.

        Returns, by number, why a unit cannot be read; it has no result. Raises `JobError`.
        """
        unread: dict[int, JobError] = {}
        held = [unit for unit in units if not unit.is_empty]
        isolation.run(held, self._compare, lambda unit, error: unread.update({unit.number: error}))
        as_far_as_possible([unit for unit in units if unit.buckets], self._look_into, self._leave_unexamined)
        return unread

    def _leave_unexamined(self, unit: Unit, error: JobError) -> None:
        """Report the difference of a unit that cannot be read again.

        It is proved, but compaction or missing timestamps may explain it.
        """
        tell(str(error))
        label = UNPROVED if self.has_lost_records(unit) or unit.has_untimed else UNCLASSIFIED
        self.file.add_counts(label, {unit.number: len(unit.buckets)})

    def _look_into(self, units: Sequence[Unit], attempts: int = _ATTEMPTS) -> None:
        """Write the differences of these units; those that a log cleaner changed meanwhile are examined again.

        Raises `JobError` if a unit cannot be read again.
        """
        again: list[Unit] = []
        with naming(f"examining {len(units)} topics or partitions that differ"):
            aligned = self._aligned(units).persist()
            try:
                explained = explained_buckets(aligned)
                found = self._within_holes(aligned, units)
                if attempts > 1:
                    again = self._cleaned_meanwhile(self._doubtful(found, units, explained))
                settled = [unit for unit in units if unit not in again]
                if settled:
                    self.file.add(reconciled(found), {unit.number: unit.window for unit in settled})
                _clear_equal(settled, explained)
                self._count_unexplained(settled, explained)
            finally:
                aligned.unpersist()
        if again:
            as_far_as_possible(again, partial(self._look_into, attempts=attempts - 1), self._leave_unexamined)

    def _within_holes(self, aligned: DataFrame, units: Sequence[Unit]) -> DataFrame:
        if not any(self._compacts(unit) for unit in units):
            return aligned
        return within_holes(aligned, {(u.number, n): u.holes(side) for u in units for n, side in enumerate(SIDES)})

    def _doubtful(self, found: DataFrame, units: Sequence[Unit], explained: Mapping[int, set[int]]) -> list[Unit]:
        """Return the unexplained units of compacted topics: a cleaner may have run between two reads."""
        compacted = [unit for unit in units if self._compacts(unit)]
        if not compacted:
            return []
        labels = found.where(~found["label"].isin(COMPACTED, INTERLEAVED)).select("unit").distinct().collect()
        numbers = {row["unit"] for row in labels}
        return [u for u in compacted if u.number in numbers or u.buckets - explained.get(u.number, set())]

    def _cleaned_meanwhile(self, units: Sequence[Unit]) -> list[Unit]:
        """Count the records of these units again, and return the units that have fewer than before."""
        changed: set[int] = set()
        for side in SIDES:
            there = [unit for unit in units if self._compacts(unit, side)]
            frame = self.clusters.read(side, _pieces(there, side)) if there else None
            rows = [] if frame is None else frame.groupBy("topic", "partition").count().collect()
            counts = {(row[0], row[1]): row[2] for row in rows}
            for unit in there:
                before = unit.holes(side)
                unit.recounted[side] = sum(counts.get(piece.place, 0) for piece in unit.ranges[side])
                if unit.holes(side) != before:
                    changed.add(unit.number)
        return [unit for unit in units if unit.number in changed]

    def _count_unexplained(self, units: Sequence[Unit], explained: Mapping[int, set[int]]) -> None:
        """Count buckets that differ although all their keys are equal: the logs changed between the reads.

        This is allowed for compacted topics; then the second read is the proof.
        """
        for unit in units:
            label = COMPACTED if self.has_lost_records(unit) else UNCLASSIFIED
            self.file.add_counts(label, {unit.number: len(unit.buckets - explained.get(unit.number, set()))})

    def has_lost_records(self, unit: Unit) -> bool:
        """Whether a log cleaner may have removed records of the unit, on either side."""
        return any(self._may_lack(unit, side) for side in SIDES)

    def _may_lack(self, unit: Unit, side: str) -> bool:
        """Whether a side's log cleaner may have removed records of the unit."""
        return self._compacts(unit, side) and unit.holes(side) > 0

    def _compare(self, units: Sequence[Unit]) -> None:
        by_number = {unit.number: unit for unit in units}
        with naming(f"comparing {len(units)} topics or partitions by key"):
            rows = self._compared_rows(self._sides(units), _pieces(units, "target"))
        for unit in units:
            unit.forget()
        for row in rows:
            by_number[row["unit"]].note(row)
        for unit in units:
            unit.check_counts()

    def _compared_rows(self, sides: Sequence[KeyedSide], target: Sequence[SideRange]) -> Sequence[Any]:
        if not sides:
            return []
        ids = self.clusters.schema_ids
        watched = [replace(each, frame=ids.watched(SIDES[each.number], each.frame)) for each in sides]
        rows = compared_rows(watched, null_keys_have_order=self.null_keys_have_order, tasks=self.clusters.tasks)
        collected: Sequence[Any] = rows.collect()
        ids.note(rows, target)
        return collected

    def _sides(self, units: Sequence[Unit]) -> list[KeyedSide]:
        """Return the sides that have anything to read."""
        frames = [(number, side, self.clusters.read(side, _pieces(units, side))) for number, side in enumerate(SIDES)]
        return [KeyedSide(n, frame, _places(units, side)) for n, side, frame in frames if frame is not None]

    def _explaining(
        self, units: Sequence[Unit], around: Mapping[str, tuple[list[SideRange], list[SideRange]]]
    ) -> Iterator[KeyedSide]:
        """Return other data that explains differences: uncommitted records, and what logs hold outside the ranges."""
        frames = [
            (number + SIDES.index(side), side, self.clusters.read(side, pieces))
            for side, (before, behind) in around.items()
            for number, pieces in ((SOURCE_BEFORE, before), (SOURCE_BEHIND, behind))
        ]
        if self.clusters.is_uncommitted_copy:
            uncommitted = self.clusters.read("source", _pieces(units, "source"), "read_uncommitted")
            frames.append((UNCOMMITTED, "source", uncommitted))
        for number, side, frame in frames:
            if frame is not None:
                yield KeyedSide(number, frame, _places(units, side))

    def _around(self, units: Sequence[Unit]) -> dict[str, tuple[list[SideRange], list[SideRange]]]:
        """Return, by side, what the logs of compacted units hold before and after their ranges.

        The target's end is read first: its records were on the source before.
        """
        compacted = [unit for unit in units if self._compacts(unit)]
        return {side: self.clusters.around(side, _pieces(compacted, side)) for side in reversed(SIDES)}

    def _compacts(self, unit: Unit, *sides: str) -> bool:
        """Whether one of these sides compacts the unit's topic; without arguments, whether any side does."""
        return any(unit.topic_name in self.clusters.compacted[side] for side in sides or SIDES)

    def _aligned(self, units: Sequence[Unit]) -> DataFrame:
        buckets = {bucket for unit in units for bucket in unit.buckets}
        around = self._around(units)
        circumstances = Circumstances(
            compacted=_pair(lambda side: {u.number for u in units if self._may_lack(u, side)}),
            expired=_pair(lambda side: {u.number for u in units if u.is_expired(side)}),
            goes_on=_pair(lambda side: _going_on(units, side, around[side][1])),
            tails=frozenset(u.number for u in units if u.window["generation"] in self.killed),
        )
        untimed = frozenset(unit.number for unit in units if unit.has_untimed)
        suspects = Suspects(buckets, {unit.number: unit.topic for unit in units}, circumstances, untimed)
        sides = [*self._sides(units), *self._explaining(units, around)]
        order, tasks = self.null_keys_have_order, self.clusters.tasks
        return aligned_keys(self.clusters.session, sides, suspects, null_keys_have_order=order, tasks=tasks)


def _clear_equal(units: Iterable[Unit], explained: Mapping[int, set[int]]) -> None:
    """Remove the buckets in which no record differs, if their digests may differ because timestamps are missing."""
    for unit in units:
        if unit.has_untimed:
            unit.buckets &= explained.get(unit.number, set())


def _pieces(units: Iterable[Unit], side: str) -> list[SideRange]:
    return [piece for unit in units for piece in unit.ranges[side]]


def _places(units: Iterable[Unit], side: str) -> dict[str, int]:
    return {f"{p.topic}/{p.partition}": unit.number for unit in units for p in unit.ranges[side]}


def _pair(numbers: Callable[[str], Collection[int]]) -> tuple[frozenset[int], frozenset[int]]:
    source, target = (frozenset(numbers(side)) for side in SIDES)
    return source, target


def _going_on(units: Iterable[Unit], side: str, behind: Iterable[SideRange]) -> set[int]:
    """Return the numbers of the units whose logs have records after their ranges."""
    places = {piece.place for piece in behind if not piece.is_empty}
    return {unit.number for unit in units if any(piece.place in places for piece in unit.ranges[side])}
