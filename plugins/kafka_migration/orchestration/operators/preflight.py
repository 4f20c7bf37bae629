"""`preflight`: freezes the migration file and checks everything that can be checked before a run acts."""

from __future__ import annotations

from airflow.sdk import Context
from airflow.sdk.bases.hook import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException

from kafka_migration.adapters import settings
from kafka_migration.adapters.notifiers import notifier_problem
from kafka_migration.core.errors import Refused
from kafka_migration.core.evidence import Kind
from kafka_migration.core.migration import Migration
from kafka_migration.core.occasion import Occasion, RunType
from kafka_migration.orchestration.alerting import alerts_of
from kafka_migration.orchestration.occasions import occasion_of
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run import MigrationRun, run_type_of
from kafka_migration.preflight.check import CheckResult, Subject, run_checks, without_checks
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.spec.loading import load_migration_file, load_migrations


class PreflightOperator(MigrationOperator):
    """Freeze `<migrations_folder>/<migration>.yaml` into the run's evidence and run every check.

    Every later task reads the frozen copy, so that editing the file while a run goes on changes nothing.
    All refusals are reported together; nothing is started or changed. A scheduled run that begins outside its window is
    to do nothing, so nothing is checked.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Freeze, check, refuse or pass."""
        text, migration = load_migration_file(settings.migrations_folder() / f"{run.name}.yaml")
        run.evidence.freeze_migration(text)
        occasion = occasion_of(run, context)
        if occasion.idle_because:
            self.log.warning("Nothing is to be done: %s.", occasion.idle_because)
            results = without_checks(CHECKS, occasion.idle_because)
        else:
            results = run_checks(CHECKS, _subject(run, migration, run_type_of(context)))
        run.evidence.write(Kind.PREFLIGHT, _document(run, occasion, results))
        for result in results:
            self.log.info("%-12s %s", result.name, result.to_document()["state"])
        findings = [finding for result in results for finding in result.findings]
        if findings:
            raise Refused(findings)
        return {"checks": len(results), "digest": run.migration.digest}


class AirflowConnections:
    """Airflow's connections (`preflight.check.Connections`)."""

    def connection_type(self, connection_id: str) -> str | None:
        """Return the type of a connection, or `None` when there is no such connection."""
        try:
            return str(BaseHook.get_connection(connection_id).conn_type)
        except AirflowNotFoundException:
            return None

    def deploy_mode(self, connection_id: str) -> str | None:
        """Return the deploy mode that a Spark connection names, `None` when it names none or does not exist."""
        try:
            mode = BaseHook.get_connection(connection_id).extra_dejson.get("deploy-mode")
        except AirflowNotFoundException:
            return None
        return None if mode is None else str(mode)


def _subject(run: MigrationRun, whole: Migration, run_type: RunType) -> Subject:
    return Subject(
        migration=run.migration,
        mode=run.request.mode,
        connections=AirflowConnections(),
        evidence_place=settings.evidence_place(),
        ledger=run.ledger.read(),
        now=run.clock.now(),
        make_source=lambda: run.source,
        make_target=lambda: run.target,
        make_host=lambda: run.host,
        find_alerts=lambda: alerts_of(run.migration),
        notifier_problem=notifier_problem,
        requested_topics=run.request.topics,
        requested_groups=run.request.groups,
        file_topics=whole.topics,
        follow_until=run.request.follow_until,
        generations=run.request.generations,
        others=_other_migrations(whole),
        run_type=run_type,
        is_nightly=run.identity.is_nightly,
    )


def _other_migrations(migration: Migration) -> tuple[Migration, ...]:
    """Return the migrations of all other files that can be read."""
    known = load_migrations(settings.migrations_folder())
    return tuple(other for other in known if other.name != migration.name)


def _document(run: MigrationRun, occasion: Occasion, results: tuple[CheckResult, ...]) -> dict[str, object]:
    return {
        "at": run.now(),
        "dag_id": run.identity.dag_id,
        "run_id": run.identity.run_id,
        "mode": str(run.request.mode),
        "digest": run.migration.digest,
        "phase": str(run.ledger.read().phase),
        "occasion": occasion.to_document(),
        "checks": [result.to_document() for result in results],
    }
