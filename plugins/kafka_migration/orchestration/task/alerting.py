"""Alerts: which notifiers a run calls, and the alerts that no single operator owns.

Every process that parses a DAG file imports this module; what sends an alert is imported when there is one (ADR 0059).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import Context
from airflow.sdk.definitions.callback import AsyncCallback
from airflow.sdk.definitions.deadline import DeadlineAlert, DeadlineReference

from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.core.findings.errors import StoreFailed
from kafka_migration.core.migration.alert_settings import AlertKind, AlertSettings
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.run_window import RunType
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.migration_file.loading import alert_settings

if TYPE_CHECKING:
    from kafka_migration.core.report.alerts import Alert
    from kafka_migration.steps.run.migration_run import MigrationRun

log = logging.getLogger(__name__)


def alerts_of(migration: Migration | None) -> AlertSettings:
    """Return the alert settings of a migration with the configuration of this Airflow; see `alert_settings`."""
    return alert_settings(migration, settings.alerts_file())


def send(run: MigrationRun, alert: Alert) -> None:
    """Send an alert to all notifiers of its kind, and record in the evidence which were called and which failed.

    A retried task does not send an alert twice. Never raises: a failed alert must not change the outcome that it
    reports.
    """
    from kafka_migration.core.stored.stored_documents import AlertDocument, Stored

    if (alert.kind, alert.once) in _told(run):
        return
    try:
        told = _tell(_settings(run), alert)
        document = {"at": run.now(), **alert.to_document(), "once": alert.once, "told": told}
        run.evidence.write(Stored.ALERT, AlertDocument.from_document(document))
    except StoreFailed as error:
        log.warning("The alert was sent, but not recorded: %s", error)
    except Exception:
        log.exception("The alert was not sent, or not recorded: %s", alert.subject)


def _settings(run: MigrationRun) -> AlertSettings:
    """Return the alert settings of the frozen file if Airflow's digest confirms it, else of the current file.

    A frozen copy that Airflow cannot confirm is ignored, because its notifiers would run code.
    """
    frozen = [lambda: run.filed_migration] if run.keeper is not None else []
    for read in (*frozen, run.live_migration):
        try:
            migration = read()
        except Exception:  # noqa: S112
            # An unreadable file must not prevent the alert, whatever the reason.
            continue
        return alerts_of(migration)
    return alerts_of(None)


def _tell(settings: AlertSettings, alert: Alert) -> dict[str, str]:
    """Call the notifiers; return the problem of each by its path, empty if it succeeded."""
    from kafka_migration.airflow_adapters.airflow_metrics import emit
    from kafka_migration.airflow_adapters.notifiers import notify
    from kafka_migration.core.report.metrics import MetricsOf

    told = {}
    emit(MetricsOf(alert.migration).alerted(alert.kind))
    for number, notifier in enumerate(settings.notifiers):
        if alert.kind in notifier.kinds:
            problem = notify(notifier, alert)
            # The text may contain a URL with a secret. The log masks it; evidence would not.
            told[f"{number} {notifier.notifier}"] = problem.partition(":")[0]
            log.log(logging.ERROR if problem else logging.INFO, "%s: %s", alert.subject, problem or "sent")
    return told


def deadlines(name: str, migration: Migration | None) -> list[DeadlineAlert]:
    """Return the deadline of a migration's runs, counted from when they are queued; none if no alert is configured.

    A run that misses its deadline is not stopped. The callback runs in the triggerer, so it works with every executor.
    """
    try:
        told = alerts_of(migration)
    except Exception:
        # Preflight refuses every run for this reason. The DAGs must exist to report it.
        return []
    if told.too_long_after_s is None:
        return []
    zone = settings.default_timezone()
    zone = migration.local_time(zone).zone if migration else zone
    arguments = {"migration": name, "alerts": told.to_document(), "timezone": zone}
    interval = timedelta(seconds=told.too_long_after_s)
    return [DeadlineAlert(DeadlineReference.DAGRUN_QUEUED_AT, interval, AsyncCallback(too_long, arguments))]


async def too_long(
    migration: str, alerts: Mapping[str, Any], context: Mapping[str, Any], timezone: str = "UTC"
) -> None:
    """Send an alert if the run is still active after its deadline (the callback of `deadlines`)."""
    from asgiref.sync import sync_to_async

    from kafka_migration.airflow_adapters.airflow_metrics import begin_metrics

    begin_metrics()
    settings = AlertSettings.from_document(alerts)
    alert = _too_long_alert(migration, settings, context["dag_run"], LocalTime(timezone))
    if alert is None:
        log.info("No alert was sent: the run has ended, or it is a backfill run that was queued for long.")
        return
    await sync_to_async(_tell, thread_sensitive=False)(settings, alert)


_ENDED = {"success", "failed"}


def _too_long_alert(
    migration: str, settings: AlertSettings, dag_run: Mapping[str, Any], local: LocalTime
) -> Alert | None:
    from kafka_migration.core.report.alerts import Alert
    from kafka_migration.orchestration.task.context import link_to

    # Airflow removes the deadline of a run only if the run succeeds.
    if dag_run["state"] in _ENDED:
        return None
    identity = RunIdentity(dag_run["dag_id"], dag_run["dag_run_id"], 1)
    limit = timedelta(seconds=settings.too_long_after_s or 0)
    started = dag_run["start_date"] and datetime.fromisoformat(dag_run["start_date"])
    now = datetime.now(UTC)
    if dag_run["run_type"] == RunType.BACKFILL and (not started or now - started < limit):
        return None
    since = f"It started at {local.weekday(started)}." if started else "It has not started yet."
    return Alert(
        AlertKind.TOO_LONG,
        migration,
        identity,
        local.weekday(now),
        link_to(identity),
        lines=(f"Still active {duration(limit.total_seconds())} after it was queued (alerts.too_long_after). {since}",),
    )


def tell_of_lost_finish(context: Context) -> None:
    """Send an alert if `finish` itself failed before it reported how the run ended (its failure callback)."""
    from kafka_migration.core.report.alerts import Alert
    from kafka_migration.orchestration.task.context import bare_run_of, link_to

    task = context["task"]
    # The dag-processor calls this for a lost task, before templates are rendered.
    name = str(task.render_template(task.migration, context))
    run = bare_run_of(context, name)
    if {kind for kind in AlertKind if kind.after_the_end} & {kind for kind, _ in _told(run)}:
        return
    problem = str(context.get("exception") or "the reason is unknown")
    lines = (f"Task {task.task_id}: {problem}", "The reservation may still be held. The evidence is not assembled.")
    act = f"Clear the task {task.task_id} of the run."
    send(run, Alert(AlertKind.ERROR, run.name, run.identity, run.now_words(), link_to(run.identity), act, (), lines))


def _told(run: MigrationRun) -> set[tuple[str, str]]:
    """Return the kinds of alerts that this attempt of the run has sent, each with its `once` key."""
    from kafka_migration.core.stored.stored_documents import Stored

    try:
        return {(alert.kind, alert.once) for alert in run.evidence.of_attempt(Stored.ALERT)}
    except Exception:
        # A duplicate alert is better than a lost one.
        return set()
