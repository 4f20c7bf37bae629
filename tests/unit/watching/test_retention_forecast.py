"""Rules of the forecast: when the next run must start at the latest."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kafka_migration.core.text.local_time import IN_UTC
from kafka_migration.core.watching.retention_forecast import (
    CopyProgress,
    ForecastDocument,
    TopicRetention,
    next_start_before,
)
from tests.present import present
from tests.unit.partitions import P0, P1

NOW = datetime(2030, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
BY_TIME = TopicRetention(6 * HOUR, has_size_limit=False)
BY_SIZE = TopicRetention(None, has_size_limit=True)


def progress(**more: Any) -> CopyProgress:
    """Two partitions, an hour after the last stop; the first grew by 3,600 offsets and has begun to delete."""
    values: dict[str, Any] = {
        "now": NOW,
        "positions": {P0: 10_000, P1: 500},
        "source_log_start": {P0: 2_800, P1: 0},
        "uncopied_since": {},
        "before": NOW - HOUR,
        "positions_before": {P0: 6_400, P1: 500},
    }
    return CopyProgress(**values | more)


def forecast(retention: TopicRetention, **more: Any) -> ForecastDocument:
    """Return the forecast for a topic with this retention."""
    return present(next_start_before(progress(**more), {"orders": retention}))


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (("delete", "3600000", "-1"), TopicRetention(HOUR, has_size_limit=False)),
        (("delete", "-1", "1000"), TopicRetention(None, has_size_limit=True)),
        (("compact,delete", "3600000", "1000"), TopicRetention(HOUR, has_size_limit=True)),
        (("compact", "3600000", "1000"), TopicRetention(None, has_size_limit=False)),
        (("delete", "9223372036854775807", "-1"), TopicRetention(None, has_size_limit=False)),
    ],
)
def test_retention_is_read_from_the_topics_settings(settings: tuple[str, str, str], expected: TopicRetention) -> None:
    """-1 is no limit, nor is the largest number; a topic that is only compacted deletes no record for its age."""
    assert expected == TopicRetention.of(*settings)


def test_by_time_the_first_uncopied_record_counts() -> None:
    """It goes when it is as old as the topic's retention; a partition that is copied to its end counts from now."""
    waiting = forecast(BY_TIME, uncopied_since={P1: NOW - 4 * HOUR})
    copied = forecast(BY_TIME)

    assert ((NOW + 2 * HOUR).isoformat(), str(P1)) == (waiting.at, waiting.partition)
    assert (NOW + 6 * HOUR).isoformat() == copied.at


def test_what_is_overdue_is_due_now() -> None:
    """Records that outlived their time go at any moment: the forecast never lies in the past."""
    overdue = forecast(BY_TIME, uncopied_since={P0: NOW - 9 * HOUR})

    assert NOW.isoformat() == overdue.at
    assert overdue.words(IN_UTC) == "Tue 2030-01-01 00:00 UTC: orders[0], retention.ms 21,600,000"


def test_by_size_the_log_start_moves_as_fast_as_records_come() -> None:
    """7,200 offsets lie before the position and one comes per second: two hours."""
    full = forecast(BY_SIZE)

    assert ("2030-01-01T02:00:00+00:00", str(P0)) == (full.at, full.partition)


@pytest.mark.parametrize(
    "more",
    [
        {"before": None, "positions_before": {}},
        {"before": NOW - timedelta(minutes=1)},
        {"source_log_start": {P0: 0, P1: 0}},
        {"positions_before": {P0: 10_000, P1: 500}},
    ],
)
def test_size_tells_nothing_without_a_rate_or_before_the_first_deletion(more: dict[str, Any]) -> None:
    """The rate is unknown, not zero, if no earlier run copied anything or the last one was a moment ago."""
    assert next_start_before(progress(**more), {"orders": BY_SIZE}) is None


def test_unknown_retention_is_no_forecast() -> None:
    """A topic whose settings are not known, or that keeps everything, says nothing."""
    assert next_start_before(progress(), {}) is None
    assert next_start_before(progress(), {"orders": TopicRetention(None, has_size_limit=False)}) is None


def test_slow_source_is_no_overflow() -> None:
    """Regression: more years than Python can count failed the task that stops MirrorMaker."""
    slow = forecast(BY_SIZE, positions={P0: 10**15}, positions_before={P0: 10**15 - 1})

    assert datetime.fromisoformat(slow.at) > NOW + timedelta(days=36_000)
