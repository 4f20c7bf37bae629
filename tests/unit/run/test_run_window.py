"""Rules of the run window: its limits, how long it waits."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

import pytest

from kafka_migration.core.migration.settings import NightlySettings
from kafka_migration.core.run.run_window import (
    Interval,
    RunType,
    RunWindow,
    backfill_window,
    first_at,
    reservation_deadline,
    scheduled_window,
)

SETTINGS = NightlySettings("0 1 * * *", "UTC", time(5, 30), time(7, 0), "fail", "wait", 4 * 3600)
TICK = datetime(2030, 1, 2, 1, tzinfo=UTC)
NIGHT = Interval(TICK - timedelta(days=1), TICK)
BERLIN = "Europe/Berlin"


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]


@pytest.mark.parametrize(
    ("now", "is_idle"),
    [
        (utc(2030, 1, 2, 0, 59, 59), True),
        (utc(2030, 1, 2, 1), False),
        (utc(2030, 1, 2, 5, 29, 59), False),
        (utc(2030, 1, 2, 5, 30), True),
        (utc(2030, 1, 2, 12), True),
    ],
)
def test_scheduled_run_acts_from_its_tick_to_the_end_of_the_window(now: datetime, is_idle: bool) -> None:
    """The tick belongs to the window, its end does not; outside of it the run is to do nothing, and says why."""
    window = scheduled_window(SETTINGS, NIGHT, now)

    assert is_idle == bool(window.idle_because)
    assert is_idle == ("not in window: [2030-01-02T01:00:00+00:00, 2030-01-02T05:30:00" in window.idle_because)


@pytest.mark.parametrize(("hours", "is_idle"), [(0, False), (1.99, False), (2, True)])
def test_without_a_window_a_run_may_begin_within_two_hours(hours: float, is_idle: bool) -> None:
    """Without `until` mirroring has no end, and a run that begins late does not belong to this night."""
    window = scheduled_window(replace(SETTINGS, until=None), NIGHT, TICK + timedelta(hours=hours))

    assert (is_idle, None) == (bool(window.idle_because), window.mirror_until)


@pytest.mark.parametrize(
    ("tick", "validate_until", "ends"),
    [
        pytest.param(utc(2030, 1, 1, 22), time(7), (utc(2030, 1, 2, 5, 30), utc(2030, 1, 2, 7)), id="after midnight"),
        pytest.param(TICK, SETTINGS.until, (utc(2030, 1, 2, 5, 30),) * 2, id="the same end for both"),
    ],
)
def test_ends_of_a_window(tick: datetime, validate_until: time, ends: tuple[datetime, datetime]) -> None:
    """An end that is earlier on the clock than the tick is on the next day; equal times are the same moment."""
    settings = replace(SETTINGS, validate_until=validate_until)
    window = scheduled_window(settings, Interval(tick - timedelta(days=1), tick), tick)

    assert ends == (window.mirror_until, window.validate_until)


@pytest.mark.parametrize(
    ("local", "after", "moment"),
    [
        # Summer begins on 31 March 2030: clocks go from 02:00 to 03:00.
        (time(5, 30), utc(2030, 3, 31, 0), utc(2030, 3, 31, 3, 30)),
        (time(2, 30), utc(2030, 3, 31, 0), utc(2030, 3, 31, 1, 30)),
        # It ends on 27 October: 03:00 becomes 02:00, and 02:30 comes twice.
        (time(5, 30), utc(2030, 10, 26, 23), utc(2030, 10, 27, 4, 30)),
        (time(2, 30), utc(2030, 10, 26, 23), utc(2030, 10, 27, 0, 30)),
        (time(2, 30), utc(2030, 10, 27, 0, 30), utc(2030, 10, 28, 1, 30)),
        # The day is that of the time zone, not of UTC.
        (time(1, 0), utc(2030, 1, 1, 23, 30), utc(2030, 1, 2, 0)),
        # Without a limit in the file there is no end.
        (None, TICK, None),
    ],
)
def test_local_times_follow_the_clocks_of_their_zone(
    local: time | None, after: datetime, moment: datetime | None
) -> None:
    """A time that the clocks skip counts as if it existed, and of one that comes twice the first counts."""
    assert moment == first_at(local, BERLIN, after)


def test_backfill_mirrors_in_todays_window_only() -> None:
    """Whatever the interval, it mirrors until the present window ends, and not at all at noon."""
    old = Interval(utc(2029, 1, 1), utc(2029, 1, 2))
    night, noon = TICK + timedelta(hours=2), TICK + timedelta(hours=11)

    in_window = backfill_window(SETTINGS, old, TICK, night, mirror_outside_window=False)
    at_noon = backfill_window(SETTINGS, old, TICK, noon, mirror_outside_window=False)
    anyway = backfill_window(SETTINGS, old, TICK, noon, mirror_outside_window=True)

    assert (utc(2030, 1, 2, 5, 30), "") == (in_window.mirror_until, in_window.still_because)
    assert (None, True) == (at_noon.mirror_until, at_noon.still_because.startswith("not in window"))
    assert (None, "") == (anyway.mirror_until, anyway.still_because)
    assert ("", "", "") == (in_window.idle_because, at_noon.idle_because, anyway.idle_because)


def test_mirror_is_not_started_once_the_window_is_over() -> None:
    """A run that had to wait until the window's end does not start MirrorMaker for a moment."""
    window = RunWindow(RunType.SCHEDULED, NIGHT, mirror_until=utc(2030, 1, 2, 5, 30))

    assert "" == window.still_at(utc(2030, 1, 2, 5, 29, 59))
    assert "the window for mirroring ended at 2030-01-02T05:30:00+00:00" == window.still_at(utc(2030, 1, 2, 5, 30))
    assert "why not" == RunWindow(still_because="why not").still_at(TICK)
    assert "" == RunWindow().still_at(TICK)


@pytest.mark.parametrize(
    ("run_type", "settings", "hours"),
    [
        (RunType.MANUAL, SETTINGS, None),
        (RunType.SCHEDULED, SETTINGS, 4),
        (RunType.SCHEDULED, replace(SETTINGS, wait_limit_s=24 * 3600), 4.5),
        (RunType.SCHEDULED, replace(SETTINGS, when_reserved="leave"), None),
        (RunType.BACKFILL, SETTINGS, 4),
        (RunType.BACKFILL, replace(SETTINGS, wait_limit_s=24 * 3600, when_reserved="leave"), 24),
        (RunType.MANUAL, None, None),
    ],
)
def test_who_waits_for_the_reservation(
    run_type: RunType, settings: NightlySettings | None, hours: float | None
) -> None:
    """A person does not wait, a scheduled run as the file says and within its window, a backfill always."""
    window = RunWindow(run_type, NIGHT, mirror_until=utc(2030, 1, 2, 5, 30))
    deadline = None if hours is None else TICK + timedelta(hours=hours)

    assert deadline == reservation_deadline(settings, window, TICK)
