"""The forecast of a stop: how long the source retains the records that are not copied yet."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.generations import StopCertificate
from kafka_migration.core.watching.retention_forecast import (
    SETTINGS,
    CopyProgress,
    Forecast,
    TopicRetention,
    next_start_before,
)
from kafka_migration.steps.reading.exact_reads import every_value
from kafka_migration.steps.run.migration_run import MigrationRun


def forecast_after(run: MigrationRun, stop: StopCertificate, before: StopCertificate | None) -> Forecast | None:
    """Return when the next run must start at the latest; `before` is the previous stop certificate.

    Raises `TransientError` when the uncopied records cannot be read: unknown does not mean that none are left.
    """
    partitions = tuple(stop.mirror_positions)
    progress = CopyProgress(
        now=run.clock.now(),
        positions=stop.mirror_positions,
        source_log_start=run.source.log_start_offsets(partitions),
        uncopied_since=_uncopied_since(run, stop.mirror_positions),
        before=None if before is None else datetime.fromisoformat(before.at),
        positions_before={} if before is None else before.mirror_positions,
    )
    return next_start_before(progress, retention_of(run.source, {p.topic for p in partitions}))


def _uncopied_since(run: MigrationRun, positions: Offsets) -> dict[TopicPartition, datetime]:
    found = run.source.records_at(positions, run.migration.mirror.isolation_level) if positions else {}
    first = every_value(found, positions, "first record to copy")
    # Producers set timestamps freely; one in the future counts as now.
    now_s = run.clock.now().timestamp()
    stamps = {p: record.timestamp_ms / 1000 for p, record in first.items() if record and record.timestamp_ms > 0}
    return {p: datetime.fromtimestamp(min(stamp_s, now_s), UTC) for p, stamp_s in stamps.items()}


def retention_of(source: KafkaCluster, topics: Collection[str]) -> dict[str, TopicRetention]:
    """Return the retention of each topic that exists and shows all settings; of the others it is unknown."""
    found = source.effective_configs(topics, *SETTINGS)
    whole = ((topic, [values[name] for name in SETTINGS if name in values]) for topic, values in sorted(found.items()))
    return {topic: TopicRetention.of(*values) for topic, values in whole if len(values) == len(SETTINGS)}
