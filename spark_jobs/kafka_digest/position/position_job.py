"""Compares by position: the blocks of each partition, and the records of the first block that differs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import DataFrame

from kafka_digest.keys.alignment import COMPACTED, DUPLICATE, UNCLASSIFIED
from kafka_digest.keys.compare import KeyComparison, Unit
from kafka_digest.keys.difference_file import DifferenceFile
from kafka_digest.position.blocks import (
    Block,
    Comparison,
    check_blocks,
    compare_blocks,
    doubtful_blocks,
    drill_range,
    range_of,
    side_document,
    window_digest,
)
from kafka_digest.position.classify import Difference
from kafka_digest.position.locate_differences import LOOK_AHEAD_RECORDS, DrillCase, differing_blocks, first_differences
from kafka_digest.position.locate_runs import continued
from kafka_digest.position.pieces import Again, Measured, sent_again
from kafka_digest.position.position_digest import block_rows
from kafka_digest.position.rest_in_order import MAX_MASKS, first_records, masks_of, without_explained
from kafka_digest.position.restarts import Parted, Restarts
from kafka_digest.reading.isolation import Isolation, LostWindows, Reader, as_far_as_possible
from kafka_digest.reading.kafka_clusters import SIDES, Clusters
from kafka_digest.reading.read_windows import SideRange, WindowPlan, in_rounds
from kafka_digest.reading.record_schema_ids import SchemaIds
from kafka_digest.runtime.job_errors import JobError, naming, tell

# The hashes of three blocks per side are cached during the drill: about 400 MB for 16 partitions with the default block
# size. They spill to disk beyond Spark's storage memory.
DRILLED_TOGETHER = 16

Blocks = dict[tuple[str, str, int], list[Block]]


@dataclass(frozen=True)
class BlockComparison:
    """Compares windows block by block, with the records that a reader returns."""

    read: Reader
    block_records: int
    tasks: int
    schema_ids: SchemaIds

    def measured(self, plans: Sequence[WindowPlan]) -> list[Measured]:
        """Read windows on both sides and compare their blocks. Raises `JobError`."""
        with naming(f"reading {len(plans)} windows on both sides"):
            blocks = self._blocks({side: [getattr(plan, side) for plan in plans] for side in SIDES})
        measured = []
        for plan in plans:
            source = blocks.get(("source", *plan.source.place), [])
            target = blocks.get(("target", *plan.target.place), [])
            measured.append(Measured(plan, source, target, compare_blocks(source, target)))
        return self._without_times_of_copies(measured)

    def _without_times_of_copies(self, measured: Sequence[Measured]) -> list[Measured]:
        """Compare again, record by record, the blocks that may only differ because the source lacks timestamps."""
        doubtful = {n: doubtful_blocks(one.source, one.target) for n, one in enumerate(measured)}
        cases = [self._whole_case(n, measured[n], blocks) for n, blocks in doubtful.items() if blocks]
        if not cases:
            return list(measured)
        with naming(f"comparing the records without a timestamp of {len(cases)} windows"):
            frames = [self.read(side, _drill_ranges(cases, side)) for side in SIDES]
            differing = differing_blocks(frames[0], frames[1], cases, self.block_records)
        equal = {number: blocks - differing.get(number, set()) for number, blocks in doubtful.items()}
        return [replace(o, comparison=compare_blocks(o.source, o.target, equal[n])) for n, o in enumerate(measured)]

    def _whole_case(self, number: int, one: Measured, blocks: Collection[int]) -> DrillCase:
        first, last = min(blocks), max(blocks)
        source, target = (range_of(side, first, last, self.block_records) for side in (one.source, one.target))
        return DrillCase(number, one.plan.source.place, one.plan.target.place, source, target, 0, 0)

    def _blocks(self, ranges: Mapping[str, Sequence[SideRange]]) -> Blocks:
        """Read both sides in one Spark job and return their blocks by (side, topic, partition)."""
        frames = [
            block_rows(self.schema_ids.watched(side, frame), side, self.block_records, self.tasks)
            for side in SIDES
            if (frame := self.read(side, ranges[side])) is not None
        ]
        if not frames:
            return {}
        blocks: Blocks = {}
        rows = frames[0] if len(frames) == 1 else frames[0].unionByName(frames[1])
        collected = rows.collect()
        self.schema_ids.note(rows, ranges["target"])
        for row in collected:
            blocks.setdefault((row["side"], row["topic"], row["partition"]), []).append(Block(*row[3:]))
        for (side, topic, partition), found in blocks.items():
            found.sort(key=lambda block: block.number)
            check_blocks(f"{side} {topic}[{partition}]", found, self.block_records)
        return blocks

    def differences(self, measured: Sequence[Measured]) -> dict[int, Difference]:
        """Return the first difference of each window that differs, by the window's number."""
        cases = [
            self._drill_case(number, one, one.comparison.first_differing)
            for number, one in enumerate(measured)
            if one.comparison.first_differing is not None
        ]
        found: dict[int, Difference] = {}
        for start in range(0, len(cases), DRILLED_TOGETHER):
            found |= self._drilled(cases[start : start + DRILLED_TOGETHER])
        return found

    def _drill_case(self, number: int, one: Measured, block: int) -> DrillCase:
        return DrillCase(
            number,
            one.plan.source.place,
            one.plan.target.place,
            drill_range(one.source, block, self.block_records, LOOK_AHEAD_RECORDS),
            drill_range(one.target, block, self.block_records, LOOK_AHEAD_RECORDS),
            sum(block.records for block in one.source),
            sum(block.records for block in one.target),
            has_untimed=any(block.untimed for block in one.source),
        )

    def _drilled(self, cases: Sequence[DrillCase]) -> dict[int, Difference]:
        """Return the differences of these cases; one that cannot be read again stays unclassified, with the reason."""
        found: dict[int, Difference] = {}

        def drill(some: Sequence[DrillCase]) -> None:
            with naming("reading the first differing blocks again"):
                frames = [self.read(side, _drill_ranges(some, side)) for side in SIDES]
                found.update(first_differences(frames[0], frames[1], some))

        def lose(case: DrillCase, error: JobError) -> None:
            found[case.number] = Difference("unclassified", None, None, (), f"The digests differ; {error}")

        # The difference itself is proved by the digests, so it is reported rather than lost.
        as_far_as_possible(cases, drill, lose)
        return found


@dataclass(frozen=True)
class PositionJob:
    """Compares each partition with the partition of the same number.

    :param killed: generations that ended ungracefully
    :param resent: generations that may have sent records again at any place of their ranges
    """

    clusters: Clusters
    file: DifferenceFile
    block_records: int
    killed: Collection[int] = ()
    resent: Collection[int] = ()
    isolation: Isolation = field(default_factory=Isolation)

    def run(self, plans: Sequence[WindowPlan]) -> list[dict[str, Any]]:
        """Return one entry of the result per plan, in their order. Raises `JobError`."""
        numbers = {id(plan): number for number, plan in enumerate(plans)}
        topics = {name: number for number, name in enumerate(sorted({plan.window["topic"] for plan in plans}))}
        by_key = KeyComparison(self.clusters, self.file, null_keys_have_order=True, killed=self.killed)
        blocks, lost = self._blocks_read_by(self.clusters.read), LostWindows(self.clusters.read)
        entries: dict[int, dict[str, Any]] = {}
        suspects: list[tuple[WindowPlan, Unit]] = []
        for together in in_rounds(plans):
            measured = self._measured(blocks, [plan for plan in together if not plan.is_expired], lost)
            again = {id(measured[n].plan): each for n, each in self._sent_again(measured).items()}
            self.file.add_counts(DUPLICATE, {numbers[plan]: each.records for plan, each in again.items()})
            rest = [one for one in measured if id(one.plan) not in again]
            differences = blocks.differences(rest)
            entries |= {id(one.plan): _entry(one, differences.get(number)) for number, one in enumerate(rest)}
            entries |= {id(o.plan): _repeated(o, again[id(o.plan)]) for o in measured if id(o.plan) in again}
            expired = [plan for plan in together if plan.is_expired]
            by_keys = [*(one.plan for one in rest if one.differs), *expired]
            units = [_unit(plan, numbers[id(plan)], topics) for plan in by_keys]
            unread = by_key.run(units, self.isolation)
            suspects += zip(by_keys, units)
            for plan, unit in zip(by_keys, units):
                if plan.is_expired:
                    entries[id(plan)] = _expired_entry(plan, unit)
                if unit.number in unread:
                    self._lose(plan, unit, unread[unit.number], lost)
        self.isolation.require_some(has_bad_record=any(plan.has_bad_record for plan in lost.plans.values()))
        found = self.file.summaries()
        compacted = [
            (plan, unit)
            for plan, unit in suspects
            if plan.is_whole
            and by_key.has_lost_records(unit)
            and set(found[unit.number]["counts"] if unit.number in found else ()) <= {COMPACTED}
        ]
        for plan, of_remainder in self._remainders(compacted):
            entries[id(plan)] |= of_remainder
        entries |= {number: _entry(_unread(plan), None) for number, plan in lost.plans.items()}
        return [{**entries[id(plan)], "differences": found.get(number)} for number, plan in enumerate(plans)]

    def _measured(self, blocks: BlockComparison, plans: Sequence[WindowPlan], lost: LostWindows) -> list[Measured]:
        """Return the measurements of these windows without those that cannot be read, which are then `lost`."""
        measured = [_unread(plan) for plan in plans if plan.is_empty]
        wanted = [plan for plan in plans if not plan.is_empty]
        self.isolation.run(wanted, lambda some: measured.extend(blocks.measured(some)), lost.add)
        return measured

    def _lose(self, plan: WindowPlan, unit: Unit, error: JobError, lost: LostWindows) -> None:
        """Note that a window cannot be read by key; if its blocks differ, the difference itself is proved."""
        if plan.is_expired:
            lost.add(plan, error)
        else:
            self.file.add_counts(UNCLASSIFIED, {unit.number: 1})

    def _blocks_read_by(self, read: Reader) -> BlockComparison:
        return BlockComparison(read, self.block_records, self.clusters.tasks, self.clusters.schema_ids)

    def _sent_again(self, measured: Sequence[Measured]) -> dict[int, Again]:
        """Return what was sent again, by window; nothing if the pieces cannot be read again."""
        restarts = Restarts(
            self.resent, self._parted, lambda asked: continued(self.clusters.session, self.clusters.read, asked)
        )
        try:
            return sent_again(measured, self._measured_apart, restarts)
        except JobError as error:
            tell(str(error))
            return {}

    def _measured_apart(self, plans: Sequence[WindowPlan], limits: Sequence[int] | None = None) -> list[Measured]:
        """Compare ranges that may share partitions; `limits` are the most records to read of each source range."""
        rounds = self._rounds(plans, limits)
        found = {id(one.plan): one for blocks, together in rounds for one in blocks.measured(together)}
        return [found[id(plan)] for plan in plans]

    def _parted(self, plans: Sequence[WindowPlan], limits: Sequence[int]) -> list[Parted | None]:
        """Return where the sides of ranges part, `None` if they are equal; see `_measured_apart`."""
        found: dict[int, Parted | None] = {}
        for blocks, together in self._rounds(plans, limits):
            measured = blocks.measured(together)
            first = blocks.differences(measured)
            for number, one in enumerate(measured):
                at = first.get(number)
                parted = Parted(None, None) if at is None else Parted(at.source_offset, at.target_offset)
                found[id(one.plan)] = parted if one.differs else None
        return [found[id(plan)] for plan in plans]

    def _rounds(
        self, plans: Sequence[WindowPlan], limits: Sequence[int] | None
    ) -> Iterator[tuple[BlockComparison, list[WindowPlan]]]:
        """Yield ranges that share no partition, and what compares them."""
        most = {id(plan): limit for plan, limit in zip(plans, limits or ())}
        for together in in_rounds(plans):
            read: Reader = self.clusters.read
            if limits is not None:
                read = first_records(read, {plan.source.place: most[id(plan)] for plan in together})
            yield self._blocks_read_by(read), together

    def _remainders(self, compacted: Sequence[tuple[WindowPlan, Unit]]) -> Iterator[tuple[WindowPlan, dict[str, Any]]]:
        """Compare the rest of windows in which compaction explains all differences; return the result per window.

        Windows that cannot be read again have no result: they stay explained by key, and their order is unknown.
        """
        numbers = {id(plan): unit.number for plan, unit in compacted}
        for together in in_rounds(plan for plan, _ in compacted):
            found: list[tuple[WindowPlan, dict[str, Any]]] = []

            def compare(some: Sequence[WindowPlan], found: list[tuple[WindowPlan, dict[str, Any]]] = found) -> None:
                units = {(s, *getattr(plan, s).place): numbers[id(plan)] for plan in some for s in SIDES}
                found += self._remainder(some, units)

            as_far_as_possible(together, compare, lambda _, error: tell(str(error)))
            yield from found

    def _remainder(
        self, plans: Sequence[WindowPlan], units: Mapping[tuple[str, str, int], int]
    ) -> list[tuple[WindowPlan, dict[str, Any]]]:
        with naming("comparing what compaction left"), self._masks(set(units.values())) as masks:
            if masks is None:
                return []
            blocks = self._blocks_read_by(without_explained(self.clusters.read, masks, units))
            measured = blocks.measured(plans)
            differences = blocks.differences(measured)
        return [(one.plan, _of_remainder(one, differences.get(number))) for number, one in enumerate(measured)]

    @contextmanager
    def _masks(self, units: Collection[int]) -> Iterator[dict[str, DataFrame] | None]:
        """Yield the masks of the explained offsets of these units by side; `None` if there are too many."""
        explained = self.file.named(units)
        masks = {side: masks_of(explained, side).persist() for side in SIDES}
        try:
            yield masks if sum(mask.count() for mask in masks.values()) <= MAX_MASKS else None
        finally:
            for mask in masks.values():
                mask.unpersist()


def _unit(plan: WindowPlan, number: int, topics: Mapping[str, int]) -> Unit:
    """Return the unit to compare by key for a window that differs or whose ranks are unknown."""
    return Unit(number, plan.window, topics[plan.window["topic"]], {"source": [plan.source], "target": [plan.target]})


def _drill_ranges(cases: Sequence[DrillCase], side: str) -> list[SideRange]:
    pieces = [(getattr(case, f"{side}_place"), getattr(case, f"{side}_range")) for case in cases]
    return [
        SideRange(topic, partition, piece.start_offset, piece.end_offset)
        for (topic, partition), piece in pieces
        if piece is not None
    ]


def _unread(plan: WindowPlan) -> Measured:
    return Measured(plan, (), (), Comparison(0, 0, None))


def _expired_entry(plan: WindowPlan, unit: Unit) -> dict[str, Any]:
    entry = _entry(_unread(plan), None)
    return entry | {side: unit.count(side, getattr(plan, side).place) for side in SIDES}


def _entry(one: Measured, difference: Difference | None) -> dict[str, Any]:
    plan, comparison = one.plan, one.comparison
    if one.differs and difference is None:
        difference = Difference(
            "unclassified", None, None, (), "The digests differed at first; read again, the records are equal."
        )
    source, target = side_document(one.source), side_document(one.target)
    return plan.entry(source, target, equal=not one.differs and plan.is_whole) | {
        "blocks": comparison.blocks,
        "differing_blocks": comparison.differing_blocks,
        "source_digest": window_digest(one.source),
        "target_digest": window_digest(one.target),
        "first_difference": None if difference is None else difference.to_document(),
        "rest_in_order": None,
    }


def _repeated(one: Measured, again: Again) -> dict[str, Any]:
    """Return the entry of a window whose pieces are equal; so all records but the repeated ones are in order."""
    detail = (
        "MirrorMaker was killed and started again; each part that it sent without interruption is equal, and "
        f"{again.records} records were sent again."
    )
    difference = Difference(DUPLICATE, again.source_offset, again.target_offset, (), detail)
    return _entry(one, difference) | {"rest_in_order": True}


def _of_remainder(one: Measured, difference: Difference | None) -> dict[str, Any]:
    """Return the entry for the records that compaction has left; a difference other than order means a race."""
    if not one.differs:
        return {"rest_in_order": True}
    if difference is None or difference.kind != "reordered":
        return {}
    return {"rest_in_order": False, "first_difference": difference.to_document()}
