"""A run of the nightly DAG comes from its schedule or a backfill, and the migration file has a schedule."""

from __future__ import annotations

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.run.run_window import RunType
from kafka_migration.preflight.scene.check import Asked, Check, Findings
from kafka_migration.preflight.scene.scene import Scene

_MATTERS = "Such a run has no interval and no window, so it is unknown what it would copy, and nothing was started."


def _check(scene: Scene) -> Findings:
    name, is_nightly = scene.migration.name, scene.run.identity.is_nightly
    if is_nightly and scene.run_type is RunType.MANUAL:
        yield Finding(
            Code.NOT_SCHEDULED,
            f"migration {name}",
            "a run of its nightly DAG that was triggered manually",
            "runs by the schedule or a backfill",
            f"Trigger the DAG kafka_migration__{name} in mode sync instead.",
            happened=f"A run of the nightly DAG of {name} was triggered manually.",
            matters=_MATTERS,
        )
    elif is_nightly and scene.migration.nightly is None:
        yield Finding(
            Code.NOT_SCHEDULED,
            f"migration {name}",
            f"a {scene.run_type} run without a section nightly in the migration file",
            "a section nightly with at least cron",
            "Add the section nightly to the migration file, or pause the nightly DAG.",
            happened=f"The nightly DAG of {name} runs, but its migration file has no section nightly any more.",
            matters=_MATTERS,
        )


CHECK = Check("schedule", _check, asks={Asked.FILE})
