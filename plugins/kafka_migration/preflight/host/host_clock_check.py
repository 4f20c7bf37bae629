"""The clocks of the MirrorMaker host and of the Airflow worker agree."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.host.asking_host import machine
from kafka_migration.preflight.host.clock_rule import clock_findings
from kafka_migration.preflight.scene.check import Asked, Check, without_mirrormaker
from kafka_migration.preflight.scene.scene import Scene


def _warn(scene: Scene) -> Iterable[Finding]:
    answer = machine(scene)
    shown = datetime.fromtimestamp(answer.number("clock", "its time"), UTC)
    # The host shows whole seconds.
    earliest = answer.before - timedelta(seconds=1)
    return clock_findings("the MirrorMaker host", "the Airflow worker", shown, earliest, answer.after)


CHECK = Check(
    "host clock",
    asks={Asked.SOURCE, Asked.TARGET, Asked.HOST},
    needs=("clusters", "host"),
    warn=_warn,
    unless=without_mirrormaker,
)
