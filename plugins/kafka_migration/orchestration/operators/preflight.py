"""`preflight`: freezes the migration file and runs all checks that are possible before a run acts."""

from __future__ import annotations

import logging

from airflow.sdk import Context

from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.checked_airflow import ThisAirflow
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.run.run_window import RunWindow
from kafka_migration.core.stored.stored_documents import CheckDocument, PreflightDocument, Stored
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, Summary, translating
from kafka_migration.orchestration.task.context import run_of, run_type_of
from kafka_migration.orchestration.task.run_window_input import run_window_of
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.preflight.scene.check import CheckResult, without_checks
from kafka_migration.steps.before.preflight_checks import checked
from kafka_migration.steps.run.migration_run import MigrationRun


class PreflightOperator(MigrationOperator):
    """Freeze `<migrations_folder>/<migration>.yaml` into the run's evidence and run every check.

    All later tasks read the frozen copy, so editing the file during a run has no effect on it. All refusals are
    reported together; nothing is started or changed. A scheduled run that begins outside its window does nothing, so
    nothing is checked.
    """

    tells_step = False

    def execute(self, context: Context) -> Summary:
        """Begin the evidence of the attempt, and run the step."""
        run = run_of(context, self.migration)
        with translating(run, self.task_id):
            run.evidence.disown_strangers()
        return super().execute(context)

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Freeze, check, refuse or pass."""
        text, _ = load_migration_file(settings.migrations_folder() / f"{run.name}.yaml")
        run.evidence.freeze_migration(text)
        window = run_window_of(run, context)
        if window.idle_because:
            self.log.warning("Nothing to do: %s.", window.idle_because)
            results = without_checks(CHECKS, window.idle_because)
        else:
            results = checked(run, ThisAirflow(), run_type_of(context))
        warnings = [warning for result in results for warning in result.warnings]
        run.evidence.write(Stored.PREFLIGHT, _document(run, window, results, warnings))
        self._log(results)
        findings = [finding for result in results for finding in result.findings]
        if findings:
            raise Refused(findings)
        return {"checks": len(results), "digest": run.migration.digest}

    def _log(self, results: tuple[CheckResult, ...]) -> None:
        for result in sorted(results, key=lambda result: not result.findings):
            level = logging.ERROR if result.findings else logging.INFO
            self.log.log(level, "%-12s %s", result.name, result.state)
        for result in results:
            for accepted in result.accepted:
                self.log.info("Accepted by the migration file: %s", accepted)
            for warning in result.warnings:
                self.log.warning("%s", warning)


def _document(
    run: MigrationRun, window: RunWindow, results: tuple[CheckResult, ...], warnings: list[Finding]
) -> PreflightDocument:
    return PreflightDocument(
        at=run.now(),
        dag_id=run.identity.dag_id,
        run_id=run.identity.run_id,
        mode=run.request.mode,
        digest=run.migration.digest,
        phase=run.ledger.known().phase,
        run_window=window,
        checks=tuple(
            CheckDocument(each.name, each.state, each.reason, each.findings, each.warnings, each.accepted)
            for each in results
        ),
        warnings=tuple(warnings),
        accepted=tuple(finding for result in results for finding in result.accepted),
    )
