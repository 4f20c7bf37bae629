"""The verdicts of a validation: a verdict and a finding per window, per topic, and the comparisons for the ledger."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.ledger.generations import Comparison, ReadOffsets, Window
from kafka_migration.core.migration.settings import NO_TOLERANCE, Tolerance
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.difference_words import (
    DIFFERS,
    EXPLANATIONS,
    OF_A_KILL,
    UNPROVED,
    compare_commands,
    describe_counts,
    describe_kind,
    record_words,
    topic_words,
    unreadable_words,
)
from kafka_migration.core.validation.differences import Differences, FirstDifference, merged, tolerated
from kafka_migration.core.validation.judging_by_key import (
    UNEVENTFUL,
    GenerationEvents,
    is_tail,
    judge_topic_by_key,
    surplus_in_place,
)
from kafka_migration.core.validation.validation_contract import (
    PartitionResult,
    TopicResult,
    ValidationResult,
)


def judge_partition(
    result: PartitionResult,
    *,
    events: GenerationEvents = UNEVENTFUL,
    tolerance: Tolerance = NO_TOLERANCE,
) -> tuple[Verdict, Finding | None]:
    """Judge one window of a copy that keeps partitions.

    A difference between records that were read is `FAIL`, even if other records could not be read. If one side only
    has more records because the other could not be read further, the window is `NOT_VERIFIABLE`. Differences that are
    explained key by key are a warning. After an ungraceful end the target may hold records past the stored position
    that the next generation sends again. Such a tail alone is `NOT_VERIFIABLE` until that generation is known.
    """
    judged = _judged_by_records(result, events, tolerance)
    if events.lengths is None:
        return judged
    surplus = surplus_in_place(result.window, events.lengths, events.killed, events.resent)
    return surplus.applied_to(judged, _subject(result.window), _counts(result))


def _judged_by_records(
    result: PartitionResult, events: GenerationEvents, tolerance: Tolerance
) -> tuple[Verdict, Finding | None]:
    difference, last = result.first_difference, result.window.generation
    if result.equal and not result.unreadable:
        return Verdict.PASS, None
    found = result.differences and result.differences.known
    good = _explained(result, found, tolerance, events)
    is_tail_of_killed = (last in events.killed or _may_continue(result, events)) and (
        (difference is not None and difference.is_target_tail) or _is_tail(result, found, events)
    )
    if result.unreadable and (good is not None or is_tail_of_killed or _is_rest_equal(result, found)):
        return Verdict.NOT_VERIFIABLE, _unreadable_finding(result)
    if result.differences and result.differences.is_unproved:
        if good is not None or is_tail_of_killed or not (found and found.damage):
            return Verdict.NOT_VERIFIABLE, _unproved_finding(result)
    elif good is not None:
        return good[0], _explained_finding(result, good[1])
    elif is_tail_of_killed:
        return Verdict.NOT_VERIFIABLE, _tail_finding(result)
    return Verdict.FAIL, _difference_finding(result)


def _explained(
    result: PartitionResult, found: Differences | None, tolerance: Tolerance, events: GenerationEvents
) -> tuple[Verdict, Code] | None:
    """Return a good verdict and its code if all differences within keys and the order between keys are explained."""
    difference, last = result.first_difference, result.window.generation
    if result.rest_in_order and not (found and found.unexplained):
        return Verdict.PASS, Code.RECORDS_COMPACTED
    if difference is not None and difference.kind.is_order:
        # The order between keys differs; differences within keys do not show this.
        return None
    good = tolerated(tolerance, found, replayed=events.was_replayed(last))
    if good == (Verdict.PASS, Code.RECORDS_COMPACTED):
        return Verdict.WARN, Code.ORDER_NOT_COMPARED
    if good == (Verdict.WARN, Code.RECORDS_REPLAYED) and last in events.killed and not result.rest_in_order:
        # They may also be the first copy of later records that look the same.
        return None
    return good


def _may_continue(result: PartitionResult, events: GenerationEvents) -> bool:
    """Whether a killed generation may have sent records that the ones after it have not passed yet.

    Its source range has as many offsets as records were sent, so each hole of the source may have brought it further.
    """
    window = result.window
    if not window.pieces or result.differences is None:
        return False
    *_, last = window.pieces
    holes = window.source_end - window.source_start - result.source.records
    extra = (d.target_offset for d in result.differences.first if d.kind.is_foreign)
    is_passed = all(end + holes <= last.source_end for end in _furthest_ends(window, events))
    # Records that the source has deleted since are extra too, also where the last piece sent them.
    is_cut = result.source_unreadable is not None
    return not is_passed and (is_cut or all(offset is not None and offset < last.target_start for offset in extra))


def _furthest_ends(window: Window, events: GenerationEvents) -> Iterator[int]:
    """Yield the source offset up to which each killed piece may have been sent, if the source has no holes.

    Of one that sent records again within itself, only the number of records on the target is known.
    """
    for piece, later in pairwise(window.pieces):
        sent = later.target_start - piece.target_start if piece.generation in events.resent else 0
        yield max(piece.source_end, piece.source_start + sent)


def _is_tail(result: PartitionResult, found: Differences | None, events: GenerationEvents) -> bool:
    """Whether the target only has additional records, apart from records that were deleted or sent again."""
    damage = result.differences.damage if result.differences else frozenset()
    is_mixed = bool(result.window.pieces or events.resent) or any(k.is_compacted or k.is_unknown for k in damage)
    # Without ranks, because a side has deleted the beginning, only the keys show a tail.
    return is_tail(found) and (is_mixed or result.first_difference is None)


def _is_rest_equal(result: PartitionResult, found: Differences | None) -> bool:
    """Whether only unreadable records differ."""
    if result.first_difference is not None:
        return _is_where_reading_ended(result, result.first_difference)
    return not found or not found.damage


def _is_where_reading_ended(result: PartitionResult, difference: FirstDifference) -> bool:
    source_ended = result.source_unreadable is not None and difference.source_offset is None
    target_ended = result.target_unreadable is not None and difference.target_offset is None
    return source_ended or target_ended


def _subject(window: Window) -> str:
    topic = topic_words(window.topic, window.target_topic)
    return f"{topic}, partition {window.partition}, generation {window.generation}"


def _ranges(window: Window) -> str:
    return (
        f"source offsets [{window.source_start:,}, {window.source_end:,}) against "
        f"target offsets [{window.target_start:,}, {window.target_end:,})"
    )


def _unreadable_finding(result: PartitionResult) -> Finding:
    code, words = unreadable_words(has_bad_record=result.has_bad_record)
    found = some(result.unreadable, separator="; ", longest=LONGEST_SENTENCE)
    return words.finding(code, _subject(result.window), found, f"every record of {_ranges(result.window)}")


def _unproved_finding(result: PartitionResult) -> Finding:
    return UNPROVED.finding(
        Code.RECORDS_NOT_VERIFIABLE, _subject(result.window), _counts(result), _same_records(result.window)
    )


def _tail_finding(result: PartitionResult) -> Finding:
    difference = result.first_difference
    assert difference is not None
    return OF_A_KILL.finding(
        Code.RECORDS_NOT_VERIFIABLE,
        _subject(result.window),
        f"{_counts(result)}; the target equals the source and then has more records from target "
        f"offset {difference.target_offset} on ({difference.kind})",
        _same_records(result.window),
        f" Check them: {_commands(result.window, difference)}.",
    )


def _difference_finding(result: PartitionResult) -> Finding:
    difference = result.first_difference or FirstDifference(
        DifferenceKind.UNCLASSIFIED, None, None, (), "The digests differ; the place was not determined."
    )
    return DIFFERS.finding(
        Code.COPY_DIFFERS,
        _subject(result.window),
        f"{_counts(result)}; first difference {describe_kind(difference)} at "
        f"{_place('source', difference.source_offset)}, {_place('target', difference.target_offset)}: "
        f"{difference.detail.rstrip('.')}",
        f"the same records in the same order in {_ranges(result.window)}",
        _commands(result.window, difference),
    )


def _explained_finding(result: PartitionResult, code: Code) -> Finding:
    subject = _subject(result.window)
    return EXPLANATIONS[code].finding(code, subject, _counts(result), _same_records(result.window))


def _same_records(window: Window) -> str:
    return f"the same records in {_ranges(window)}"


def _counts(result: PartitionResult) -> str:
    counts = record_words(result.source.records, result.target.records)
    return f"{counts}; {describe_counts(result.differences.counts)}" if result.differences else counts


def _place(side: str, offset: int | None) -> str:
    return f"the end of the {side} window" if offset is None else f"{side} offset {offset}"


def _commands(window: Window, difference: FirstDifference) -> str:
    """Return the commands that show the records of a difference; the first one of a side that has none there."""
    source = window.source_start if difference.source_offset is None else difference.source_offset
    target = window.target_start if difference.target_offset is None else difference.target_offset
    return compare_commands(
        ("source", window.topic, window.partition, source), ("target", window.target_topic, window.partition, target)
    )


@dataclass(frozen=True, slots=True)
class TopicVerdict:
    """The verdict on all windows of one topic, its counts, one finding per comparison not passed, and warnings.

    `differences` are those within keys. `verdicts` are those of the comparisons: by position one per window, ordered by
    partition and source offset, by key one per generation, in order.
    """

    topic: str
    target_topic: str
    verdict: Verdict
    source_records: int
    target_records: int
    findings: tuple[Finding, ...]
    warnings: tuple[Finding, ...]
    differences: Differences
    verdicts: tuple[Verdict, ...]


def judge_topics(
    result: ValidationResult,
    *,
    events: Mapping[str, GenerationEvents] = MappingProxyType({}),
    tolerance: Tolerance = NO_TOLERANCE,
) -> tuple[TopicVerdict, ...]:
    """Judge every topic of a result, sorted by name.

    :param events: per topic, what is known of the generations compared
    """
    return tuple(
        _topic_verdict(
            topic,
            windows,
            list(_judged_by_key(by_key, windows, events.get(topic, UNEVENTFUL), tolerance))
            if by_key
            else list(_judged_by_position(windows, events.get(topic, UNEVENTFUL), tolerance)),
            merged(filter(None, [*(t.differences for t in by_key), *(w.differences for w in windows)])),
        )
        for topic, windows, by_key in _by_topic(result)
    )


def _by_topic(result: ValidationResult) -> Iterator[tuple[str, list[PartitionResult], list[TopicResult]]]:
    """Yield the results of each topic, sorted: the windows by partition and source offset, by key the generations."""
    windows: dict[str, list[PartitionResult]] = {}
    for each in sorted(result.partitions, key=lambda each: (each.window.partition, each.window.source_start)):
        windows.setdefault(each.window.topic, []).append(each)
    by_key: dict[str, list[TopicResult]] = {}
    for topic in sorted(result.topics, key=lambda topic: topic.generation):
        by_key.setdefault(topic.topic, []).append(topic)
    return ((topic, windows[topic], by_key.get(topic, [])) for topic in sorted(windows))


Judged = Sequence[tuple[Verdict, Finding | None]]


def _judged_by_position(
    results: Iterable[PartitionResult], events: GenerationEvents, tolerance: Tolerance
) -> Iterator[tuple[Verdict, Finding | None]]:
    """Judge windows in their order; each covers the generations after those of the previous one."""
    before: dict[int, int] = {}
    for result in results:
        window = result.window
        mine = events.limited_to(
            range(min(before.get(window.partition, 0) + 1, window.generation), window.generation + 1),
            also_killed=window.replaying,
        )
        yield judge_partition(result, events=mine, tolerance=tolerance)
        before[window.partition] = window.generation


def _judged_by_key(
    topics: Sequence[TopicResult],
    results: Sequence[PartitionResult],
    events: GenerationEvents,
    tolerance: Tolerance,
) -> Iterator[tuple[Verdict, Finding | None]]:
    """Judge comparisons in order; each covers the generations after those of the previous one."""
    before = 0
    for topic in topics:
        mine = events.limited_to(range(before + 1, topic.generation + 1))
        yield judge_topic_by_key(topic, _of_generation(results, topic), events=mine, tolerance=tolerance)
        before = topic.generation


def _topic_verdict(
    topic: str, results: Sequence[PartitionResult], judged: Judged, differences: Differences
) -> TopicVerdict:
    verdicts = [verdict for verdict, _ in judged]
    return TopicVerdict(
        topic=topic,
        target_topic=results[0].window.target_topic,
        verdict=worst(verdicts),
        source_records=sum(r.source.records for r in results),
        target_records=sum(r.target.records for r in results),
        findings=tuple(f for verdict, f in judged if f is not None and not verdict.is_good),
        warnings=tuple(f for verdict, f in judged if f is not None and verdict.is_good),
        differences=differences,
        verdicts=tuple(verdicts),
    )


def comparisons_of(
    result: ValidationResult, verdicts: Mapping[str, Sequence[Verdict]], *, whole: bool
) -> dict[str, tuple[Comparison, ...]]:
    """Return the comparisons of a result, for each topic in `verdicts`.

    Empty windows are left out. A whole validation keeps them, because they replace earlier comparisons.
    """
    found = {}
    for topic, windows, by_key in _by_topic(result):
        if topic in verdicts:
            pairs = zip(_compared(windows, by_key), verdicts[topic], strict=True)
            mine = (_comparison(verdict, *each, keep_empty=whole) for each, verdict in pairs)
            found[topic] = tuple(each for each in mine if each.windows)
    return found


def _compared(
    windows: Iterable[PartitionResult], by_key: Iterable[TopicResult]
) -> list[tuple[PartitionResult | TopicResult, list[PartitionResult]]]:
    """Return each comparison of a topic with its windows."""
    return [(each, _of_generation(windows, each)) for each in by_key] or [(each, [each]) for each in windows]


def _of_generation(windows: Iterable[PartitionResult], topic: TopicResult) -> list[PartitionResult]:
    return [each for each in windows if each.window.generation == topic.generation]


def _comparison(
    verdict: Verdict, found: PartitionResult | TopicResult, windows: Sequence[PartitionResult], *, keep_empty: bool
) -> Comparison:
    unreadable = {"source": [w.source_unreadable for w in windows], "target": [w.target_unreadable for w in windows]}
    return Comparison(
        verdict=verdict,
        windows=tuple(ReadOffsets.of(w.window) for w in windows if keep_empty or not w.window.is_empty),
        source_records=sum(w.source.records for w in windows),
        target_records=sum(w.target.records for w in windows),
        source_digest=found.source_digest,
        # Records without a timestamp equal their copies whatever the copies' times, which are in the digest.
        target_digest=found.source_digest if found.equal else found.target_digest,
        unreadable=tuple(side for side, texts in unreadable.items() if any(text is not None for text in texts)),
    )
