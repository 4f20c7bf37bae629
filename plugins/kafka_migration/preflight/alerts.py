"""Everybody who is to be told of the run can be told, as far as that can be seen without telling them."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    for number, settings in enumerate(subject.find_alerts().notifiers):
        if problem := subject.notifier_problem(settings):
            yield Finding(
                Code.ALERTS_INVALID,
                f"alerts.notifiers[{number}]: {settings.notifier}",
                problem,
                "a notifier that can be imported, takes these arguments, and whose templates need nothing but alert",
                "Correct the path or the arguments, or install the notifier's provider on workers and triggerer.",
            )


# That a message arrives, only a message shows.
CHECK = Check("alerts", _check)
