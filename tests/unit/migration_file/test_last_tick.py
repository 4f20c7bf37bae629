"""Rules of the last cron time before a moment."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time

import pytest

from kafka_migration.core.migration.settings import NightlySettings
from kafka_migration.migration_file.scalars import last_tick

SETTINGS = NightlySettings("0 1 * * *", "UTC", time(5, 30), None, "fail", "wait", 3600)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    ("now", "tick"),
    [
        (utc(2030, 1, 2, 0, 59, 59, 999_999), utc(2030, 1, 1, 1)),
        (utc(2030, 1, 2, 1), utc(2030, 1, 2, 1)),
        (utc(2030, 1, 2, 1, 0, 0, 1), utc(2030, 1, 2, 1)),
        (utc(2030, 1, 2, 12), utc(2030, 1, 2, 1)),
    ],
)
def test_tick_of_just_now_is_the_last_one(now: datetime, tick: datetime) -> None:
    """The window begins exactly at its cron time."""
    assert tick == last_tick(SETTINGS, now)


@pytest.mark.parametrize(
    ("cron", "now", "tick"),
    [
        ("0 1 * * *", utc(2030, 1, 2, 12), utc(2030, 1, 2, 0)),
        ("0 1 * * *", utc(2030, 7, 2, 12), utc(2030, 7, 1, 23)),
        ("0 4 * * *", utc(2030, 3, 31, 12), utc(2030, 3, 31, 2)),
        ("0 4 * * *", utc(2030, 10, 27, 12), utc(2030, 10, 27, 3)),
    ],
)
def test_ticks_are_local_times(cron: str, now: datetime, tick: datetime) -> None:
    """The cron expression is in the file's time zone, also on the days on which the clock changes."""
    assert tick == last_tick(replace(SETTINGS, cron=cron, timezone="Europe/Berlin"), now)
