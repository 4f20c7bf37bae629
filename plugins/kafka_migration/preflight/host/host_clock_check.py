"""The clocks of the MirrorMaker host and of the Airflow worker agree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from kafka_migration.preflight.host.asking_host import clock_findings, machine
from kafka_migration.preflight.scene.check import BOTH_AND_HOST, Check, Findings, without_mirrormaker
from kafka_migration.preflight.scene.scene import Scene


def _warn(scene: Scene) -> Findings:
    answer = machine(scene)
    shown = datetime.fromtimestamp(answer.number("clock", "its time"), UTC)
    # The host shows whole seconds.
    earliest = answer.before - timedelta(seconds=1)
    return clock_findings("the MirrorMaker host", "the Airflow worker", shown, earliest, answer.after)


CHECK = Check("host clock", asks=BOTH_AND_HOST, needs=("clusters", "host"), warn=_warn, unless=without_mirrormaker)
