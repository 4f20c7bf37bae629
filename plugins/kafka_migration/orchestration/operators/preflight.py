"""`preflight`: freezes the migration file and runs all checks that are possible before a run acts."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, NoReturn

from airflow.sdk import Context
from airflow.sdk.bases.hook import BaseHook
from airflow.sdk.exceptions import AirflowNotFoundException

from kafka_migration.adapters.listeners import own_certificates, principal_of
from kafka_migration.airflow_adapters import settings
from kafka_migration.airflow_adapters.connections import connection_config, findings_of_side
from kafka_migration.airflow_adapters.notifiers import notifier_problem
from kafka_migration.airflow_adapters.spark import spark_client_findings, spark_target
from kafka_migration.core.connections.java_properties import spark_options
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.certificates import Certificate
from kafka_migration.core.migration.run_window import RunType, RunWindow
from kafka_migration.core.migration.settings import Cluster, Migration
from kafka_migration.core.migration.topic_rules import TopicList
from kafka_migration.core.validation.spark_target import SparkTarget, has_login
from kafka_migration.migration_file.loading import load_migration_file, load_migrations
from kafka_migration.orchestration.alerting import alerts_of
from kafka_migration.orchestration.context import run_of, run_type_of
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run_window_input import run_window_of
from kafka_migration.preflight.check import CheckResult, Subject, run_checks, without_checks
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.steps.run import MigrationRun
from kafka_migration.steps.topic_list import record_topic_list


class PreflightOperator(MigrationOperator):
    """Freeze `<migrations_folder>/<migration>.yaml` into the run's evidence and run every check.

    All later tasks read the frozen copy, so editing the file during a run has no effect on it. All refusals are
    reported together; nothing is started or changed. A scheduled run that begins outside its window does nothing, so
    nothing is checked.
    """

    tells_step = False

    def execute(self, context: Context) -> Summary:
        """Begin the evidence of the attempt, and run the step."""
        run_of(context, self.migration).evidence.disown_strangers()
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
            found = _topic_list(run)
            results = run_checks(CHECKS, _subject(run, found, run_type_of(context)))
        warnings = [warning for result in results for warning in result.warnings]
        run.evidence.write(Kind.PREFLIGHT, _document(run, window, results, warnings))
        for result in sorted(results, key=lambda result: not result.findings):
            level = logging.ERROR if result.findings else logging.INFO
            self.log.log(level, "%-12s %s", result.name, result.to_document()["state"])
        for warning in warnings:
            self.log.warning("%s", warning)
        findings = [finding for result in results for finding in result.findings]
        if findings:
            raise Refused(findings)
        return {"checks": len(results), "digest": run.migration.digest}


class AirflowConnections:
    """Airflow's connections (`preflight.check.Connections`); the settings of each are checked once."""

    def __init__(self) -> None:
        self._configs: dict[Cluster, dict[str, Any]] = {}

    def _config(self, cluster: Cluster) -> dict[str, Any]:
        if cluster not in self._configs:
            self._configs[cluster] = connection_config(cluster.connection, cluster.insecure)
        return self._configs[cluster]

    def connection_type(self, connection_id: str) -> str | None:
        """Return the type of a connection, or `None` if it does not exist."""
        try:
            return str(BaseHook.get_connection(connection_id).conn_type)
        except AirflowNotFoundException:
            return None

    def kafka_findings(self, cluster: Cluster) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
        """Return the findings that forbid a Kafka connection, and the insecure settings that the file allows."""
        return findings_of_side(cluster)

    def principal(self, cluster: Cluster) -> str:
        """Return the broker's probable name for the user of a Kafka connection."""
        return principal_of(self._config(cluster))

    def certificates(self, cluster: Cluster) -> tuple[Certificate, ...]:
        """Return the client certificates of a Kafka connection."""
        return own_certificates(self._config(cluster))

    def deploy_mode(self, connection_id: str) -> str | None:
        """Return the deploy mode of a Spark connection, `None` if it sets none or does not exist."""
        try:
            mode = BaseHook.get_connection(connection_id).extra_dejson.get("deploy-mode")
        except AirflowNotFoundException:
            return None
        return None if mode is None else str(mode)

    def spark_target(self, connection_id: str) -> SparkTarget:
        """Return the target of a Spark connection. Raises `Refused` if it cannot be used."""
        return spark_target(connection_id)

    def has_login(self, cluster: Cluster) -> bool:
        """Return whether a Kafka connection has a login. Raises `Refused` if it cannot be translated."""
        return has_login(spark_options(cluster.connection, self._config(cluster)))

    def spark_client_findings(self) -> tuple[Finding, ...]:
        """Return the problems of Spark's Kafka client, which matter if a login is used."""
        return spark_client_findings()


def _topic_list(run: MigrationRun) -> Callable[[], TopicList | None]:
    """Record the topics that the file's patterns find; return what gives them, or raises why they are unknown.

    A missing connection or an unreachable cluster must not hide the findings of the other checks.
    """
    try:
        found = record_topic_list(run)
    except (Refused, TransientError) as error:
        return partial(_raise, error)
    return lambda: found


def _raise(error: Exception) -> NoReturn:
    raise error


def _subject(run: MigrationRun, find_topic_list: Callable[[], TopicList | None], run_type: RunType) -> Subject:
    whole = run.whole_migration
    return Subject(
        migration=run.migration,
        mode=run.request.mode,
        connections=AirflowConnections(),
        evidence_place=settings.evidence_place(),
        ledger=run.ledger.known(),
        now=run.clock.now(),
        make_source=lambda: run.source,
        make_target=lambda: run.target,
        make_host=lambda: run.host,
        make_registry=run.deployment.open_registry,
        find_alerts=lambda: alerts_of(run.migration),
        notifier_problem=notifier_problem,
        requested_topics=run.request.topics,
        requested_groups=run.request.groups,
        file_topics=whole.topics,
        find_topic_list=find_topic_list,
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


def _document(
    run: MigrationRun, window: RunWindow, results: tuple[CheckResult, ...], warnings: list[Finding]
) -> dict[str, object]:
    return {
        "at": run.now(),
        "dag_id": run.identity.dag_id,
        "run_id": run.identity.run_id,
        "mode": str(run.request.mode),
        "digest": run.migration.digest,
        "phase": str(run.ledger.known().phase),
        "run_window": window.to_document(),
        "checks": [result.to_document() for result in results],
        "warnings": [warning.to_document() for warning in warnings],
    }
