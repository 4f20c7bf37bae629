"""When the next run must start at the latest: before the source deletes what is not copied yet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.text.local_time import LocalTime

# What `TopicRetention` is read from.
SETTINGS = ("cleanup.policy", "retention.ms", "retention.bytes")
# A later moment counts as no limit; Python has no time span for Kafka's largest retention.ms.
HORIZON = timedelta(days=36_500)
# Over a shorter time a rate means nothing: a run may directly follow the last one.
MIN_RATE_SPAN = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class TopicRetention:
    """The retention of a source topic by time and size, per partition; `None`: without a limit."""

    time_limit: timedelta | None
    has_size_limit: bool

    @classmethod
    def of(cls, cleanup_policy: str, retention_ms: str, retention_bytes: str) -> TopicRetention:
        """Read the effective `SETTINGS` of a topic; one that is only compacted deletes no record by age."""
        if "delete" not in cleanup_policy:
            return cls(None, has_size_limit=False)
        limit_ms = int(retention_ms)
        is_limited = 0 <= limit_ms < HORIZON // timedelta(milliseconds=1)
        time_limit = timedelta(milliseconds=limit_ms) if is_limited else None
        return cls(time_limit, has_size_limit=int(retention_bytes) >= 0)


@dataclass(frozen=True, slots=True)
class CopyProgress:
    """The positions of the copy at two moments, and the source's current log starts.

    `uncopied_since` is the time of the first uncopied record, for each partition that has one.
    """

    now: datetime
    positions: Offsets
    source_log_start: Offsets
    uncopied_since: Mapping[TopicPartition, datetime]
    before: datetime | None
    positions_before: Offsets


@dataclass(frozen=True, slots=True)
class ForecastDocument(Document):
    """The next run must start before `at`, because of one partition (as text)."""

    at: str
    partition: str
    reason: str

    def words(self, local: LocalTime) -> str:
        """Return the moment with its day, the partition and the reason."""
        return f"{local.weekday(self.at)}: {self.partition}, {self.reason}"

    def is_over(self, now: datetime) -> bool:
        """Whether the source may already delete what is not copied."""
        return datetime.fromisoformat(self.at) <= now


def next_start_before(progress: CopyProgress, retention: Mapping[str, TopicRetention]) -> ForecastDocument | None:
    """Return the earliest moment at which the source may delete an uncopied record; `None`: it keeps everything.

    By time, a record may be deleted when it is as old as the topic's retention; a partition that is copied to its end
    counts from now. By size, it may be deleted when the log start reaches the position, if the log start moves as fast
    as records arrived since the last run. This is known only after the source has started to delete.
    """
    limits = [limit for p in progress.positions for limit in _limits(progress, p, retention.get(p.topic))]
    if not limits:
        return None
    at, partition, reason = min(limits)
    return ForecastDocument(at.isoformat(timespec="seconds"), str(partition), reason)


def _limits(
    progress: CopyProgress, partition: TopicPartition, retention: TopicRetention | None
) -> Iterable[tuple[datetime, TopicPartition, str]]:
    if retention is None:
        return
    if retention.time_limit is not None:
        since = progress.uncopied_since.get(partition, progress.now)
        at = max(progress.now, since + retention.time_limit)
        yield at, partition, f"retention.ms {retention.time_limit // timedelta(milliseconds=1):,}"
    rate, log_start = _rate_per_s(progress, partition), progress.source_log_start.get(partition)
    if retention.has_size_limit and rate and log_start:
        held = progress.positions[partition] - log_start
        seconds = min(max(0, held) / rate, HORIZON.total_seconds())
        reason = f"retention.bytes: {held:,} offsets before the position, {rate:,.1f} new ones per second"
        yield progress.now + timedelta(seconds=seconds), partition, reason


def _rate_per_s(progress: CopyProgress, partition: TopicPartition) -> float | None:
    """Return how many offsets per second were copied since the last stop; `None` if unknown."""
    if progress.before is None or partition not in progress.positions_before:
        return None
    span = progress.now - progress.before
    grown = progress.positions[partition] - progress.positions_before[partition]
    return grown / span.total_seconds() if span >= MIN_RATE_SPAN and grown > 0 else None
