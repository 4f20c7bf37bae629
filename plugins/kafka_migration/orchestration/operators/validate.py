"""`validate_topics`: one Spark application reads and measures every window of the run."""

from __future__ import annotations

import json
import secrets
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowException, AirflowSkipException

from kafka_migration.adapters import settings
from kafka_migration.clients.kafka_properties import spark_options
from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, ValidationFailed
from kafka_migration.core.evidence import Kind
from kafka_migration.core.generations import Generation
from kafka_migration.core.lateness import pending_document
from kafka_migration.core.ledger import Ledger
from kafka_migration.core.migration import Mode
from kafka_migration.core.sampling import left_out, sampled
from kafka_migration.core.validation import (
    AUDITED_DIGESTS,
    KEY_DIGEST,
    POSITION_DIGEST,
    ValidationRequest,
    Window,
    empty_result,
)
from kafka_migration.core.windows import delta_key_windows, delta_windows, whole_windows
from kafka_migration.orchestration.comparing import compacted_topics, untimed_topics
from kafka_migration.orchestration.mirroring import every_value
from kafka_migration.orchestration.operators.base import Summary, reporting
from kafka_migration.orchestration.run import MigrationRun, connection_config, partitions_of
from kafka_migration.orchestration.time_limit import stopping_after

CLIENTS_FILE = "clients.json"
APPLICATION = "validate_topics.py"
DIGEST_PACKAGE = "kafka_digest"
# Spark's own INFO lines would bury what the task says, and its UI ends with the job.
QUIET = {"spark.log.level": "WARN", "spark.ui.enabled": "false"}


class ValidateTopicsOperator(SparkSubmitOperator):
    """Measure counts, content and order of the run's windows on both sides, in one Spark application.

    :param migration: name of the migration. (templated)

    Mode `sync` reads the windows of every stopped generation that no run has judged yet, mode `interval` the same
    but what an earlier attempt of it found good; mode `validate` reads the whole copy again, or just the windows of the
    generations that the run names. The connection is the
    migration file's `validation.spark_connection`. Kafka logins travel in a file shipped with `--files`, never on a
    command line. With nothing to read, Spark is not started.

    After the occasion's `validate_until` Spark is not started, and stopped if it runs: the task skips itself and leaves
    its windows to the next run. The limit is that of the attempt whose preflight set it; a person who clears this task
    later has none.

    Killing the task stops Spark. In deploy mode `cluster` that is up to the provider's hook, which asks YARN or
    Kubernetes to do it.

    What it does not do: judge. It succeeds when the measurements are written, whatever they say.
    """

    template_fields: Sequence[str] = ("migration",)

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        # Not durable: a retry must measure again, into its own result document.
        super().__init__(durable=False, **{**kwargs, "conf": {**QUIET, **(kwargs.get("conf") or {})}})
        self.migration = migration
        self._is_killed = False

    def execute(self, context: Context) -> Summary:
        """Write the request, run Spark, check that the result is there."""
        run = MigrationRun.from_context(context, self.migration)
        with reporting(run, self.task_id):
            request = _request(run)
            request_path = run.evidence.write(Kind.VALIDATION_REQUEST, request.to_document())
            result_path = run.evidence.new_path(Kind.VALIDATION_RESULT)
            if all(window.is_empty for window in request.windows):
                self.log.info("Nothing to read: every window is empty.")
                run.evidence.write(Kind.VALIDATION_RESULT, empty_result(request, run.now()).to_document())
            elif not self._submit_in_time(context, run, request, request_path, result_path):
                _leave_pending(run, request)
            return _summary(run, str(result_path), result_path.exists())

    def on_kill(self) -> None:
        """Stop Spark, or keep it from being started: Airflow calls this, and lets the task go on for some seconds."""
        self._is_killed = True
        # The provider would make a hook to stop, without what `_submit` has still to set, and submit with it.
        if self._hook is not None:
            super().on_kill()

    def _get_hook(self) -> SparkSubmitHook:
        hook = super()._get_hook()
        if self._is_killed:
            raise AirflowException("The task was stopped before it started Spark.")
        return hook

    def _submit_in_time(
        self, context: Context, run: MigrationRun, request: ValidationRequest, request_path: str, result_path: Any
    ) -> bool:
        """Run Spark until the time for it is over; return whether there was time enough."""
        left_s = _time_left_s(run)
        if left_s is not None and left_s <= 0:
            return False
        with stopping_after(left_s, self._stop) as is_over:
            try:
                self._submit(context, run, request, request_path, str(result_path))
            except Exception:
                # Spark that was killed fails in many ways, and may have done its work before.
                if not is_over.is_set():
                    raise
        return bool(not is_over.is_set() or result_path.exists())

    def _stop(self) -> None:
        """Stop Spark in another thread than that which waits for it."""
        self.log.warning("The time for validating is over: Spark is stopped.")
        self.on_kill()

    def _submit(
        self, context: Context, run: MigrationRun, request: ValidationRequest, request_path: str, result_path: str
    ) -> None:
        place = settings.evidence_place()
        with tempfile.TemporaryDirectory(prefix="kafka-migration-") as folder:
            self._conn_id = run.migration.validation.spark_connection
            self.application = str(settings.spark_jobs_folder() / APPLICATION)
            self.py_files = str(zip_package(settings.spark_jobs_folder() / DIGEST_PACKAGE, Path(folder)))
            self.name = f"kafka-migration-{run.name}"
            self.jars = settings.spark_jars()
            self.packages = None if self.jars else settings.SPARK_KAFKA_PACKAGE
            self.files = str(_clients_file(run, request, Path(folder)))
            paths = ["--request", place.for_spark(request_path), "--result", place.for_spark(result_path)]
            self.application_args = [*paths, "--clients", CLIENTS_FILE]
            with _transport_errors():
                super().execute(context)


def _request(run: MigrationRun) -> ValidationRequest:
    ledger = run.ledger.read()
    generations = _generations(run, ledger)
    by_key = not run.migration.keeps_partitions
    delta = delta_key_windows if by_key else delta_windows
    every = _whole_windows(run, ledger) if run.request.reads_whole else delta(generations)
    windows = _chosen(run, every)
    topics = {window.topic for window in windows if not window.is_empty}
    digest = KEY_DIGEST if by_key else POSITION_DIGEST
    wanted = run.migration.validation
    return ValidationRequest(
        migration=run.name,
        run=run.identity.holder,
        block_records=wanted.block_records,
        # What was aborted is no part of the source, whether MirrorMaker copied it or not.
        isolation_level="read_committed",
        windows=tuple(replace(w, target_topic=run.migration.target_topic(w.topic)) for w in windows),
        generations=tuple(generation.number for generation in generations),
        digest=AUDITED_DIGESTS[digest] if wanted.audit else digest,
        untimed_topics=untimed_topics(run, topics),
        compacted_topics=compacted_topics(run, topics),
        is_uncommitted_copy=run.migration.mirror.isolation_level == "read_uncommitted",
        nonce=secrets.token_hex(16) if wanted.audit else None,
        left_out=left_out(every, windows),
        max_bytes_per_s=wanted.max_bytes_per_s,
    )


def _chosen(run: MigrationRun, windows: Sequence[Window]) -> Sequence[Window]:
    """Return the windows to read: all, unless the file asks for a sample; what consumers are moved by is never one."""
    percent = run.migration.validation.sample_percent
    if percent is None or run.request.mode not in {Mode.SYNC, Mode.FOLLOW}:
        return windows
    return sampled(windows, percent, seed=run.identity.run_id, by_key=not run.migration.keeps_partitions)


def _generations(run: MigrationRun, ledger: Ledger) -> list[Generation]:
    """Return the generations whose windows the run reads, each with the run's topics."""
    wanted = run.request.generations
    unlimited = ledger.to_measure(run.request.mode, run.identity.holder)
    chosen = (each for each in unlimited if not wanted or each.number in wanted)
    return [g for each in chosen if (g := each.limited_to(run.migration.topics)).topics]


def _whole_windows(run: MigrationRun, ledger: Ledger) -> tuple[Window, ...]:
    present = partitions_of(run.describe("target"))
    ends = every_value(run.target.log_end_offsets(present, "read_uncommitted"), present, "target end")
    return whole_windows(ledger, run.migration.topics, ends, by_key=not run.migration.keeps_partitions)


def _time_left_s(run: MigrationRun) -> float | None:
    """Return the seconds until the end that this attempt's preflight set for the validation; `None`: no end."""
    if not run.evidence.of_attempt(Kind.PREFLIGHT) or run.occasion.validate_until is None:
        return None
    return (run.occasion.validate_until - run.clock.now()).total_seconds()


def _leave_pending(run: MigrationRun, request: ValidationRequest) -> NoReturn:
    """Record what is left to validate, and skip the task with all that judges it."""
    reason = f"the time for validating ended at {run.occasion.validate_until}"
    run.evidence.write(Kind.PENDING, pending_document(run.now(), reason, request.windows))
    raise AirflowSkipException(f"{reason}; the next run does it.")


def _clients_file(run: MigrationRun, request: ValidationRequest, folder: Path) -> Path:
    connections = {"source": run.migration.source.connection, "target": run.migration.target.connection}
    sides = {
        side: {**spark_options(name, connection_config(name)), "kafka.client.id": request.client_id}
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


def _summary(run: MigrationRun, path: str, is_written: bool) -> Summary:
    result = run.evidence.newest(Kind.VALIDATION_RESULT)
    if not is_written or result is None:
        raise ValidationFailed(
            [
                Finding(
                    Code.VALIDATION_RESULT_MISSING,
                    "the Spark job",
                    "no result document",
                    f"a whole document at {path}, for Spark {settings.evidence_place().for_spark(path)}",
                    "Check that Airflow and Spark see the same evidence root, then clear validate_topics.",
                )
            ]
        )
    return {"source_records": result["source_records"], "target_records": result["target_records"]}


def zip_package(package: Path, folder: Path) -> Path:
    """Return a zip of a package that is the same, byte for byte, whenever its sources are."""
    path = folder / f"{package.name}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for source in sorted(package.rglob("*.py")):
            entry = zipfile.ZipInfo(str(source.relative_to(package.parent)), date_time=(1980, 1, 1, 0, 0, 0))
            archive.writestr(entry, source.read_bytes())
    return path
