"""Reads the source for a run's interval: its bounds, and whether its records were copied; the rules are in core."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from kafka_migration.core.backfill.backfill_answers import (
    answer_of,
    interval_findings,
    positions_to_translate,
    scopes_of,
)
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.interval_bounds import (
    Bounds,
    BoundsResolved,
    IntervalAnswer,
    IntervalBounds,
    between_known,
    lacking_bounds,
)
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.run_window import Interval
from kafka_migration.core.stored.stored_documents import MirrorStarted, Stored
from kafka_migration.core.translation.by_partition import counts_needed, translate
from kafka_migration.core.translation.copies import copies_of
from kafka_migration.steps.reading.exact_reads import every_value, visible_counts
from kafka_migration.steps.run.guards import hold_ledger
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of


@dataclass(frozen=True, slots=True)
class IntervalAnswered:
    """The answer for the run's interval, and the findings per topic about records that are not proved."""

    answer: IntervalAnswer
    findings: Mapping[str, list[Finding]]


def resolve_bounds(run: MigrationRun, ledger: Ledger, source: Mapping[str, TopicDescription]) -> IntervalBounds | None:
    """Return the bounds of the run's interval, or `None` if it has none. Bounds missing in the ledger are read."""
    interval = run.run_window.interval
    if interval is None:
        return None
    known = ledger.bounds
    lacking = lacking_bounds(known, (interval.start, interval.end), partitions_of(source))
    if lacking:
        hold_ledger(run)
        resolved = _resolved(run, known, lacking)
        run.ledger.append(resolved.to_document())
        known = resolved.added_to(known)
    return IntervalBounds.of(known, interval, run.migration.topics)


def _resolved(
    run: MigrationRun, known: Bounds, lacking: Mapping[datetime, Collection[TopicPartition]]
) -> BoundsResolved:
    found: dict[datetime, Offsets] = {}
    for time, partitions in sorted(lacking.items()):
        offsets = run.source.offsets_for_time(partitions, time, run.migration.mirror.isolation_level)
        found[time] = every_value(offsets, partitions, f"first offset at {time.isoformat()}")
    # Read log starts last, so that records deleted meanwhile do not appear to have existed when the bounds were read.
    partitions = {partition for offsets in found.values() for partition in offsets}
    log_start = every_value(run.source.log_start_offsets(partitions), partitions, "source log start")
    bounds = {time: between_known(known, time, offsets) for time, offsets in found.items()}
    return BoundsResolved(run.identity.holder, run.now(), bounds, log_start)


def recorded_answer(run: MigrationRun) -> IntervalAnswered | None:
    """Return the answer for the run's interval, added to the ledger unless it is already there; `None` without one.

    Raises `TransientError` when a value cannot be read: nothing is answered on unknown values.
    """
    if run.request.mode is not Mode.INTERVAL:
        return None
    # `plan` has refused a run of this mode without an interval.
    assert run.run_window.interval is not None
    ledger = run.ledger.known()
    answered = _answer(run, run.run_window.interval, ledger)
    known = ledger.answers.get(answered.answer.interval)
    if known is None or known.topics != answered.answer.topics:
        hold_ledger(run)
        run.ledger.append(answered.answer.to_document())
    return answered


def _answer(run: MigrationRun, interval: Interval, ledger: Ledger) -> IntervalAnswered:
    bounds = IntervalBounds.of(ledger.bounds, interval, run.migration.topics)
    log_start = every_value(run.source.log_start_offsets(bounds.start), bounds.start, "source log start")
    ends = every_value(run.source.log_end_offsets(bounds.start, "read_uncommitted"), bounds.start, "source end")
    copies = copies_of(ledger, log_start, ends, {})
    scopes = scopes_of(ledger, bounds, copies, keeps_partitions=run.migration.keeps_partitions)
    copies = {scope.range.partition: scope.copy for scope in scopes}
    positions = positions_to_translate(scopes)
    counts = visible_counts(run.source, counts_needed(copies, positions), run.migration.mirror.isolation_level)
    topics = answer_of(scopes, translate(copies, positions, counts))
    answer = IntervalAnswer(run.identity.holder, run.now(), interval, topics)
    return IntervalAnswered(answer, interval_findings(scopes, run.identity.holder, _still_because(run)))


def _still_because(run: MigrationRun) -> str:
    """Return why the run did not start MirrorMaker; empty if it did."""
    start = run.evidence.newest(Stored.START)
    return "" if isinstance(start, MirrorStarted) else run.run_window.still_at(run.clock.now())
