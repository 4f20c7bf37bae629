"""Submits one of `spark_jobs/`: ships the package and the logins, and handles failures."""

from __future__ import annotations

import json
import os
import resource
import zipfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cache, partial
from pathlib import Path
from typing import Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowException

from kafka_migration.adapters.system.private_folder import private_folder, write_private
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.deployed_airflow import HAS_STATE_STORE
from kafka_migration.airflow_adapters.installed_spark import spark_client_findings, spark_target
from kafka_migration.airflow_adapters.kept_versions import spark_versions
from kafka_migration.airflow_adapters.spark_archive import archive_key, archive_of
from kafka_migration.core.connections.java_properties import spark_options
from kafka_migration.core.findings.errors import Refused, ValidationFailed
from kafka_migration.core.report.run_status import Reading
from kafka_migration.core.spark.driver_java import driver_settings
from kafka_migration.core.spark.spark_target import (
    SparkTarget,
    cipher_findings,
    failure_finding,
    has_login,
    properties_text,
    protecting_settings,
    shipping_findings,
    unprotected_findings,
)
from kafka_migration.core.spark.spark_versions import known_numbers, unknown_findings
from kafka_migration.orchestration.operators.provider_operator import executed, provided
from kafka_migration.orchestration.operators.spark_log import SparkLog, unheard
from kafka_migration.orchestration.task.failures import FailedForNow
from kafka_migration.orchestration.task.time_limit import stopping_after
from kafka_migration.steps.reading.spark_documents import SparkJob
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import log_findings

CLIENTS_FILE = "clients.json"
DIGEST_PACKAGE = "kafka_digest"
# Spark's INFO lines would hide the task's own log lines, and its UI ends with the job.
QUIET = {"spark.log.level": "WARN", "spark.ui.enabled": "false"}


class SparkSubmission(SparkSubmitOperator):
    """Submits jobs for a task; not a task itself."""

    @classmethod
    def of(cls, task: BaseOperator, arguments: Mapping[str, Any]) -> SparkSubmission:
        """Return what submits the jobs of a task; the arguments are those of the provider's operator."""
        # Not durable: a retry must run the job again, with its own result document.
        own = {"durable": False} if HAS_STATE_STORE else {}
        made = provided(task, cls, {**own, **arguments})
        made.spark_settings = {**QUIET, **(arguments.get("conf") or {})}
        return made

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.is_killed = False
        self.spark_settings: dict[str, str] = {}
        self._spark_log: SparkLog | None = None
        self._heard: Callable[[str], None] = unheard
        # Each question may start Java.
        self._versions = cache(spark_versions)

    def on_kill(self) -> None:
        """Stop Spark, or prevent its start."""
        self.is_killed = True
        # Without a hook, the provider would create one before `submit` has set everything, and submit with it.
        if self._hook is not None:
            super().on_kill()

    def _get_hook(self) -> SparkSubmitHook:
        hook = super()._get_hook()
        if self.is_killed:
            raise AirflowException("The task was stopped before it started Spark.")
        self._spark_log = SparkLog(hook.log, Path(self.application).stem, self._heard)
        hook._log = self._spark_log
        return hook

    def stop(self) -> None:
        """Stop Spark from another thread than the one that waits for it."""
        self.log.warning("The time for validation is over. Spark is being stopped.")
        self.on_kill()

    def submit_in_time(self, context: Context, run: MigrationRun, job: SparkJob) -> bool:
        """Run a job until its time limit, otherwise as `submit`; return whether the time was sufficient."""
        with stopping_after(job.limit_s, self.stop) as is_over:
            try:
                self.submit(context, run, job)
            except Exception:
                # A killed Spark fails in many ways, and may have completed its work before.
                if not is_over.is_set():
                    raise
        return not is_over.is_set()

    def submit(self, context: Context, run: MigrationRun, job: SparkJob) -> None:
        """Run a job of `spark_jobs/` to its end.

        Raises `Refused` before the start if the cluster must not get the logins. If the job gave no result, raises
        `FailedForNow`, or `ValidationFailed` on the last try. Raises `AirflowException` if it was killed.
        """
        place = settings.evidence_place()
        clients = _clients(run, job.client_id)
        target = self._safe_target(run, clients)
        self._heard = partial(_tell_reading, run, run.clock.now())
        with private_folder() as folder:
            self._conn_id = target.connection
            # On the command line, so that no other setting replaces the mode that was checked.
            self._deploy_mode = target.deploy_mode or "client"
            self.application = str(settings.spark_jobs_folder() / job.application)
            self.py_files = str(zip_package(settings.spark_jobs_folder() / DIGEST_PACKAGE, folder))
            self.name = f"kafka-migration-{run.name}"
            self.conf = {**self.spark_settings, **protecting_settings(target), **self._java_settings(target, job)}
            self.jars = settings.spark_jars()
            self.packages = None if self.jars else self._packages(target)
            self.properties_file = _properties_file(target, folder)
            shipped = write_private(folder / CLIENTS_FILE, json.dumps(clients))
            self.files = shipped if target.ships_files else None
            paths = ["--request", place.for_spark(job.request), "--result", place.for_spark(job.result)]
            self.application_args = [*paths, *_clients_arguments(target, shipped)]
            self._run_spark(context)

    def _safe_target(self, run: MigrationRun, clients: Mapping[str, Mapping[str, str]]) -> SparkTarget:
        """Return the Spark target. Raises `Refused` like preflight, because the connection may have changed since."""
        migration = run.migration
        target = spark_target(migration.validation.spark_connection)
        declared = migration.validation.spark_unprotected
        version = known_numbers(self._versions(target.binary)) if target.needs_version else ()
        unprotected = unprotected_findings(target, version, declared=declared)
        has_logins = any(has_login(options) for options in clients.values())
        forbidden = [
            *(() if declared else (*unprotected, *cipher_findings(target, version))),
            *((*shipping_findings(target), *spark_client_findings()) if has_logins else ()),
        ]
        if refused := [finding for finding in forbidden if finding.code not in migration.accept]:
            raise Refused(refused)
        for finding in unprotected:
            self.log.warning("%s", finding)
        return target

    def _java_settings(self, target: SparkTarget, job: SparkJob) -> dict[str, str]:
        """Return the settings for a quick start of the driver's JVM; the user's own Java options stay."""
        whole = replace(target, own={**target.own, **self.spark_settings})
        # The defaults of a Spark whose place is unknown are unknown too, and a setting of ours would replace them.
        if not (key := archive_key(whole)):
            return {}
        return driver_settings(whole, os.environ, records=job.records, archive=archive_of(key))

    def _packages(self, target: SparkTarget) -> str:
        """Return the Kafka connector of this Spark. Raises `Refused` if its version is unknown."""
        versions = self._versions(target.binary)
        if versions.packages is None:
            raise Refused(unknown_findings(versions, None))
        return versions.packages

    def _run_spark(self, context: Context) -> None:
        """Submit and wait. The provider's error is replaced, because it repeats the whole command line."""
        without_core_dumps()
        try:
            executed(self, context)
        except AirflowException as error:
            code = str(error).partition("Error code is: ")[2].partition(".")[0]
            if not code:
                raise
            if self.is_killed:
                raise AirflowException(
                    f"spark-submit ended with code {code}: it was stopped. Nothing was judged."
                ) from None
            finding = failure_finding(self._spark_log.last_said if self._spark_log else "", code)
            if _is_last_try(context):
                raise ValidationFailed([finding]) from None
            log_findings([finding])
            raise FailedForNow(str(finding)) from None


def _tell_reading(run: MigrationRun, began_at: datetime, line: str) -> None:
    """Publish the progress that a job tells. In deploy mode `cluster` its lines are only in the cluster's log."""
    if reading := Reading.of(line, began_at, run.clock.now()):
        run.news.tell_reading(run.identity.holder, reading.to_document())


def without_core_dumps() -> None:
    """Let no process that this task starts write a core dump, which would contain the logins."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    # A dump that goes to a program instead of a file has no size limit; this leaves it empty.
    with suppress(OSError):
        Path("/proc/self/coredump_filter").write_text("0")


def _is_last_try(context: Context) -> bool:
    task_instance = context.get("ti")
    return getattr(task_instance, "try_number", 1) > getattr(task_instance, "max_tries", 0)


def _clients(run: MigrationRun, client_id: str) -> dict[str, dict[str, str]]:
    """Return the options of Spark's Kafka source per side."""
    clusters = {"source": run.migration.source, "target": run.migration.target}
    return {
        side: {
            **spark_options(cluster.connection, run.deployment.client_settings(cluster)),
            "kafka.client.id": client_id,
        }
        for side, cluster in clusters.items()
    }


def _clients_arguments(target: SparkTarget, shipped: str) -> list[str]:
    """Return how the driver finds the file with the logins: its path on this machine, or its name in the container."""
    return ["--clients", CLIENTS_FILE] if target.ships_files else ["--clients-once", shipped]


def _properties_file(target: SparkTarget, folder: Path) -> str | None:
    """Return a file with all settings, or `None` if the connection has none and `spark-submit` uses its defaults."""
    if not target.own:
        return None
    return write_private(folder / "spark.properties", properties_text(target.defaults, target.own))


def zip_package(package: Path, folder: Path) -> Path:
    """Return a reproducible zip of a package: equal sources give equal bytes."""
    path = folder / f"{package.name}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted(package.rglob("*.py")):
            entry = zipfile.ZipInfo(str(source.relative_to(package.parent)), date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, source.read_bytes())
    return path
