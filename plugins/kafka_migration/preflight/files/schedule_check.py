"""A run of the nightly DAG comes from its schedule or a backfill, and the migration file has a schedule."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.run.run_window import RunType
from kafka_migration.preflight.scene.check import Check, Subject


def _check(subject: Subject) -> Iterable[Finding]:
    name = subject.migration.name
    if subject.is_nightly and subject.run_type is RunType.MANUAL:
        yield Finding(
            Code.NOT_SCHEDULED,
            f"migration {name}",
            "a run of its nightly DAG that was triggered manually",
            "runs by the schedule or a backfill",
            f"Trigger kafka_migration__{name} in mode sync. Nothing was started.",
        )
    elif subject.is_nightly and subject.migration.nightly is None:
        yield Finding(
            Code.NOT_SCHEDULED,
            f"migration {name}",
            f"a {subject.run_type} run without a section nightly in the migration file",
            "a section nightly with at least cron",
            "Add the section, or pause the DAG. Without it there are no intervals and no window.",
        )


CHECK = Check("schedule", _check)
