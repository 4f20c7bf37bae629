"""Alerts of an active run, and the notifiers that receive them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.migration.settings import HookName, Migration
from kafka_migration.core.report.alerts import Alert
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.terminal_text import duration, moment
from kafka_migration.core.watching.producers_question import StopProducers
from kafka_migration.core.watching.unreachable import Silence
from kafka_migration.steps.run.migration_run import MigrationRun


def stop_producers(run: MigrationRun, announced_at: datetime) -> StopProducers:
    """Return which producers must stop, and until when, after an announcement at this time."""
    is_chosen = bool(run.request.topics)
    return stop_after(run.migration, run.migration.topics, announced_at, run.local, is_chosen=is_chosen)


def stop_after(
    migration: Migration, topics: Sequence[str], announced_at: datetime, local: LocalTime, *, is_chosen: bool = False
) -> StopProducers:
    """Return which producers of these topics must stop, and until when, after an announcement at this time."""
    source, cutover = migration.source.connection, migration.cutover
    waits = {"wait_s": cutover.fence_wait_s, "quiet_s": cutover.fence_quiet_s}
    return StopProducers(migration.name, topics, source, announced_at, **waits, is_chosen=is_chosen, local=local)


def producers_alert(run: MigrationRun, stop: StopProducers) -> Alert:
    """Return the alert to stop the producers, sent when the copy of a cutover is near the end of the source.

    It leads to the question whether they have stopped; if a hook stops them, there is none.
    """
    asks = HookName.STOP_PRODUCERS not in run.migration.cutover.hooks
    answer = " Then answer the question at the link below." * asks
    return Alert(
        AlertKind.PRODUCERS,
        run.name,
        run.identity,
        run.now_words(),
        run.deployment.run_link(run.identity, str(HookName.STOP_PRODUCERS) * asks),
        f"{AlertKind.PRODUCERS.first_step}{answer}",
        lines=(
            f"Topics: {stop.named()}",
            "The copy is near the end of the source, which must now receive no records and have no open transaction "
            f"for {duration(stop.quiet_s)}. If that does not happen by {stop.deadline}, the run is refused.",
        ),
        instruction=stop.at(run.clock.now()),
    )


def unreachable_alert(run: MigrationRun, silence: Silence, gives_up_at: datetime) -> Alert:
    """Return the alert about a cluster, host or evidence store that does not answer during a run."""
    since = run.local.weekday(silence.since)
    return Alert(
        AlertKind.UNREACHABLE,
        run.name,
        run.identity,
        run.now_words(),
        run.deployment.run_link(run.identity, ""),
        codes=(str(Code.UNREACHABLE),),
        lines=(
            f"No answer from the {silence.party} since {since}: {silence.reason}",
            f"The progress of the run is unknown. It fails at {run.local.weekday(gives_up_at)} unless an answer "
            "arrives.",
        ),
        once=f"{silence.party} {moment(silence.since)}",
    )
