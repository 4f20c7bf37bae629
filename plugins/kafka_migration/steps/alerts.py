"""Alerts of an active run, and the notifiers that receive them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.migration.alert_settings import AlertKind, AlertSettings
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.mirror.silence import Silence, moment
from kafka_migration.core.report.alerts import Alert
from kafka_migration.core.text.shown import duration
from kafka_migration.migration_file.loading import load_alerts_file
from kafka_migration.steps.run import MigrationRun


def alert_settings(migration: Migration | None, alerts_file: Path | None) -> AlertSettings:
    """Return the alert settings of a migration: from its file, else from the alerts file that the configuration names.

    `None` is a migration whose file cannot be read. Raises `Refused` (`ALERTS_INVALID`).
    """
    if migration is not None and migration.alerts is not None:
        return migration.alerts
    return AlertSettings() if alerts_file is None else load_alerts_file(alerts_file)


def producers_alert(run: MigrationRun) -> Alert:
    """Return the alert to stop the producers, sent when the copy of a cutover is near the end of the source."""
    settings = run.migration.cutover
    return Alert(
        AlertKind.PRODUCERS,
        run.name,
        str(run.identity),
        run.deployment.run_link(run.identity),
        "stop everything that writes to these topics on the source; consumers may continue.",
        lines=(
            f"The copy is near the end of the source. Topics: {', '.join(run.migration.topics)}",
            f"The source must receive no records and have no open transaction for {duration(settings.fence_quiet_s)}. "
            f"If that does not happen within {duration(settings.fence_wait_s)}, the run is refused.",
        ),
    )


def unreachable_alert(run: MigrationRun, silence: Silence, gives_up_at: datetime) -> Alert:
    """Return the alert about a cluster, host or evidence store that does not answer during a run."""
    return Alert(
        AlertKind.UNREACHABLE,
        run.name,
        str(run.identity),
        run.deployment.run_link(run.identity),
        f"find out why the {silence.party} does not answer. Nothing was stopped; the run continues once it answers.",
        (str(Code.UNREACHABLE),),
        (
            f"No answer from the {silence.party} since {moment(silence.since)}: {silence.reason}",
            f"The progress of the run is unknown. It fails at {moment(gives_up_at)} unless an answer arrives.",
        ),
        once=f"{silence.party} {moment(silence.since)}",
    )
