"""The run's notifiers can be created. Whether messages arrive is not checked."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.shortened import sentence
from kafka_migration.migration_file.loading import alert_settings
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene


def _check(scene: Scene) -> Findings:
    for number, settings in enumerate(alert_settings(scene.migration, scene.airflow.alerts_file).notifiers):
        if problem := scene.airflow.notifier_problem(settings):
            yield Finding(
                Code.ALERTS_INVALID,
                f"alerts.notifiers[{number}]: {settings.notifier}",
                problem,
                "an importable notifier that accepts these arguments, with templates that use only `alert`",
                "Correct the path or the arguments, or install the notifier's provider on the workers and the "
                "triggerer.",
                happened=sentence(f"The notifier cannot be created: {problem}"),
                matters="Its receivers would get no alert when the run fails or waits for an answer.",
            )


CHECK = Check("alerts", _check, asks={Asked.FILE})
