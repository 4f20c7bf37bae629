"""The run's notifiers can be created. Whether messages arrive is not checked."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    for number, settings in enumerate(subject.find_alerts().notifiers):
        if problem := subject.notifier_problem(settings):
            yield Finding(
                Code.ALERTS_INVALID,
                f"alerts.notifiers[{number}]: {settings.notifier}",
                problem,
                "an importable notifier that accepts these arguments, with templates that use only `alert`",
                "Correct the path or the arguments, or install the notifier's provider on the workers and the "
                "triggerer.",
            )


CHECK = Check("alerts", _check)
