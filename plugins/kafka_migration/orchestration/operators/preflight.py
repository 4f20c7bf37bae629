"""`preflight`: freezes the migration file and runs all checks that are possible before a run acts."""

from __future__ import annotations

from airflow.sdk import Context

from kafka_migration.airflow_adapters.checked_airflow import ThisAirflow
from kafka_migration.orchestration.operators.operator_base import MigrationOperator
from kafka_migration.orchestration.task.context import occasion_of
from kafka_migration.steps.before.run_start import preflight
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary


class PreflightOperator(MigrationOperator):
    """Freeze `<migrations_folder>/<migration>.yaml` into the run's evidence and run every check.

    All later tasks read the frozen copy, so editing the file during a run has no effect on it. All refusals are
    reported together; nothing is started or changed. A scheduled run that begins outside its window does nothing, so
    nothing is checked.
    """

    tells_step = False
    begins_attempt = True

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Freeze, check, refuse or pass."""
        return preflight(run, ThisAirflow(), occasion_of(context))
