"""Submits one of `spark_jobs/`: ships the package and the logins, and handles failures."""

from __future__ import annotations

import json
import math
import os
import resource
import threading
import time
import zipfile
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
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
from kafka_migration.adapters.system.this_machine import own_process
from kafka_migration.adapters.system.yarn_application import ask_to_end
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.deployed_airflow import HAS_STATE_STORE
from kafka_migration.airflow_adapters.installed_spark import spark_client_findings, spark_home, spark_target
from kafka_migration.airflow_adapters.kept_versions import spark_versions
from kafka_migration.airflow_adapters.spark_archive import archive_key, archive_of
from kafka_migration.core.connections.java_properties import spark_options
from kafka_migration.core.findings.errors import Finding, Refused, ValidationFailed
from kafka_migration.core.report.run_status import Reading
from kafka_migration.core.spark.driver_java import driver_settings
from kafka_migration.core.spark.spark_target import (
    SparkTarget,
    cipher_findings,
    failure_finding,
    has_login,
    no_resources_finding,
    properties_text,
    protecting_settings,
    settings_of_task,
    shipping_findings,
    unprotected_findings,
)
from kafka_migration.core.spark.spark_versions import known_numbers, unknown_findings
from kafka_migration.core.spark.yarn_report import YarnReport
from kafka_migration.orchestration.operators.driver_letters import DriverLetters
from kafka_migration.orchestration.operators.provider_operator import executed, provided
from kafka_migration.orchestration.operators.spark_log import SparkLog, unheard
from kafka_migration.orchestration.task.failures import FailedForNow
from kafka_migration.orchestration.task.time_limit import stopping_after
from kafka_migration.steps.reading.spark_documents import SparkJob
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import log_findings

CLIENTS_FILE = "clients.json"
DIGEST_PACKAGE = "kafka_digest"
WORD_FILE = "task-word"
# How long an application may take to end after YARN was asked, before `spark-submit` is killed.
ENDS_WITHIN_S = 60.0
# How long a driver in a cluster has before, once it was told to end: it removes its quotas and its letters.
DRIVER_ENDS_WITHIN_S = 45.0


class SparkSubmission(SparkSubmitOperator):
    """Submits jobs for a task; not a task itself."""

    @classmethod
    def of(cls, task: BaseOperator, arguments: Mapping[str, Any]) -> SparkSubmission:
        """Return what submits the jobs of a task; the arguments are those of the provider's operator."""
        # Not durable: a retry must run the job again, with its own result document.
        own = {"durable": False} if HAS_STATE_STORE else {}
        made = provided(task, cls, {**own, **arguments})
        made.spark_settings = dict(arguments.get("conf") or {})
        return made

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.is_killed = False
        self.spark_settings: dict[str, str] = {}
        self._spark_log: SparkLog | None = None
        self._heard: Callable[[str], None] = unheard
        self._letters: DriverLetters | None = None
        self._has_begun = threading.Event()
        # What YARN had said when the job was given up; what it says later is the answer to the request to end it.
        self._given_up: YarnReport | None = None
        self._ends_by = math.inf
        self._await_yarn: Callable[[float], None] | None = None
        self._home: str | None = None
        # Each question may start Java.
        self._versions = cache(spark_versions)

    def on_kill(self) -> None:
        """Stop Spark, or prevent its start. Airflow may end this process some seconds later."""
        self.is_killed = True
        if self._letters is not None:
            self._letters.end()
        is_ending = self._ask_yarn()
        # Without a hook, the provider would create one before `submit` has set everything, and submit with it.
        if self._hook is not None and not is_ending:
            # Otherwise the provider would end nothing but the application, with means that a worker may not have.
            self._hook._yarn_application_id = None
            super().on_kill()

    def _ask_yarn(self) -> bool:
        """Ask YARN once to end an application that does not end with its driver; return whether it may take its time.

        `spark-submit` then ends by itself, and removes what it has shipped. A driver that reads letters may end first.
        """
        yarn = self._yarn
        if not yarn.may_run or (self._letters is None and self._has_begun.is_set()):
            return False
        if self._ends_by == math.inf:
            after_s = DRIVER_ENDS_WITHIN_S if self._letters is not None and self._letters.has_driver else 0.0
            self._ends_by = time.monotonic() + after_s + ENDS_WITHIN_S
            self._await_yarn = ask_to_end(yarn.application, self._home, after_s)
        return self._await_yarn is not None and time.monotonic() < self._ends_by

    @property
    def _yarn(self) -> YarnReport:
        """What YARN has said of the application."""
        return self._spark_log.yarn if self._spark_log else YarnReport()

    def _get_hook(self) -> SparkSubmitHook:
        hook = super()._get_hook()
        if self.is_killed:
            raise AirflowException("The task was stopped before it started Spark.")
        self._spark_log = SparkLog(hook.log, Path(self.application).stem, self._heard)
        hook._log = self._spark_log
        return hook

    def give_up(self) -> None:
        """Stop a job that has not begun within its time."""
        if self._given_up is None:
            self.log.warning("The Spark job has not begun within its time. It is being stopped.")
            self._given_up = self._yarn
        self.on_kill()

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
        clients = _clients(run, job.client_id)
        target = self._safe_target(run, clients)
        self._heard = partial(self._hear, run, run.clock.now())
        with private_folder() as folder:
            self._conn_id = target.connection
            self._home = spark_home(target.binary)
            # On the command line, so that no other setting replaces the mode that was checked.
            self._deploy_mode = target.deploy_mode or "client"
            self.application = str(settings.spark_jobs_folder() / job.application)
            self.py_files = str(zip_package(settings.spark_jobs_folder() / DIGEST_PACKAGE, folder))
            self.name = f"kafka-migration-{run.name}"
            own = settings_of_task(target, self.spark_settings)
            self.conf = {**own, **protecting_settings(target), **_java_settings(target, job, own)}
            self.jars = settings.spark_jars()
            self.packages = None if self.jars else self._packages(target)
            self.properties_file = _properties_file(target, folder)
            of_task = self._task_arguments(target, job, folder, json.dumps(clients))
            self.application_args = [*_paths_arguments(job), *of_task, *_limit_arguments(target)]
            self._run_spark(context, target)

    def _hear(self, run: MigrationRun, began_at: datetime, line: str) -> None:
        """Note that the job has begun, and publish the progress that it tells."""
        self._has_begun.set()
        if reading := Reading.of(line, began_at, run.clock.now()):
            run.news.tell_reading(run.identity.holder, reading.to_document())

    def _task_arguments(self, target: SparkTarget, job: SparkJob, folder: Path, clients: str) -> list[str]:
        """Return how the driver gets the logins and sees the task: on this machine, else by letters (ADR 0072)."""
        if not target.ships_files:
            return ["--clients-once", write_private(folder / CLIENTS_FILE, clients), "--task-process", own_process()]
        self._letters = DriverLetters(job.result_path, clients, self._say)
        self.files = write_private(folder / WORD_FILE, self._letters.word)
        return ["--task-word", WORD_FILE]

    def _say(self, line: str) -> None:
        if self._spark_log is not None:
            self._spark_log.say(line)

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

    def _packages(self, target: SparkTarget) -> str:
        """Return the Kafka connector of this Spark. Raises `Refused` if its version is unknown."""
        versions = self._versions(target.binary)
        if versions.packages is None:
            raise Refused(unknown_findings(versions, None))
        return versions.packages

    def _run_spark(self, context: Context, target: SparkTarget) -> None:
        """Submit and wait. The provider's error is replaced, because it repeats the whole command line."""
        without_core_dumps()
        letters = self._letters.exchanged() if self._letters else nullcontext()
        try:
            with letters, stopping_after(_start_limit_s(target), self.give_up, self._has_begun):
                executed(self, context)
        except AirflowException as error:
            code = str(error).partition("Error code is: ")[2].partition(".")[0]
            if not code:
                raise
            self._remove_letters(code)
            if self.is_killed and self._given_up is None:
                raise AirflowException(
                    f"spark-submit ended with code {code}: it was stopped. Nothing was judged."
                ) from None
            finding = self._finding(target, code)
            if _is_last_try(context):
                raise ValidationFailed([finding]) from None
            log_findings([finding])
            raise FailedForNow(str(finding)) from None

    def _remove_letters(self, code: str) -> None:
        """Remove the letters of an application that has ended; after a kill of `spark-submit` its driver needs them."""
        if self._letters is not None and not code.startswith("-"):
            self._letters.remove()

    def _finding(self, target: SparkTarget, code: str) -> Finding:
        """Return why the job gave no result."""
        if self._given_up is not None:
            # The task has time, and a container might end with it, and the client with the container.
            if self._await_yarn is not None:
                self._await_yarn(ENDS_WITHIN_S)
            return no_resources_finding(target, self._given_up, settings.spark_start_limit_s())
        return failure_finding(self._spark_log.last_said if self._spark_log else "", code, self._yarn)


def _java_settings(target: SparkTarget, job: SparkJob, own: Mapping[str, str]) -> dict[str, str]:
    """Return the settings for a quick start of the driver's JVM; the user's own Java options stay."""
    whole = replace(target, own={**target.own, **own})
    # The defaults of a Spark whose place is unknown are unknown too, and a setting of ours would replace them.
    if not (key := archive_key(whole)):
        return {}
    return driver_settings(whole, os.environ, records=job.records, archive=archive_of(key))


def _start_limit_s(target: SparkTarget) -> float | None:
    return None if target.is_local else settings.spark_start_limit_s()


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


def _paths_arguments(job: SparkJob) -> list[str]:
    place = settings.evidence_place()
    return ["--request", place.for_spark(job.request), "--result", place.for_spark(job.result)]


def _limit_arguments(target: SparkTarget) -> list[str]:
    """Return how long the job waits for executors on a cluster."""
    return [] if target.is_local else ["--executors-within", f"{settings.spark_start_limit_s():.0f}"]


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
