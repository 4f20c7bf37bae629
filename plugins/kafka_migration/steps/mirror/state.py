"""Reads MirrorMaker's positions, and compares the state of both clusters with the last stop certificate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass

from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import IsolationLevel, KafkaCluster, Probe, TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, Ranges, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.ledger.generations import StopCertificate
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.watching.drain import beyond_end_findings, expected_next, gap_findings, gaps_of
from kafka_migration.core.watching.fence import held_back, held_back_findings
from kafka_migration.core.watching.gap_guard import (
    SourceTruth,
    continuity_findings,
    fingerprints_to_read,
    recreated_source_findings,
    stale_state_findings,
)
from kafka_migration.steps.reading.exact_reads import every_value
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of

NOTHING_KNOWN: Offsets = {}


@dataclass(frozen=True, slots=True)
class MirrorState:
    """The state of the copy per source partition.

    `stored` are the positions that MirrorMaker stored. `mirror_positions` are the next source offsets to copy. They
    include what the ledger proved, and begin at the source's log start if nothing was ever copied.
    `source_end_offsets` are the ends that MirrorMaker's isolation level shows. `target_end_offsets` belong to the
    target's partitions, which may differ from the source's.
    """

    source: Mapping[str, TopicDescription]
    stored: Offsets
    mirror_positions: Offsets
    source_log_start: Offsets
    source_end_offsets: Offsets
    target_end_offsets: Offsets

    @property
    def source_topic_ids(self) -> dict[str, str]:
        """The ids of the source's topics, where brokers give them."""
        return topic_ids(self.source)


def topic_ids(topics: Mapping[str, TopicDescription]) -> dict[str, str]:
    """Return the ids of the topics, where brokers give them."""
    return {topic: description.topic_id for topic, description in topics.items() if description.topic_id}


def mirror_state(
    run: MigrationRun,
    ledger: Ledger,
    source: Mapping[str, TopicDescription],
    target: Mapping[str, TopicDescription],
    known: Offsets = NOTHING_KNOWN,
) -> MirrorState:
    """Read the state; partitions that the target does not have yet have target end 0.

    `known` are positions of partitions that are included even if their topic is gone from the source. Raises
    `TransientError` when an offset cannot be read, or when a transaction of an earlier MirrorMaker is still open.
    """
    partitions = partitions_of(source)
    # Read first, because a transaction that ends meanwhile also moves the stored positions.
    target_ends = _target_ends(run, target)
    log_start = every_value(run.source.log_start_offsets(partitions), partitions, "source log start")
    stored = run.engine.stored_positions({*source, *(p.topic for p in known)})
    certified = ledger.last_stop.mirror_positions if ledger.last_stop else {}
    # Untrusted positions count as the offsets to which they will be reset.
    trusted = {p: ledger.rewind.get(p, offset) for p, offset in stored.items()}
    begin = {p: certified.get(p, trusted.get(p, log_start[p])) for p in partitions}
    ends = run.source.log_end_offsets(partitions, run.migration.mirror.isolation_level)
    return MirrorState(
        source=source,
        stored=stored,
        mirror_positions=expected_next({**known, **begin}, trusted, {}),
        source_log_start=log_start,
        source_end_offsets=every_value(ends, partitions, "source end"),
        target_end_offsets={**dict.fromkeys(partitions, 0), **target_ends},
    )


def _target_ends(run: MigrationRun, target: Mapping[str, TopicDescription]) -> Offsets:
    """Return the target's ends; with exactly-once only if no open transaction can change the records before them."""
    partitions = partitions_of(target)
    ends = every_value(run.target.log_end_offsets(partitions, "read_uncommitted"), partitions, "target end")
    if run.migration.mirror.exactly_once:
        positions = partitions_of(run.target.describe_topics(run.engine.position_topics()))
        _require_no_open_transaction(run, {**ends, **run.target.log_end_offsets(positions, "read_uncommitted")})
    return ends


def _require_no_open_transaction(run: MigrationRun, ends: Offsets) -> None:
    stable = run.target.log_end_offsets(tuple(ends), "read_committed")
    unsettled = [p for p, end in ends.items() if stable.get(p) != end]
    if unsettled:
        raise TransientError(f"a transaction of MirrorMaker is still open on target {unsettled[0]}")


def state_findings(run: MigrationRun, ledger: Ledger, state: MirrorState) -> tuple[Finding, ...]:
    """Return what forbids a start: changes since the last stop, and records lost before they were copied."""
    last = ledger.last_stop
    other_topics = recreated_source_findings(last, _source_truth(run, last, state))
    return (
        *continuity_findings(last, state.stored, state.target_end_offsets, run.engine.restore_command),
        *other_topics,
        *stale_state_findings(state.stored, ledger.copied_topics, run.engine.reset_command()),
        *gap_findings(gaps_of(state.mirror_positions, state.source_log_start)),
        *beyond_end_findings(state.mirror_positions, state.source_end_offsets, {each.subject for each in other_topics}),
    )


def _source_truth(run: MigrationRun, last: StopCertificate | None, state: MirrorState) -> SourceTruth:
    wanted = fingerprints_to_read(last, state.source_log_start)
    if not wanted:
        return SourceTruth(state.source, {})
    found = run.source.records_at(wanted, run.migration.mirror.isolation_level)
    prints = every_value(found, wanted, "last copied source record")
    configs = run.source.effective_configs({p.topic for p in wanted}, "cleanup.policy")
    # Records that the source deleted meanwhile, or that cannot be read, prove nothing.
    held = fingerprints_to_read(last, run.source.log_start_offsets(tuple(wanted)))
    return SourceTruth(
        state.source,
        {p: record for p in held if (record := prints[p]) is None or not record.unreadable},
        {topic for topic, values in configs.items() if "compact" in values.get("cleanup.policy", "")},
    )


def probe_held(source: KafkaCluster, start: Offsets, isolation: IsolationLevel) -> Mapping[TopicPartition, Probe]:
    """Probe from these offsets. Partitions whose start offset the source deleted meanwhile are left out."""
    if not start:
        return {}
    met = source.probe(start, isolation)
    log_start = source.log_start_offsets(tuple(met))
    return {p: probe for p, probe in met.items() if p in log_start and log_start[p] <= start[p]}


def read_held_back(run: MigrationRun, partitions: Collection[TopicPartition]) -> Ranges:
    """Return [last stable offset, end) of each partition with an open transaction; none if MirrorMaker copies them.

    Raises `TransientError` when an offset cannot be read.
    """
    if run.migration.mirror.isolation_level != "read_committed" or not partitions:
        return {}
    ends = run.source.log_end_offsets(partitions, "read_uncommitted")
    stable = run.source.log_end_offsets(partitions, "read_committed")
    return held_back(*(every_value(each, partitions, "source end") for each in (ends, stable)))


def held_back_warnings(run: MigrationRun, held: Ranges) -> tuple[Finding, ...]:
    """Return the findings about these offsets, with the time of a transaction's first record if known."""
    firsts: Mapping[TopicPartition, RecordPrint | None] = {}
    with suppress(TransientError, Refused):
        firsts = run.source.records_at({p: stable for p, (stable, _) in held.items()}, "read_uncommitted")
    return tuple(held_back_findings(held, firsts))
