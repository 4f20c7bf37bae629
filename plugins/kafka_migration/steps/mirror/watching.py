"""The watch of a run: whether there is one, what it polls, and what its end means."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_migration.core.findings.errors import MirrorFailed
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.alerts import Alert
from kafka_migration.core.report.metrics import MetricsOf
from kafka_migration.core.stored.stored_documents import MirrorNotStarted, Stored
from kafka_migration.core.watching.unfinished_work import behind_finding
from kafka_migration.core.watching.watch import Outcome, WatchEnded, WatchLimits, WatchResult, watch_limits
from kafka_migration.steps.mirror.guides import CutoverGuide, FollowGuide, Guide, PlanGuide
from kafka_migration.steps.mirror.start_stop import Reviver
from kafka_migration.steps.mirror.watcher import POLL_RESERVE_S, MirrorWatcher
from kafka_migration.steps.run.alert_sending import unreachable_alert
from kafka_migration.steps.run.guards import hold_reservation
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary

log = logging.getLogger(__name__)


def begin_watch(run: MigrationRun) -> Summary | int:
    """Return the generation to watch, or the summary of a run that did not start MirrorMaker."""
    start = run.evidence.require(Stored.START)
    if isinstance(start, MirrorNotStarted):
        log.info("Nothing to watch: %s.", start.reason)
        return _without_mirror(run, start.reason)
    # A cleared watch belongs to another attempt than the one that holds the reservation.
    hold_reservation(run)
    return start.generation


def end_watch(run: MigrationRun, ended: WatchEnded) -> Summary:
    """Record how the watch ended; raise if it failed, or if the copy of a cutover is incomplete."""
    run.evidence.write(Stored.WATCH, ended)
    log.info("%s", ended.progress)
    if ended.outcome is Outcome.FAILED:
        raise MirrorFailed(ended.findings)
    if ended.outcome is not Outcome.DRAINED:
        log.warning("%s: %s", ended.outcome, ended.reason)
        _refuse_half_a_cutover(run, ended)
    return {"outcome": str(ended.outcome), "progress": ended.progress}


def _refuse_half_a_cutover(run: MigrationRun, ended: WatchEnded) -> None:
    """Consumers may only be moved to a complete copy."""
    if run.request.mode.moves_groups:
        raise MirrorFailed([behind_finding(run.name, ended)])


def _without_mirror(run: MigrationRun, reason: str) -> Summary:
    """Record that the plan's goals were already reached, or that MirrorMaker must not be started."""
    plan = run.evidence.require(Stored.PLAN)
    ended = WatchEnded.without_mirror(run.now(), plan.goals, plan.offsets_to_copy, reason)
    run.evidence.write(Stored.WATCH, ended)
    return {"outcome": str(ended.outcome), "progress": ended.progress}


def watcher_of(run: MigrationRun, generation: int, deadline: datetime | None) -> MirrorWatcher:
    """Return what polls MirrorMaker from this generation on, until the deadline."""
    return MirrorWatcher(
        migration=run.migration,
        first_generation=generation,
        plan=run.evidence.require(Stored.PLAN),
        source=run.source,
        engine=run.engine,
        process=run.process,
        reviver=Reviver(run),
        stop_requests=run.stop_requests,
        clock=run.clock,
        deadline=deadline,
        guide=_guide(run, generation),
    )


@dataclass(frozen=True, slots=True)
class Polled:
    """What one poll found out: how the watch ended, if it did, what the log must say, and alerts to send."""

    result: WatchResult | None
    notices: tuple[str, ...]
    alerts: tuple[Alert, ...]


def poll_once(run: MigrationRun, watcher: MirrorWatcher) -> Polled:
    """Poll MirrorMaker, send metrics and publish the progress."""
    result = watcher.poll()
    _send_metrics(run, watcher)
    document = watcher.news().to_document()
    with suppress(TimeoutError):
        watcher.store.call(lambda: run.news.tell_progress(document), POLL_RESERVE_S)
    silences = [unreachable_alert(run, each, watcher.silence.gives_up_at(each)) for each in watcher.take_untold()]
    alert = watcher.guide.take_alert()
    return Polled(result, tuple(watcher.take_notices()), (*silences, *([alert] if alert else [])))


def _send_metrics(run: MigrationRun, watcher: MirrorWatcher) -> None:
    watch, since = watcher.watch, watcher.guide.waits_for_producers_since
    run.deployment.send_metrics(*MetricsOf(run.name).polled(watch.lag, watch.meter, run.clock.now(), since))


def _guide(run: MigrationRun, generation: int) -> Guide:
    if run.request.mode is Mode.CUTOVER:
        return CutoverGuide(run, generation)
    if run.request.mode is Mode.FOLLOW:
        return FollowGuide(run)
    return PlanGuide(run.clock, run.run_window.mirror_until)


def limits_of(run: MigrationRun) -> WatchLimits:
    """Return the limits of the run's watch if it begins now; mode `follow` has no time limit."""
    if run.request.mode is Mode.FOLLOW:
        return watch_limits(run.clock.now(), None, run.request.follow_until)
    time_limit = timedelta(seconds=run.migration.watch.time_limit_s)
    return watch_limits(run.clock.now(), time_limit, run.run_window.mirror_until)
