"""The forecast of a stop: how long the source retains the records that are not copied yet."""

from __future__ import annotations

from datetime import UTC, datetime

from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.generations import StopCertificate
from kafka_migration.core.mirror.retention_forecast import CopyProgress, Forecast, TopicRetention, next_start_before
from kafka_migration.steps.mirror.state import every_value
from kafka_migration.steps.run import MigrationRun


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
    return next_start_before(progress, _retention(run, {p.topic for p in partitions}))


def _uncopied_since(run: MigrationRun, positions: Offsets) -> dict[TopicPartition, datetime]:
    found = run.source.records_at(positions, run.migration.mirror.isolation_level) if positions else {}
    first = every_value(found, positions, "first record to copy")
    # Producers set timestamps freely; one in the future counts as now.
    now_s = run.clock.now().timestamp()
    stamps = {p: record.timestamp_ms / 1000 for p, record in first.items() if record and record.timestamp_ms > 0}
    return {p: datetime.fromtimestamp(min(stamp_s, now_s), UTC) for p, stamp_s in stamps.items()}


def _retention(run: MigrationRun, topics: set[str]) -> dict[str, TopicRetention]:
    names = ("cleanup.policy", "retention.ms", "retention.bytes")
    policy, time_ms, size = (run.source.effective_configs(topics, name) for name in names)
    known = (topic for topic in sorted(topics) if topic in policy and topic in time_ms and topic in size)
    return {topic: TopicRetention.of(policy[topic], time_ms[topic], size[topic]) for topic in known}
