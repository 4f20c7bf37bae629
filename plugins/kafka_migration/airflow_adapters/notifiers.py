"""Airflow's notifiers: made from what a migration file says, and called."""

from __future__ import annotations

from airflow.sdk import BaseNotifier
from airflow.sdk.module_loading import import_string

from kafka_migration.core.migration.alert_settings import AlertKind, NotifierSettings
from kafka_migration.core.report.alerts import Alert

_SAMPLE = Alert(AlertKind.ERROR, "name", "run", "https://airflow.example", "nothing, this is a sample.")


def notifier_problem(settings: NotifierSettings) -> str:
    """Return why a notifier cannot be made, or its templates not rendered, empty when they can; nothing is sent.

    They are rendered with nothing but `alert`, which is all that some alerts have.
    """
    try:
        _made(settings).render_template_fields({"alert": _SAMPLE.to_document()})
    except Exception as error:
        # A class of anybody's, with arguments of anybody's: whatever its constructor raises.
        return f"{type(error).__name__}: {error}"
    return ""


def notify(settings: NotifierSettings, alert: Alert) -> str:
    """Send an alert through a notifier; return why it could not be sent, empty when it was.

    Its templates see the alert as `alert` and nothing else: Airflow's context gives away every connection.
    """
    try:
        _made(settings)({"alert": alert.to_document()})
    except Exception as error:
        # An alert that cannot be sent must not change what it tells of.
        return f"{type(error).__name__}: {error}"
    return ""


def _made(settings: NotifierSettings) -> BaseNotifier:
    notifier = import_string(settings.notifier)
    if not (isinstance(notifier, type) and issubclass(notifier, BaseNotifier)):
        raise TypeError(f"{settings.notifier} is no class of Airflow's BaseNotifier")
    return notifier(**settings.arguments)
