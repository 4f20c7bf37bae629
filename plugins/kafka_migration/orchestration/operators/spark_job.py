"""What tasks that submit one of `spark_jobs/` share: the package that goes along, logins in a file, and their end."""

from __future__ import annotations

import json
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowException

from kafka_migration.adapters import settings
from kafka_migration.adapters.connections import connection_config
from kafka_migration.adapters.evidence import is_there
from kafka_migration.clients.kafka_properties import spark_options
from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, ValidationFailed
from kafka_migration.core.evidence import Kind
from kafka_migration.orchestration.run import MigrationRun

CLIENTS_FILE = "clients.json"
DIGEST_PACKAGE = "kafka_digest"
# Spark's own INFO lines would bury what the task says, and its UI ends with the job.
QUIET = {"spark.log.level": "WARN", "spark.ui.enabled": "false"}


class SparkJobOperator(SparkSubmitOperator):
    """Submit a job with the locations of a request and of its result.

    :param migration: name of the migration. (templated)

    The connection is the migration file's `validation.spark_connection`. Kafka logins travel in a file shipped with
    `--files`, never on a command line. Killing the task stops Spark; in deploy mode `cluster` that is up to the
    provider's hook, which asks YARN or Kubernetes to do it.
    """

    template_fields: Sequence[str] = ("migration",)

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        # Not durable: a retry must measure again, into its own result document.
        super().__init__(durable=False, **{**kwargs, "conf": {**QUIET, **(kwargs.get("conf") or {})}})
        self.migration = migration
        self._is_killed = False

    def on_kill(self) -> None:
        """Stop Spark, or keep it from being started: Airflow calls this, and lets the task go on for some seconds."""
        self._is_killed = True
        # The provider would make a hook to stop, without what `submit` has still to set, and submit with it.
        if self._hook is not None:
            super().on_kill()

    def _get_hook(self) -> SparkSubmitHook:
        hook = super()._get_hook()
        if self._is_killed:
            raise AirflowException("The task was stopped before it started Spark.")
        return hook

    def submit(
        self, context: Context, run: MigrationRun, application: str, client_id: str, request_path: str, result_path: str
    ) -> None:
        """Run a job of `spark_jobs/` to its end. Raises `AirflowException` if it gave no result."""
        place = settings.evidence_place()
        with tempfile.TemporaryDirectory(prefix="kafka-migration-") as folder:
            self._conn_id = run.migration.validation.spark_connection
            self.application = str(settings.spark_jobs_folder() / application)
            self.py_files = str(zip_package(settings.spark_jobs_folder() / DIGEST_PACKAGE, Path(folder)))
            self.name = f"kafka-migration-{run.name}"
            self.jars = settings.spark_jars()
            self.packages = None if self.jars else settings.SPARK_KAFKA_PACKAGE
            self.files = str(_clients_file(run, client_id, Path(folder)))
            paths = ["--request", place.for_spark(request_path), "--result", place.for_spark(result_path)]
            self.application_args = [*paths, "--clients", CLIENTS_FILE]
            with _transport_errors():
                SparkSubmitOperator.execute(self, context)


def result_of(run: MigrationRun, kind: Kind, path: Any) -> dict[str, Any]:
    """Return the result document of a job. Raises `ValidationFailed` if there is none at its path."""
    result = run.evidence.newest(kind) if is_there(path) else None
    if result is None:
        raise ValidationFailed(
            [
                Finding(
                    Code.VALIDATION_RESULT_MISSING,
                    "the Spark job",
                    "no result document",
                    f"a whole document at {path}, for Spark {settings.evidence_place().for_spark(str(path))}",
                    "Check that Airflow and Spark see the same evidence root, then clear the task.",
                )
            ]
        )
    return result


def _clients_file(run: MigrationRun, client_id: str, folder: Path) -> Path:
    connections = {"source": run.migration.source.connection, "target": run.migration.target.connection}
    sides = {
        side: {**spark_options(name, connection_config(name)), "kafka.client.id": client_id}
        for side, name in connections.items()
    }
    path = folder / CLIENTS_FILE
    path.touch(mode=0o600)
    path.write_text(json.dumps(sides))
    return path


@contextmanager
def _transport_errors() -> Iterator[None]:
    """Keep the reason that Spark gave; the provider's own text repeats the whole command line."""
    try:
        yield
    except AirflowException as error:
        code = str(error).rpartition("Error code is: ")[2].rstrip(".")
        raise AirflowException(
            f"spark-submit ended with code {code}; the lines above name the cause. Nothing was judged."
        ) from None


def zip_package(package: Path, folder: Path) -> Path:
    """Return a zip of a package that is the same, byte for byte, whenever its sources are."""
    path = folder / f"{package.name}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted(package.rglob("*.py")):
            entry = zipfile.ZipInfo(str(source.relative_to(package.parent)), date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, source.read_bytes())
    return path
