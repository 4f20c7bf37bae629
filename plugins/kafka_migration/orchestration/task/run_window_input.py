"""Collects the input of `core.run.run_window`: the run's type and interval, the schedule and the time."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from airflow.sdk import Context
from croniter import croniter

from kafka_migration.core.migration.settings import NightlySettings
from kafka_migration.core.run.run_window import (
    Interval,
    RunType,
    RunWindow,
    backfill_window,
    scheduled_window,
)
from kafka_migration.orchestration.task.context import run_type_of
from kafka_migration.steps.run.migration_run import MigrationRun


def run_window_of(run: MigrationRun, context: Context) -> RunWindow:
    """Return the run window of the run that a task belongs to.

    A run whose earlier attempt left MirrorMaker running is never idle: it has to stop it and prove the copy.
    """
    window = _by_time(run, context)
    if window.idle_because and run.ledger.known().open_generation_of(run.identity):
        return replace(window, idle_because="", still_because=window.idle_because)
    return window


def _by_time(run: MigrationRun, context: Context) -> RunWindow:
    run_type, settings, now = run_type_of(context), run.migration.nightly, run.clock.now()
    # A manual run of the nightly DAG has no interval; its preflight refuses it.
    if run.nightly_mode is None or settings is None or run_type is RunType.MANUAL:
        return RunWindow()
    interval = Interval(context["dag_run"].data_interval_start, context["dag_run"].data_interval_end)
    if run_type is RunType.SCHEDULED:
        return scheduled_window(settings, interval, now)
    return backfill_window(
        settings,
        interval,
        last_tick(settings, now),
        now,
        mirror_outside_window=run.request.mirror_outside_window,
    )


def last_tick(settings: NightlySettings, now: datetime) -> datetime:
    """Return the newest tick of the schedule up to now, in UTC."""
    # `get_prev` excludes a tick at exactly the given moment.
    local = now.astimezone(ZoneInfo(settings.timezone)) + timedelta(microseconds=1)
    tick: datetime = croniter(settings.cron, local).get_prev(datetime)
    return tick.astimezone(UTC)
