"""The run window: what triggered a run, its interval, and how long the run may act.

A scheduled run belongs to a tick of its cron expression. It may act from this tick to the end of the window
(`nightly.until`). A backfill run answers for the records of an interval. It mirrors missing records only within the
current day's window, unless its conf says otherwise. A manual run has no limits.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from enum import StrEnum
from zoneinfo import ZoneInfo

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.migration.settings import NightlySettings
from kafka_migration.core.text.terminal_text import moment

# Without `nightly.until`, a scheduled run may start this long after its tick.
BEGIN_WITHIN = timedelta(hours=2)
# `first_at` excludes the given moment. Starting this much earlier includes it.
_JUST_BEFORE = timedelta(microseconds=1)


class RunType(StrEnum):
    """The run types of Airflow that this package uses."""

    MANUAL = "manual"
    SCHEDULED = "scheduled"
    BACKFILL = "backfill"


@dataclass(frozen=True, slots=True)
class Interval(Document):
    """A span of time, `[start, end)`, both in UTC."""

    start: datetime
    end: datetime

    def __str__(self) -> str:
        return f"[{self.start.isoformat()}, {self.end.isoformat()})"


@dataclass(frozen=True, slots=True)
class RunWindow(Document):
    """What triggered a run and how long it may act; `None` means no limit.

    `idle_because` is the reason why the run does nothing at all, `still_because` the reason why it does not start
    MirrorMaker. An empty text means that it may.
    """

    run_type: RunType = RunType.MANUAL
    interval: Interval | None = None
    mirror_until: datetime | None = None
    validate_until: datetime | None = None
    idle_because: str = ""
    still_because: str = ""

    def still_at(self, now: datetime) -> str:
        """Return why MirrorMaker must not be started now; empty if it may be."""
        if self.mirror_until is not None and now >= self.mirror_until:
            return f"the window for mirroring ended at {moment(self.mirror_until)}"
        return self.still_because


def scheduled_window(settings: NightlySettings, interval: Interval, now: datetime) -> RunWindow:
    """Return the run window of a scheduled run; its tick is the end of its interval."""
    tick = interval.end
    mirror_until = first_at(settings.until, settings.timezone, tick)
    begin_until = mirror_until or tick + BEGIN_WITHIN
    idle_because = "" if tick <= now < begin_until else f"not in window: [{moment(tick)}, {moment(begin_until)})"
    return RunWindow(
        RunType.SCHEDULED,
        interval,
        mirror_until,
        first_at(settings.validate_until, settings.timezone, mirror_until - _JUST_BEFORE if mirror_until else tick),
        idle_because=idle_because,
    )


def backfill_window(
    settings: NightlySettings, interval: Interval, last_tick: datetime, now: datetime, *, mirror_outside_window: bool
) -> RunWindow:
    """Return the run window of a backfill run; `last_tick` is the newest tick of the schedule up to now."""
    window_end = first_at(settings.until, settings.timezone, last_tick)
    if window_end is None or mirror_outside_window:
        return RunWindow(RunType.BACKFILL, interval)
    if now < window_end:
        return RunWindow(RunType.BACKFILL, interval, mirror_until=window_end)
    reason = f"not in window: [{moment(last_tick)}, {moment(window_end)})"
    return RunWindow(RunType.BACKFILL, interval, still_because=reason)


def reservation_deadline(settings: NightlySettings | None, window: RunWindow, since: datetime) -> datetime | None:
    """Return the deadline for a reservation that a run first requested at `since`; `None` means it does not wait.

    A manual run does not wait. A scheduled run waits if the migration file says so, but never beyond its window.
    """
    is_scheduled = window.run_type is RunType.SCHEDULED
    if settings is None or window.run_type is RunType.MANUAL:
        return None
    if is_scheduled and settings.when_reserved == "leave":
        return None
    limit = since + timedelta(seconds=settings.wait_limit_s)
    return min(limit, window.mirror_until) if is_scheduled and window.mirror_until else limit


def first_at(local: time | None, timezone: str, after: datetime) -> datetime | None:
    """Return the first moment after `after`, in UTC, at which the local time in the time zone is `local`.

    A local time that daylight saving skips is converted with the offset from before the change. If a local time
    occurs twice, the first one counts.
    """
    if local is None:
        return None
    zone = ZoneInfo(timezone)
    day = after.astimezone(zone).date()
    candidates = (
        datetime.combine(day + timedelta(days=days), local, tzinfo=zone).astimezone(ZoneInfo("UTC"))
        for days in (0, 1, 2)
    )
    return next(each for each in candidates if each > after)
