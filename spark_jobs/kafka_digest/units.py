"""What is compared by key as a whole, and its comparison: buckets of both sides first, then every difference."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, TypedDict

from kafka_digest.align_tasks import SOURCE_BEFORE, SOURCE_BEHIND, UNCOMMITTED, Circumstances
from kafka_digest.clusters import SIDES, Clusters
from kafka_digest.difference_file import DifferenceFile
from kafka_digest.errors import JobError, naming
from kafka_digest.hashing import Hashing
from kafka_digest.key_drill import Suspects, aligned_keys, explained_buckets, reconciled
from kafka_digest.key_frames import KeyedSide, compared_rows
from kafka_digest.key_tasks import DIFFERING, TOTAL
from kafka_digest.windows import SideRange

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


NO_RECORDS = {"records": 0, "key_value_bytes": 0, "first_offset": None, "last_offset": None}


@dataclass(slots=True)
class Unit:
    """Ranges of both sides that are compared as a whole, and what was found out about them.

    :param window: one of the windows of the request that it is about; all have the same generation and topics
    :param topic: a number that units of one topic share; a record may have moved between them
    :param ranges: what is read of each side
    """

    number: int
    window: Mapping[str, Any]
    topic: int
    ranges: Mapping[str, Sequence[SideRange]]
    counts: dict[tuple[str, str, int], dict[str, Any]] = field(default_factory=dict)
    totals: dict[str, list[int]] = field(default_factory=lambda: {side: [0, 0] for side in SIDES})
    buckets: set[int] = field(default_factory=set)

    @property
    def topic_name(self) -> str:
        """The source topic that it is about."""
        return str(self.window["topic"])

    def is_expired(self, side: str) -> bool:
        """Whether a side has deleted records from the beginning of its ranges."""
        return any(piece.is_expired for piece in self.ranges[side])

    def count(self, side: str, place: tuple[str, int]) -> Mapping[str, Any]:
        """Return what was read of a partition of a side."""
        return self.counts.get((side, *place), NO_RECORDS)

    def note(self, row: Any) -> None:
        """Take a row of `key_tasks.COMPARED`."""
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
        self.counts[place] = {
            "records": row["records"],
            "key_value_bytes": row["bytes"],
            "first_offset": row["first_offset"],
            "last_offset": row["last_offset"],
        }

    def check_counts(self) -> None:
        """Raise `JobError` unless the buckets hold as many records as were read."""
        for side, (in_buckets, _) in self.totals.items():
            read = sum(count["records"] for (of_side, *_), count in self.counts.items() if of_side == side)
            if read != in_buckets:
                raise JobError(f"{side} {self.window['topic']}: {read} records were read, {in_buckets} digested")


class _Options(TypedDict):
    """What both readings are told."""

    null_keys_have_order: bool
    tasks: int
    hashing: Hashing


@dataclass(frozen=True, slots=True)
class KeyComparison:
    """Compares units of which no two read the same partition.

    :param null_keys_have_order: whether records without a key are compared in log order
    """

    clusters: Clusters
    file: DifferenceFile
    null_keys_have_order: bool

    def run(self, units: Sequence[Unit]) -> None:
        """Note in each unit what was found, and write the differences of those that differ. Raises `JobError`."""
        self._compare(units)
        damaged = [unit for unit in units if unit.buckets]
        if damaged:
            self._look_into(damaged)

    def _look_into(self, units: Sequence[Unit]) -> None:
        """Write the differences of these units; what cannot be read again stays unclassified.

        That they differ is proved, so it is reported rather than lost.
        """
        windows = {unit.number: unit.window for unit in units}
        try:
            with naming(f"looking into {len(units)} topics or partitions that differ"):
                aligned = self._aligned(units).persist()
                try:
                    explained = explained_buckets(aligned)
                    self.file.add(reconciled(aligned), windows)
                    # A bucket that differs and whose keys are all equal: the logs changed between the readings. Where
                    # they are compacted they may; then the second reading is the proof.
                    self.file.add_unclassified(
                        {
                            unit.number: len(unit.buckets - explained.get(unit.number, set()))
                            for unit in units
                            if not self._compacts(unit)
                        }
                    )
                finally:
                    aligned.unpersist()
        except JobError as error:
            sys.stderr.write(f"{error}\n")
            self.file.add_unclassified({unit.number: len(unit.buckets) for unit in units})

    def _compare(self, units: Sequence[Unit]) -> None:
        by_number = {unit.number: unit for unit in units}
        with naming(f"comparing {len(units)} topics or partitions by key"):
            sides = self._sides(units)
            rows = compared_rows(sides, **self._options).collect() if sides else []
        for row in rows:
            by_number[row["unit"]].note(row)
        for unit in units:
            unit.check_counts()

    def _sides(self, units: Sequence[Unit]) -> list[KeyedSide]:
        """Return the sides that have anything to read."""
        frames = [(number, side, self.clusters.read(side, _pieces(units, side))) for number, side in enumerate(SIDES)]
        return [KeyedSide(n, frame, _places(units, side)) for n, side, frame in frames if frame is not None]

    def _explaining(self, units: Sequence[Unit]) -> Iterator[KeyedSide]:
        """Return what else explains differences: uncommitted records, and what logs hold beside the ranges."""
        compacted = [unit for unit in units if self._compacts(unit)]
        frames: list[tuple[int, str, DataFrame | None]] = []
        for number, side in enumerate(SIDES):
            before, behind = self.clusters.around(side, _pieces(compacted, side))
            frames.append((SOURCE_BEFORE + number, side, self.clusters.read(side, before)))
            frames.append((SOURCE_BEHIND + number, side, self.clusters.read(side, behind)))
        if self.clusters.is_uncommitted_copy:
            frames.append((UNCOMMITTED, "source", self.clusters.read_uncommitted(_pieces(units, "source"))))
        for number, side, frame in frames:
            if frame is not None:
                yield KeyedSide(number, frame, _places(units, side))

    def _compacts(self, unit: Unit, *sides: str) -> bool:
        """Whether one of these sides deletes records of the unit that have newer ones; any side, if none is named."""
        return any(unit.topic_name in self.clusters.compacted[side] for side in sides or SIDES)

    def _aligned(self, units: Sequence[Unit]) -> DataFrame:
        buckets = reduce(set.union, (unit.buckets for unit in units), set())
        compacted = [frozenset(u.number for u in units if self._compacts(u, side)) for side in SIDES]
        expired = [frozenset(u.number for u in units if u.is_expired(side)) for side in SIDES]
        circumstances = Circumstances((compacted[0], compacted[1]), (expired[0], expired[1]))
        suspects = Suspects(buckets, {unit.number: unit.topic for unit in units}, circumstances)
        sides = [*self._sides(units), *self._explaining(units)]
        return aligned_keys(self.clusters.session, sides, suspects, **self._options)

    @property
    def _options(self) -> _Options:
        return {
            "null_keys_have_order": self.null_keys_have_order,
            "tasks": self.clusters.tasks,
            "hashing": self.clusters.hashing,
        }


def _pieces(units: Iterable[Unit], side: str) -> list[SideRange]:
    return [piece for unit in units for piece in unit.ranges[side]]


def _places(units: Iterable[Unit], side: str) -> dict[str, int]:
    return {f"{p.topic}/{p.partition}": unit.number for unit in units for p in unit.ranges[side]}
