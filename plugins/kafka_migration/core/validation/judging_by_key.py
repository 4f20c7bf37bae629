"""What a comparison by key means: a verdict and a finding per topic."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.migration.tolerance import NO_TOLERANCE, Tolerance
from kafka_migration.core.validation.contract import PartitionResult, TopicResult
from kafka_migration.core.validation.difference_words import (
    EXPLANATIONS,
    UNPROVED_REMEDY,
    UNREADABLE_REMEDY,
    describe_counts,
    kcat_command,
    record_words,
    topic_words,
)
from kafka_migration.core.validation.differences import Difference, DifferenceKind, Differences
from kafka_migration.core.validation.tolerance import tolerated

_TAIL = frozenset({DifferenceKind.EXTRA, DifferenceKind.DUPLICATE, DifferenceKind.STALE})
# What happens to a key whose partition changes while it is copied.
_OTHER_PARTITION = frozenset({DifferenceKind.MOVED, DifferenceKind.REORDERED})


@dataclass(frozen=True, slots=True)
class GenerationEvents:
    """What the ledger knows of the generations that a comparison covers.

    :param killed: those that ended ungracefully
    :param grown: those during which the target got partitions
    """

    killed: Collection[int] = ()
    grown: Collection[int] = ()

    def limited_to(self, generations: range) -> GenerationEvents:
        """Return what is known of these generations."""
        return GenerationEvents(
            {g for g in self.killed if g in generations}, {g for g in self.grown if g in generations}
        )

    def was_replayed(self, last: int) -> bool:
        """Whether a generation that was killed was followed by another of those compared."""
        return any(generation < last for generation in self.killed)


UNEVENTFUL = GenerationEvents()


def judge_topic_by_key(
    result: TopicResult,
    windows: Sequence[PartitionResult],
    *,
    events: GenerationEvents = UNEVENTFUL,
    tolerance: Tolerance = NO_TOLERANCE,
) -> tuple[Verdict, Finding | None]:
    """Judge what one topic copied.

    What cannot be read is not verifiable; a difference in the rest is one all the same.
    """
    unreadable = [f"partition {w.window.partition}, {text}" for w in windows for text in w.unreadable]
    if result.equal and not unreadable:
        return Verdict.PASS, None
    found = result.differences and result.differences.known
    verdict, code, remedy = _judged(result, found, events, tolerance)
    is_rest_good = verdict is not Verdict.FAIL or not found or not found.damage
    if unreadable and is_rest_good:
        return Verdict.NOT_VERIFIABLE, _unreadable_finding(result, unreadable)
    if result.differences and result.differences.is_unproved and is_rest_good:
        return Verdict.NOT_VERIFIABLE, _finding(result, Code.RECORDS_NOT_VERIFIABLE, UNPROVED_REMEDY)
    return verdict, _finding(result, code, remedy)


def is_tail(found: Differences | None) -> bool:
    """Whether there are only records more on the target, as a generation that was killed may have left them."""
    return found is not None and bool(found.unexplained) and found.unexplained <= _TAIL


def _judged(
    result: TopicResult, found: Differences | None, events: GenerationEvents, tolerance: Tolerance
) -> tuple[Verdict, Code, str]:
    """Judge differences.

    After a generation that was killed the next one sends records again: where one followed, duplicates are a warning.
    Records more on the target that a *last* generation may have left, past its position, are not verifiable; neither is
    the order of keys while the target got partitions. Everything else that is not explained is `FAIL`.
    """
    good = tolerated(tolerance, found, replayed=events.was_replayed(result.generation))
    if good is not None:
        return *good, EXPLANATIONS[good[1]]
    damage = found.unexplained if found else frozenset()
    if is_tail(found) and result.generation in events.killed:
        return Verdict.NOT_VERIFIABLE, Code.RECORDS_NOT_VERIFIABLE, _KILLED
    if damage and damage <= _OTHER_PARTITION and events.grown:
        return Verdict.NOT_VERIFIABLE, Code.RECORDS_NOT_VERIFIABLE, _GROWN
    return Verdict.FAIL, Code.COPY_DIFFERS, f"Look at both sides: {_first_commands(result)}"


_KILLED = (
    "This generation of MirrorMaker ended ungracefully, so these may be records that it copied without storing its "
    "position. Once a later run has ended in order, mode `validate` tells."
)
_GROWN = (
    "The target got partitions while MirrorMaker ran, so keys changed their partition: every record is there, but the "
    "order of such keys cannot be told."
)


def _unreadable_finding(result: TopicResult, unreadable: Sequence[str]) -> Finding:
    return Finding(
        Code.RECORDS_NOT_VERIFIABLE,
        _subject(result),
        "; ".join(unreadable[:3]) + (f"; and {len(unreadable) - 3} more" if len(unreadable) > 3 else ""),
        "every record of the topic's windows: a key may be in any of its partitions",
        UNREADABLE_REMEDY,
    )


def _finding(result: TopicResult, code: Code, remedy: str) -> Finding:
    return Finding(
        code,
        _subject(result),
        f"{record_words(result.source_records, result.target_records)}; {describe_differences(result.differences)}",
        "the same records, those of each key in the same order",
        remedy,
    )


def describe_differences(differences: Differences | None) -> str:
    """Return how many differences of each kind there are and where the first is, as a phrase."""
    if differences is None or not differences.first:
        return "the digests differed at first; read again, the records are equal"
    first = differences.first[0]
    fields = f" in {', '.join(first.fields)}" if first.fields else ""
    return f"{describe_counts(differences)}; the first: {first.kind}{fields} at {' and '.join(_places(first))}"


def _places(difference: Difference) -> list[str]:
    sides = (
        ("source", difference.source_partition, difference.source_offset),
        ("target", difference.target_partition, difference.target_offset),
    )
    return [f"{side} partition {p} offset {offset}" for side, p, offset in sides if offset is not None]


def _subject(result: TopicResult) -> str:
    return f"{topic_words(result.topic, result.target_topic)}, generation {result.generation}"


def _first_commands(result: TopicResult) -> str:
    if result.differences is None or not result.differences.first:
        return "validate again"
    first = result.differences.first[0]
    sides = (
        ("source", result.topic, first.source_partition, first.source_offset),
        ("target", result.target_topic, first.target_partition, first.target_offset),
    )
    return " and ".join(
        kcat_command(f"<{side} bootstrap servers>", topic, p, offset)
        for side, topic, p, offset in sides
        if p is not None and offset is not None
    )
