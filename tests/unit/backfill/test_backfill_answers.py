"""Rules that answer for an interval from the ledger."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from kafka_migration.core.backfill.backfill_answers import (
    answer_of,
    interval_findings,
    positions_to_translate,
    scopes_of,
)
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import (
    Comparison,
    Generation,
    GenerationStart,
    Judgement,
    ReadOffsets,
    StopCertificate,
)
from kafka_migration.core.ledger.interval_bounds import (
    BoundsResolved,
    IntervalAnswer,
    IntervalBounds,
    PartitionAnswer,
    between_known,
    lacking_bounds,
)
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.run.run_window import Interval
from kafka_migration.core.translation.by_partition import OffsetRange, counts_needed, translate
from kafka_migration.core.translation.copies import copies_of
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from tests.growing_ledger import Entries
from tests.present import present

P = TopicPartition("orders", 0)
BEGIN = datetime(2030, 1, 1, tzinfo=UTC)


def at(hour: int) -> datetime:
    return BEGIN + timedelta(hours=hour)


@dataclass
class Partition:
    """A source partition of which each offset is a record with its hour or, as `None`, a hole, and its ledger."""

    hours: list[int | None] = field(default_factory=list)
    log_start: int = 0
    entries: Entries = field(default_factory=Entries)
    counted: int = 0
    keeps_partitions: bool = True

    @property
    def ledger(self) -> Ledger:
        return self.entries.ledger

    def copy(
        self, verdict: Verdict | None = Verdict.PASS, end: int | None = None, extra: int = 0, hour: int = 100
    ) -> None:
        """Copy up to an offset (or all) in a generation of its own, and judge it."""
        last = self.ledger.last_stop
        position, target = (last.mirror_positions[P], last.target_end_offsets[P]) if last else (self.log_start, 0)
        end = len(self.hours) if end is None else end
        number = len(self.ledger.generations) + 1
        run, moment = f"dag/run{number}#1", at(hour).isoformat()
        copied = target + self.visible(position, end) + extra
        start = GenerationStart(number, run, moment, {P: position}, {P: target})
        stop = StopCertificate(number, run, moment, True, 143, "stopped", {P: end}, {P: copied})
        self.entries += [start.to_document(), stop.to_document()]
        if verdict is not None:
            self.judge(verdict, number)

    def judge(self, verdict: Verdict, *generations: int, whole: bool = False) -> None:
        run = f"dag/{'whole' if whole else 'run'}{len(self.entries)}#1"
        compared = tuple(_compared(g, verdict) for g in self.ledger.generations if g.number in generations)
        verdicts, comparisons = {"orders": verdict}, {"orders": compared}
        judgement = Judgement(run, "t", whole, generations, verdicts, {}, POSITION_DIGEST, comparisons)
        self.entries.append(judgement.to_document())

    def visible(self, start: int, end: int) -> int:
        return sum(hour is not None for hour in self.hours[start:end])

    def offset_at(self, hour: int) -> int:
        late = (n for n, h in enumerate(self.hours) if n >= self.log_start and h is not None and h >= hour)
        return next(late, len(self.hours))

    def bound(self, *hours: int) -> None:
        """Ask for the bounds of some hours that the ledger lacks."""
        known = self.ledger.bounds
        for time in sorted(lacking_bounds(known, [at(hour) for hour in hours], [P])):
            hour = int((time - BEGIN).total_seconds() // 3600)
            offsets = between_known(known, time, {P: self.offset_at(hour)})
            resolved = BoundsResolved("dag/run#1", "t", {time: offsets}, {P: self.log_start})
            self.entries.append(resolved.to_document())

    def ask(self, start: int, end: int, run: str = "dag/me#1", still: str = "") -> tuple[IntervalAnswer, list[Finding]]:
        """Answer for an interval, and keep the answer."""
        self.bound(start, end)
        ledger, interval = self.ledger, Interval(at(start), at(end))
        bounds = IntervalBounds.of(ledger.bounds, interval, ["orders"])
        copies = copies_of(ledger, {P: self.log_start}, {P: len(self.hours)}, {})
        scopes = scopes_of(ledger, bounds, copies, keeps_partitions=self.keeps_partitions)
        copies = {scope.range.partition: scope.copy for scope in scopes}
        positions = positions_to_translate(scopes)
        counts = {range_: self._count(range_) for range_ in counts_needed(copies, positions)}
        answer = IntervalAnswer(run, "t", interval, answer_of(scopes, translate(copies, positions, counts)))
        self.entries.append(answer.to_document())
        return answer, interval_findings(scopes, run, still).get("orders", [])

    def _count(self, range_: OffsetRange) -> int:
        assert range_.start >= self.log_start, "deleted records were to be counted"
        self.counted += range_.end - range_.start
        return self.visible(range_.start, range_.end)


def _compared(generation: Generation, verdict: Verdict) -> Comparison:
    """Return what a validation read of a generation; the digests are the same if it is good."""
    stop = present(generation.stop)
    source = generation.start.mirror_positions[P], stop.mirror_positions[P]
    target = generation.start.target_end_offsets[P], stop.target_end_offsets[P]
    read, records = ReadOffsets(0, generation.number, *source, *target), target[1] - target[0]
    return Comparison(verdict, (read,), records, records, "digest", "digest" if verdict.is_good else "other")


def one(found: tuple[IntervalAnswer, list[Finding]]) -> tuple[PartitionAnswer, list[Code]]:
    """Return the answer of the partition and the codes of the findings."""
    answer, findings = found
    return answer.topics["orders"].partitions[0], [finding.code for finding in findings]


def good(source: tuple[int, int], target: tuple[int, int] | None) -> tuple[PartitionAnswer, list[Code]]:
    """Return a good answer without a finding; where its records are on the target may be unknown."""
    return PartitionAnswer(Verdict.PASS, source, target, target and target[1] - target[0]), []


def unverifiable(
    source: tuple[int, int], *codes: Code, target: tuple[int, int] | None = None
) -> tuple[PartitionAnswer, list[Code]]:
    """Return an answer that is not verifiable, with the codes of its findings."""
    return PartitionAnswer(Verdict.NOT_VERIFIABLE, source, target, target and target[1] - target[0]), list(codes)


def test_judged_records_are_answered_by_rank() -> None:
    """In windows without holes, the target range is as far from the start of the window; no record is read."""
    partition = Partition([1, 1, 2, 2, 3], log_start=0)
    partition.copy(end=2)
    partition.copy()

    assert good((2, 4), (2, 4)) == one(partition.ask(2, 3))
    assert good((0, 4), (0, 4)) == one(partition.ask(1, 3))
    assert partition.counted == 0


def test_records_that_changed_partition_have_no_target_range() -> None:
    """In a re-partitioned copy, the offsets do not show where the records of a good answer are."""
    partition = Partition([1, 1, 2, 2, 3], keeps_partitions=False)
    partition.copy()

    assert good((2, 4), None) == one(partition.ask(2, 3))


def test_interval_without_records_is_nothing() -> None:
    """An empty range has no verdict of its own, and takes none away."""
    partition = Partition([1, 5])
    partition.copy(Verdict.FAIL)
    answer, findings = partition.ask(2, 4)

    assert ({}, None) == (answer.topics["orders"].partitions, answer.topics["orders"].verdict)
    assert (Verdict.PASS, []) == (answer.verdict, findings)


def test_records_between_holes_are_counted_once() -> None:
    """In a window with holes, ranks are counted once; later answers use these counts."""
    partition = Partition([1, None, 1, 2, None, None, 2, 3, None, 3, 3, 3])
    partition.copy()

    assert good((3, 7), (2, 4)) == one(partition.ask(2, 3))
    first = partition.counted
    assert good((0, 3), (0, 2)) == one(partition.ask(1, 2))
    assert good((7, 12), (4, 8)) == one(partition.ask(3, 4))
    assert good((3, 7), (2, 4)) == one(partition.ask(2, 3))
    assert (8, 8) == (first, partition.counted)


def test_records_not_copied_are_not_verifiable() -> None:
    """The finding names the offsets, and why the run did not copy them."""
    partition = Partition([1, 1, 1, 1])
    partition.copy(end=3)
    found = partition.ask(1, 2, still="not in window: [a, b)")
    _, findings = found

    assert unverifiable((0, 4), Code.INTERVAL_NOT_COPIED) == one(found)
    assert "offsets [3, 4) are not copied; MirrorMaker was not started: not in window" in findings[0].found


def test_copied_records_that_are_not_judged_are_not_verifiable() -> None:
    """A pending window has no verdict, and nothing proves where its records are on the target."""
    partition = Partition([1, 1])
    partition.copy(verdict=None)

    assert unverifiable((0, 2), Code.INTERVAL_NOT_VALIDATED) == one(partition.ask(1, 2))


@pytest.mark.parametrize(
    ("verdict", "code"), [(Verdict.FAIL, Code.COPY_DIFFERS), (Verdict.NOT_VERIFIABLE, Code.RECORDS_NOT_VERIFIABLE)]
)
def test_bad_judgement_of_another_run_is_named(verdict: Verdict, code: Code) -> None:
    """A bad judgement of another run is a finding; this run has already reported its own."""
    partition = Partition([1, 1])
    partition.copy(verdict)
    judge = partition.ledger.judgements[0].run

    assert (PartitionAnswer(verdict, (0, 2), None, None), [code]) == one(partition.ask(1, 2))
    assert [] == one(partition.ask(1, 2, run=judge))[1]


def test_rank_in_a_bad_copy_with_holes_is_not_known() -> None:
    """In a window that differs, the offsets do not show where a record is."""
    partition = Partition([1, 2, 3])
    partition.copy(Verdict.FAIL, extra=1)

    assert PartitionAnswer(Verdict.FAIL, (1, 2), None, None) == one(partition.ask(2, 3))[0]
    assert partition.counted == 0


def test_worst_window_of_the_range_decides() -> None:
    """An interval over a good and a bad window is bad; one over the good alone is good."""
    partition = Partition([1, 1, 2, 2])
    partition.copy(Verdict.PASS, end=1)
    partition.copy(Verdict.FAIL)

    assert Verdict.FAIL is one(partition.ask(1, 2))[0].verdict
    assert Verdict.FAIL is one(partition.ask(2, 3))[0].verdict
    partition.judge(Verdict.PASS, 1, 2, whole=True)
    assert Verdict.PASS is one(partition.ask(1, 2))[0].verdict


def test_whole_reading_judges_all_it_read() -> None:
    """A whole reading takes the place of what was judged before, unless it could not see everything."""
    partition = Partition([1, 1])
    partition.copy(verdict=None)
    unread, good_one, bad = Verdict.NOT_VERIFIABLE, Verdict.PASS, Verdict.FAIL
    for judged, expected in ((unread, unread), (good_one, good_one), (unread, good_one), (bad, bad)):
        partition.judge(judged, 1, whole=True)
        assert expected is one(partition.ask(1, 2))[0].verdict


def test_generation_that_was_read_again_is_what_it_is_now() -> None:
    """A newer reading of the windows decides for the interval; one that could not see takes nothing back."""
    partition = Partition([1, 1, 2, 2])
    partition.copy(Verdict.FAIL, end=2)
    partition.copy(Verdict.FAIL)
    partition.judge(Verdict.PASS, 1)
    partition.judge(Verdict.NOT_VERIFIABLE, 1)

    assert [Verdict.PASS, Verdict.FAIL] == [one(partition.ask(*hours))[0].verdict for hours in ((1, 2), (2, 3))]


def test_records_judged_before_they_were_deleted_stay_good() -> None:
    """Bounds and judgements of before the deletion answer after it; counts that were kept are kept."""
    partition = Partition([1, None, 1, 2, 2, 3])
    partition.copy()
    partition.ask(2, 3)
    partition.bound(1, 4)
    partition.log_start = 5

    assert good((3, 5), (2, 4)) == one(partition.ask(2, 3))
    assert good((0, 3), (0, 2)) == one(partition.ask(1, 2))
    assert good((5, 6), (4, 5)) == one(partition.ask(3, 4))


def test_count_that_can_no_longer_be_made_is_not_known() -> None:
    """With holes, a rank cannot be counted after the records are deleted; the verdict stays."""
    partition = Partition([1, None, 1, 2, 2, 3])
    partition.copy()
    partition.bound(2, 3)
    partition.log_start = 5

    assert good((3, 5), None) == one(partition.ask(2, 3))


def test_interval_that_was_deleted_before_it_was_bounded_is_not_retained() -> None:
    """If the log starts at the bound, earlier records are unknown, so the interval is not verifiable."""
    partition = Partition([1, 1, 2, 2], log_start=2)
    partition.copy()

    assert unverifiable((2, 4), Code.INTERVAL_NOT_RETAINED) == one(partition.ask(1, 3))
    partition.log_start = 4
    assert [Code.INTERVAL_NOT_RETAINED] == one(partition.ask(0, 1))[1]


def test_interval_after_deleted_records_is_known() -> None:
    """If a record before the bound is still held, the deleted records are earlier than it."""
    partition = Partition([1, 1, 2, 2], log_start=1)
    partition.copy()

    assert good((2, 4), (1, 3)) == one(partition.ask(2, 3))


def test_what_was_deleted_before_the_interval_began_was_no_part_of_it() -> None:
    """An idle partition whose log is empty stays answerable: a generation had passed its end before the interval."""
    partition = Partition([1, 1])
    partition.copy(hour=2)
    partition.log_start = 2
    answer, findings = partition.ask(3, 4)

    assert ({}, []) == (answer.topics["orders"].partitions, findings)
    assert [Code.INTERVAL_NOT_RETAINED] == one(partition.ask(1, 4))[1]


def test_gap_in_the_interval_is_not_retained() -> None:
    """Records that were bounded but deleted before they were copied are lost; the others are not copied yet."""
    partition = Partition([1, 1, 1, 1])
    partition.copy(end=1)
    partition.bound(1, 2)
    partition.log_start = 2

    assert unverifiable((0, 4), Code.INTERVAL_NOT_RETAINED, Code.INTERVAL_NOT_COPIED) == one(partition.ask(1, 2))


def test_records_deleted_before_the_first_copy_are_not_retained() -> None:
    """Records that were deleted before MirrorMaker first started are not in the copy; the rest is proved."""
    partition = Partition([1, 1, 1, 2])
    partition.bound(1, 2)
    partition.log_start = 2
    partition.copy()

    assert unverifiable((0, 3), Code.INTERVAL_NOT_RETAINED) == one(partition.ask(1, 2))


def test_partition_that_nothing_was_copied_of_is_not_copied() -> None:
    """Without any generation everything is still to be copied."""
    assert [Code.INTERVAL_NOT_COPIED] == one(Partition([1, 1]).ask(1, 2))[1]


def test_findings_come_once_per_code() -> None:
    """Many ranges of one topic are one finding with the first place and the number of the others."""
    partition = Partition([1, 1, 1, 1])
    partition.copy(end=1, verdict=None)
    partition.copy(end=3, verdict=None)
    partition.copy(verdict=None)
    _, (finding,) = partition.ask(1, 2)

    assert finding.found == "partition 0: offsets [0, 1) are copied and not judged; and 2 more such ranges"


def _lived(dice: random.Random, cuts: Sequence[int], may_delete: bool) -> Partition:
    """Return a partition after a random life: records early and late, holes, runs, and bounds asked at any time."""
    partition = Partition()
    for _ in range(dice.randrange(1, 12)):
        partition.hours += [dice.choice([None, *range(12)]) for _ in range(dice.randrange(8))]
        if dice.random() < 0.5:
            last = partition.ledger.last_stop
            partition.copy(end=dice.randint(last.mirror_positions[P] if last else 0, len(partition.hours)))
        if dice.random() < 0.5:
            partition.bound(*dice.sample(cuts, dice.randint(1, len(cuts))))
        if may_delete and (last := partition.ledger.last_stop) and dice.random() < 0.3:
            partition.log_start = dice.randint(partition.log_start, max(partition.log_start, last.mirror_positions[P]))
    partition.copy()
    partition.bound(*cuts)
    return partition


@pytest.mark.parametrize("lives", [100, pytest.param(2_000, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("may_delete", [False, True])
def test_every_record_is_counted_in_exactly_one_interval(may_delete: bool, lives: int) -> None:
    """Whatever the timestamps, the cuts and the order of asking, the intervals' records add up to those of the log."""
    dice = random.Random(5)
    for _ in range(lives):
        cuts = sorted(dice.sample(range(14), dice.randint(2, 6)))
        partition = _lived(dice, cuts, may_delete)
        intervals = list(pairwise(cuts))
        answers = {}
        for interval in dice.sample(intervals, len(intervals)):
            found, _ = partition.ask(*interval)
            answers[interval] = found.topics["orders"].partitions.get(0)
        edges = [partition.ledger.bounds[at(cut)][P].offset for cut in cuts]

        assert edges == sorted(edges)
        for interval, (begin, end) in zip(intervals, pairwise(edges), strict=True):
            _check(partition, answers[interval], begin, end, may_delete)
        if not may_delete:
            assert partition.visible(edges[0], edges[-1]) == sum(a.records or 0 for a in answers.values() if a)
            assert partition.counted <= len(partition.hours)


def _check(partition: Partition, answer: PartitionAnswer | None, begin: int, end: int, may_delete: bool) -> None:
    """Compare the answer for [begin, end) with the whole log, as it was before anything was deleted."""
    if answer is None:
        assert begin == end
        return
    assert answer.source == (begin, end)
    assert may_delete or answer.verdict is Verdict.PASS
    assert (answer.records is None) is (answer.target is None)
    assert may_delete or answer.records is not None
    if answer.target is not None:
        assert answer.target == (partition.visible(0, begin), partition.visible(0, end))
        assert answer.records == partition.visible(begin, end)
