"""The clocks of the MirrorMaker host and of the Airflow worker agree."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.scene.asking_host import machine, number, only_with_mirrormaker
from kafka_migration.preflight.scene.check import Check, Subject
from kafka_migration.preflight.scene.machine_rules import clock_findings


def _warn(subject: Subject) -> Iterable[Finding]:
    shown = datetime.fromtimestamp(number(subject, "clock", "its time"), UTC)
    answer = machine(subject)
    # The host shows whole seconds.
    earliest = answer.before - timedelta(seconds=1)
    return clock_findings("the MirrorMaker host and the Airflow worker", shown, earliest, answer.after)


CHECK = Check("host clock", lambda _: (), needs=("clusters", "host"), warn=only_with_mirrormaker(_warn))
