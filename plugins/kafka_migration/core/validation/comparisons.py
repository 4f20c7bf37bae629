"""The comparisons of the Spark job, as recorded in the ledger."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.ledger.judgements import Comparison, ReadOffsets
from kafka_migration.core.validation.validation_contract import PartitionResult, TopicResult, ValidationResult


def comparisons_of(
    result: ValidationResult, verdicts: Mapping[str, Sequence[Verdict]], *, whole: bool
) -> dict[str, tuple[Comparison, ...]]:
    """Return the comparisons of a result, for each topic in `verdicts`.

    Empty windows are left out. A whole validation keeps them, because they replace earlier comparisons.
    """
    windows: dict[str, list[PartitionResult]] = {}
    for found in result.partitions:
        windows.setdefault(found.window.topic, []).append(found)
    by_key: dict[str, list[TopicResult]] = {}
    for topic in result.topics:
        by_key.setdefault(topic.topic, []).append(topic)
    return {
        topic: tuple(
            comparison
            for comparison in _comparisons(mine, by_key.get(topic, []), verdicts[topic], keep_empty=whole)
            if comparison.windows
        )
        for topic, mine in windows.items()
        if topic in verdicts
    }


def _comparisons(
    windows: Sequence[PartitionResult],
    by_key: Sequence[TopicResult],
    verdicts: Sequence[Verdict],
    *,
    keep_empty: bool,
) -> Iterator[Comparison]:
    if not by_key:
        for window, verdict in zip(sorted(windows, key=_place), verdicts, strict=True):
            yield _comparison(verdict, window, [window], keep_empty=keep_empty)
    else:
        for topic, verdict in zip(sorted(by_key, key=lambda t: t.generation), verdicts, strict=True):
            mine = [w for w in windows if w.window.generation == topic.generation]
            yield _comparison(verdict, topic, mine, keep_empty=keep_empty)


def _place(result: PartitionResult) -> tuple[int, int]:
    return result.window.partition, result.window.source_start


def _comparison(
    verdict: Verdict, found: PartitionResult | TopicResult, windows: Sequence[PartitionResult], *, keep_empty: bool
) -> Comparison:
    sides = {
        "source": any(w.source_unreadable is not None for w in windows),
        "target": any(w.target_unreadable is not None for w in windows),
    }
    return Comparison(
        verdict=verdict,
        windows=tuple(_read_offsets(w.window) for w in windows if keep_empty or not w.window.is_empty),
        source_records=sum(w.source.records for w in windows),
        target_records=sum(w.target.records for w in windows),
        source_digest=found.source_digest,
        # Records without a timestamp equal their copies whatever the copies' times, which are in the digest.
        target_digest=found.source_digest if found.equal else found.target_digest,
        unreadable=tuple(side for side, is_unreadable in sides.items() if is_unreadable),
    )


def _read_offsets(window: Window) -> ReadOffsets:
    return ReadOffsets(
        partition=window.partition,
        generation=window.generation,
        source_start=window.source_start,
        source_end=window.source_end,
        target_start=window.target_start,
        target_end=window.target_end,
    )
