"""The answer for an interval: the pure rules over the ledger, the bounds and the source's log starts.

An interval's range of a partition is cut at the windows of the generations that copied it; each part has the verdict
of its generation's windows. The location of the copy on the target follows from the ranks of the range's two ends
(`core.translation`). Offsets in earlier answers are used, so that the same records are not counted twice.

The source is read between these steps: `scopes_of`, `positions_to_translate`, `answer_of`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby, pairwise

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import Judgement, Window
from kafka_migration.core.ledger.interval_bounds import (
    Bound,
    IntervalBounds,
    OffsetSpan,
    PartitionAnswer,
    TopicAnswer,
)
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.text.shortened import sentence
from kafka_migration.core.translation.by_partition import OffsetRange, Position, Translation
from kafka_migration.core.translation.copies import PartitionCopy

ASK_AGAIN = "Then ask for the interval again with `--reprocess-behavior completed`."


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an interval's range, with the window that copied it and its judgement, if there are any."""

    start: int
    end: int
    window: Window | None = None
    judgement: Judgement | None = None

    def verdict(self, topic: str) -> Verdict:
        """Return the judgement's verdict on the topic; NOT_VERIFIABLE without a judgement."""
        return Verdict.NOT_VERIFIABLE if self.judgement is None else self.judgement.topics[topic]


@dataclass(frozen=True, slots=True)
class Scope:
    """An interval's range of one partition, how it was copied, and its parts."""

    range: OffsetRange
    copy: PartitionCopy
    is_begin_known: bool
    parts: tuple[Part, ...]
    keeps_partitions: bool

    @property
    def verdict(self) -> Verdict | None:
        """The worst of the parts; `None` if the interval has no records."""
        verdicts = [part.verdict(self.range.partition.topic) for part in self.parts]
        if not self.is_begin_known:
            verdicts.append(Verdict.NOT_VERIFIABLE)
        return worst(verdicts) if verdicts else None

    @property
    def has_ranks(self) -> bool:
        """Whether the ranks of the range's records give their location on the target.

        This requires that a validation found each record on the target once. If records change partition there are no
        ranks.
        """
        windows = [part.window for part in self.parts]
        return (
            self.keeps_partitions
            and self.is_begin_known
            and bool(windows)
            and not any(window is None or self.copy.is_doubtful(window) for window in windows)
        )

    @property
    def ends(self) -> tuple[Position, Position]:
        """The two ends of the range."""
        return Position(self.range.partition, self.range.start), Position(self.range.partition, self.range.end)


def scopes_of(
    ledger: Ledger,
    bounds: IntervalBounds,
    copies: Mapping[TopicPartition, PartitionCopy],
    *,
    keeps_partitions: bool = True,
) -> tuple[Scope, ...]:
    """Return the scope of every partition whose bounds are known, sorted."""
    return tuple(
        _scope(ledger, bounds, p, _cut_at_answers(ledger, p, copies[p]), keeps_partitions) for p in bounds.start
    )


def _scope(
    ledger: Ledger, bounds: IntervalBounds, partition: TopicPartition, copy: PartitionCopy, keeps_partitions: bool
) -> Scope:
    begin, end = bounds.start[partition], bounds.end[partition].offset
    parts = tuple(
        replace(part, judgement=ledger.judgement_on(partition.topic, part.window.generation)) if part.window else part
        for part in _parts(copy, begin.offset, end)
    )
    is_begin_known = _is_begin_known(ledger, bounds.interval.start, partition, begin)
    return Scope(OffsetRange(partition, begin.offset, end), copy, is_begin_known, parts, keeps_partitions)


def _parts(copy: PartitionCopy, start: int, end: int) -> Iterator[Part]:
    """Cut a range at the windows of its copy; parts without a window were not copied."""
    at = start
    for window in copy.windows:
        begin, stop = max(at, window.source_start), min(end, window.source_end)
        if begin >= stop:
            continue
        if at < begin:
            yield Part(at, begin)
        yield Part(begin, stop, window)
        at = stop
    if at < end:
        yield Part(at, end)


def _is_begin_known(ledger: Ledger, time: datetime, partition: TopicPartition, bound: Bound) -> bool:
    """Whether no deleted record can belong to an interval that begins at `time`.

    Either its bound was after the log start at that moment. Or the deleted records were written before the interval,
    because a generation of MirrorMaker had already reached that position.
    """
    if not bound.is_first_held:
        return True
    moments = [moment for g in ledger.generations for moment in (g.start, g.stop) if moment is not None]
    written = [
        moment.mirror_positions[partition]
        for moment in moments
        if partition in moment.mirror_positions and datetime.fromisoformat(moment.at) <= time
    ]
    return max(written, default=0) >= bound.source_log_start


def _cut_at_answers(ledger: Ledger, partition: TopicPartition, copy: PartitionCopy) -> PartitionCopy:
    """Return the copy with its windows cut where earlier answers have both the source and the target offset."""
    known: dict[int, int] = {}
    for answer in ledger.answers.values():
        topic = answer.topics.get(partition.topic)
        mine = topic.partitions.get(partition.partition) if topic is not None else None
        if mine is not None and mine.target is not None:
            known |= dict(zip(mine.source, mine.target, strict=True))
    pieces = (piece for w in copy.windows for piece in ([w] if copy.is_dense(w) else _cut(w, known)))
    return replace(copy, windows=tuple(pieces))


def _cut(window: Window, known: Mapping[int, int]) -> Iterator[Window]:
    inside = {source: target for source, target in known.items() if window.source_start < source < window.source_end}
    ends = {window.source_start: window.target_start, **inside, window.source_end: window.target_end}
    for (source_start, target_start), (source_end, target_end) in pairwise(sorted(ends.items())):
        yield replace(
            window,
            source_start=source_start,
            source_end=source_end,
            target_start=target_start,
            target_end=target_end,
        )


def positions_to_translate(scopes: Iterable[Scope]) -> frozenset[Position]:
    """Return the ends of the ranges whose target offsets must be computed."""
    return frozenset(p for scope in scopes if scope.has_ranks for p in scope.ends if _is_told_by_rank(scope.copy, p))


def _is_told_by_rank(copy: PartitionCopy, position: Position) -> bool:
    """Whether a position is inside a window and its rank can still be counted."""
    window = copy.window_of(position.offset)
    if not window.source_start < position.offset < window.source_end:
        return False
    return copy.is_dense(window) or position.offset >= copy.source_log_start


def answer_of(scopes: Iterable[Scope], translations: Mapping[Position, Translation]) -> dict[str, TopicAnswer]:
    """Return the answer per topic; `translations` holds every one of `positions_to_translate`."""
    return {
        topic: TopicAnswer(dict(_answers(mine, translations)))
        for topic, mine in groupby(scopes, lambda scope: scope.range.partition.topic)
    }


def _answers(
    scopes: Iterable[Scope], translations: Mapping[Position, Translation]
) -> Iterator[tuple[int, PartitionAnswer]]:
    for scope in scopes:
        if scope.verdict is not None:
            partition, start, end = scope.range
            target = _target(scope, translations)
            records = None if target is None else target[1] - target[0]
            yield partition.partition, PartitionAnswer(scope.verdict, (start, end), target, records)


def _target(scope: Scope, translations: Mapping[Position, Translation]) -> OffsetSpan | None:
    """Return the range's target offsets; `None` if they cannot be determined (any more)."""
    if not scope.has_ranks:
        return None
    start, end = (_target_offset(scope.copy, position, translations) for position in scope.ends)
    return None if start is None or end is None else (start, end)


def _target_offset(copy: PartitionCopy, position: Position, translations: Mapping[Position, Translation]) -> int | None:
    window = copy.window_of(position.offset)
    if position.offset <= window.source_start:
        return window.target_start
    if position.offset >= window.source_end:
        return window.target_end
    found = translations.get(position)
    return None if found is None or found.by_ledger else found.target_offset


def interval_findings(scopes: Iterable[Scope], run: str, still_because: str = "") -> dict[str, list[Finding]]:
    """Return per topic why its records of the interval are not proved; verdicts of `run` itself are left out.

    `still_because` is why the run did not start MirrorMaker. Each code appears once per topic, with its first place.
    """
    places: dict[tuple[str, Code], list[str]] = {}
    for scope in scopes:
        for code, place in _places(scope, run):
            places.setdefault((scope.range.partition.topic, code), []).append(place)
    findings: dict[str, list[Finding]] = {}
    for (topic, code), found in places.items():
        more = f"; and {len(found) - 1:,} more such ranges" if len(found) > 1 else ""
        is_still = still_because and code is Code.INTERVAL_NOT_COPIED
        still = f"; MirrorMaker was not started: {still_because}" if is_still else ""
        where = f"{found[0]}{more}{still}"
        expected, matters, remedy = _TEXTS[code]
        happened = sentence(f"In topic {topic}, {where}")
        finding = Finding(code, f"topic {topic}", where, expected, remedy, happened=happened, matters=matters)
        findings.setdefault(topic, []).append(finding)
    return findings


def _places(scope: Scope, run: str) -> Iterator[tuple[Code, str]]:
    (topic, number), start, _ = scope.range
    if not scope.is_begin_known:
        yield (
            Code.INTERVAL_NOT_RETAINED,
            f"partition {number}: the source had already deleted everything before offset {start:,} when the start of "
            "the interval was first looked up; it is known from that offset on",
        )
    for part in scope.parts:
        yield from _part_places(scope, part, topic, run)


def _part_places(scope: Scope, part: Part, topic: str, run: str) -> Iterator[tuple[Code, str]]:
    place = f"partition {scope.range.partition.partition}: offsets [{part.start:,}, {part.end:,})"
    held = max(part.start, min(part.end, scope.copy.source_log_start))
    if part.window is None and part.start < held:
        deleted = f"partition {scope.range.partition.partition}: offsets [{part.start:,}, {held:,})"
        yield Code.INTERVAL_NOT_RETAINED, f"{deleted} were deleted before they were copied"
    if part.window is None and held < part.end:
        yield Code.INTERVAL_NOT_COPIED, f"{place} are not copied"
    if part.window is not None and part.judgement is None:
        yield Code.INTERVAL_NOT_VALIDATED, f"{place} are copied and not judged"
    verdict = part.verdict(topic)
    if part.judgement is not None and not verdict.is_good and part.judgement.run != run:
        code = Code.COPY_DIFFERS if verdict is Verdict.FAIL else Code.RECORDS_NOT_VERIFIABLE
        yield code, f"{place}: {verdict}, judged at {part.judgement.at} by {part.judgement.run}"


_TEXTS = {
    Code.INTERVAL_NOT_RETAINED: (
        "records that were copied, or whose bounds were recorded, before the source deleted them",
        "The source no longer has these records, so they can no longer be compared, and the interval is not proved.",
        "For later intervals, schedule nightly runs more often than the source deletes records: each run records the "
        "bounds of its night. This interval stays unproved.",
    ),
    Code.INTERVAL_NOT_COPIED: (
        "every record of the interval copied",
        "The target lacks these records, so the interval is not proved.",
        "The next nightly run copies them. A backfill copies them before nightly.until, or at any time with the conf "
        f'`{{"mirror_outside_window": true}}`. {ASK_AGAIN}',
    ),
    Code.INTERVAL_NOT_VALIDATED: (
        "every record of the interval judged",
        "No verdict covers these records, so the interval is not proved.",
        f"The next run of any mode except `validate` validates them. {ASK_AGAIN}",
    ),
    Code.COPY_DIFFERS: (
        "an equal copy",
        "The records of the interval on the target differ from those on the source.",
        "The report of the run that judged them names the first difference. When the copy is repaired, validate all of "
        f"it with mode `validate`. {ASK_AGAIN}",
    ),
    Code.RECORDS_NOT_VERIFIABLE: (
        "a copy that could be compared",
        "Whether the records of the interval are the same on both sides is unknown.",
        "The report of the run that judged them says what could not be read. If it is readable now, validate the whole "
        f"copy with mode `validate`. {ASK_AGAIN}",
    ),
}
