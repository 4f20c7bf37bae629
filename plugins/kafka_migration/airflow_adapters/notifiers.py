"""Creates and calls Airflow's notifiers from the settings of a migration file."""

from __future__ import annotations

from copy import deepcopy

from airflow.sdk import BaseNotifier
from airflow.sdk.module_loading import import_string

from kafka_migration.core.migration.alert_settings import AlertKind, NotifierSettings
from kafka_migration.core.report.alerts import Alert
from kafka_migration.core.run.run_identity import RunIdentity

_SAMPLE = Alert(
    AlertKind.ERROR, "name", RunIdentity("dag", "run", 1), "now", "https://airflow.example", "nothing, a sample."
)


def notifier_problem(settings: NotifierSettings) -> str:
    """Return why a notifier cannot be created or its templates rendered, empty if they can; nothing is sent.

    The templates are rendered only with `alert`, because some alerts have nothing else.
    """
    try:
        _made(settings).render_template_fields({"alert": _SAMPLE.to_document()})
    except Exception as error:
        # An arbitrary class with arbitrary arguments may raise any error.
        return f"{type(error).__name__}: {error}"
    return ""


def notify(settings: NotifierSettings, alert: Alert) -> str:
    """Send an alert through a notifier; return why it could not be sent, empty if it was.

    Its templates get only the alert as `alert`, because Airflow's context would expose every connection.
    """
    try:
        _made(settings)({"alert": alert.to_document()})
    except Exception as error:
        # An alert that cannot be sent must not affect the run.
        return f"{type(error).__name__}: {error}"
    return ""


def _made(settings: NotifierSettings) -> BaseNotifier:
    notifier = import_string(settings.notifier)
    if not (isinstance(notifier, type) and issubclass(notifier, BaseNotifier)):
        raise TypeError(f"{settings.notifier} is not a subclass of Airflow's BaseNotifier")
    # All runs of a process share the settings, and a notifier may change its arguments.
    return notifier(**deepcopy(dict(settings.arguments)))
