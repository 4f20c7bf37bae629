"""What a comparison by key means: a verdict and a finding per topic."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kafka_migration.core.codes import Code
from kafka_migration.core.differences import Difference, DifferenceKind, Differences
from kafka_migration.core.errors import Finding
from kafka_migration.core.finding_words import (
    UNREADABLE_REMEDY,
    describe_counts,
    kcat_command,
    record_words,
    topic_words,
)
from kafka_migration.core.validation import PartitionResult, TopicResult
from kafka_migration.core.verdict import Verdict

_REPLAY = frozenset({DifferenceKind.DUPLICATE})
_TAIL = frozenset({DifferenceKind.EXTRA, DifferenceKind.DUPLICATE, DifferenceKind.STALE})


def judge_topic_by_key(
    result: TopicResult, windows: Sequence[PartitionResult], *, killed: Collection[int]
) -> tuple[Verdict, Finding | None]:
    """Judge what one topic copied; `killed` are those of the generations compared that ended ungracefully.

    After such an end the next generation sends records again: where one followed, duplicates are a warning. Records
    more on the target that a *last* generation may have left, past its position, are not verifiable. Keys that several
    source partitions hold are equal as far as order is defined. Everything else that differs is `FAIL`.
    """
    unreadable = [f"partition {w.window.partition}, {text}" for w in windows for text in w.unreadable]
    if unreadable:
        return Verdict.NOT_VERIFIABLE, _unreadable_finding(result, unreadable)
    if result.equal:
        return Verdict.PASS, None
    damage = result.differences.damage if result.differences else None
    if damage == frozenset():
        return Verdict.PASS, _finding(result, Code.KEYS_IN_SEVERAL_PARTITIONS, _INTERLEAVED)
    if damage == _REPLAY and any(generation < result.generation for generation in killed):
        return Verdict.WARN, _finding(result, Code.RECORDS_REPLAYED, "Consumers of the target read them twice.")
    if damage and damage <= _TAIL and result.generation in killed:
        return Verdict.NOT_VERIFIABLE, _finding(result, Code.RECORDS_NOT_VERIFIABLE, _KILLED)
    return Verdict.FAIL, _finding(result, Code.COPY_DIFFERS, f"Look at both sides: {_first_commands(result)}")


_INTERLEAVED = (
    "The source holds keys in several partitions, between which Kafka has no order. Within each of them the order was "
    "compared, and kept."
)
_KILLED = (
    "This generation of MirrorMaker ended ungracefully, so these may be records that it copied without storing its "
    "position. Once a later run has ended in order, mode `validate` tells."
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
