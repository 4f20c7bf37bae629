"""Runs Spark jobs, and reads their documents, possibly from another version of this package or of the job."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from kafka_migration.adapters.store.document_files import Folder, flush, is_there
from kafka_migration.core.evidence.evidence_documents import D, StoredKind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import EvidenceUnfit, Finding, ValidationFailed
from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.core.text.shortened import sentence
from kafka_migration.steps.run.migration_run import MigrationRun

T = TypeVar("T")
APPLICATIONS = {
    TaskId.VALIDATE_TOPICS: "validate_topics",
    TaskId.TRANSLATE_OFFSETS: "translate_offsets",
    TaskId.TRANSLATE_BACK: "translate_offsets",
}


class SparkJobs(Protocol):
    """Runs the applications of `spark_jobs/`."""

    def submit(self, run: MigrationRun, job: SparkJob) -> bool:
        """Run a job to its end; return whether its time was sufficient.

        Raises `Refused` before the start if the cluster must not get the logins, and `ValidationFailed` if the job
        gave no result.
        """


@dataclass(frozen=True, slots=True)
class SparkJob:
    """An application with the paths of its request and its result; `limit_s` seconds after its start it is stopped.

    It reads at most `records` records of both sides together. What is beside its result is opened by `result_path`.
    """

    application: str
    client_id: str
    request: str
    records: int
    result_path: Folder
    limit_s: float | None = None

    @property
    def result(self) -> str:
        """The path of its result."""
        return str(self.result_path)


def result_of(
    run: MigrationRun,
    jobs: SparkJobs,
    task_id: TaskId,
    kind: StoredKind[D],
    asked: tuple[str, str, int],
    limit_s: float | None = None,
) -> D | None:
    """Run the application of a task, and return its result with its digest recorded; `None` if the time is over.

    `asked` are the client id, the path of the request, and the most records that it reads. Raises `ValidationFailed` if
    the result is missing, or if another version of the job wrote it.
    """
    path = run.evidence.announced_path(kind)
    if limit_s is not None and limit_s <= 0:
        return None
    is_in_time = jobs.submit(run, SparkJob(f"{APPLICATIONS[task_id]}.py", *asked, path, limit_s))
    if not is_there(path):
        if not is_in_time:
            return None
        raise ValidationFailed([_no_result(str(path), run.deployment.spark_path(str(path)))])
    flush(path)
    return understood(lambda: run.evidence.taken(kind, path), task_id)


def _no_result(path: str, for_spark: str) -> Finding:
    return Finding(
        Code.VALIDATION_RESULT_MISSING,
        "the Spark job",
        "no result document",
        f"a complete document at {path}, for Spark {for_spark}",
        "Check that Airflow and Spark use the same evidence root. Then clear the task with its downstream tasks.",
        happened=f"The Spark job ended, but Airflow finds no result document at {path} (for Spark: {for_spark}).",
        matters="What the job measured is unknown, so the task failed.",
    )


def understood(read: Callable[[], T], task_id: str) -> T:
    """Read the request or the result of a task's Spark job.

    Raises `ValidationFailed` (`VALIDATION_RESULT_MISSING`) for a document that this version cannot read.
    """
    try:
        return read()
    except (EvidenceUnfit, ValueError) as error:
        found = error.reason if isinstance(error, EvidenceUnfit) else str(error)
        finding = Finding(
            Code.VALIDATION_RESULT_MISSING,
            f"the newest document of {task_id}",
            found,
            "a document of this package version",
            f"Clear the task {task_id} with its downstream tasks: it then writes a new document.",
            happened=sentence(f"The newest document of task {task_id} cannot be read: {found}"),
            matters="Probably another version of the package wrote it, so its values prove nothing for this run.",
        )
        raise ValidationFailed([finding]) from error
