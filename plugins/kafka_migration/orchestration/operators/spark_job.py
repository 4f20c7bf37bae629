"""The base of tasks that submit one of `spark_jobs/`; what submits is imported when the task runs (ADR 0059)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow.sdk import Context

from kafka_migration.orchestration.operators.operator_base import MigrationOperator
from kafka_migration.orchestration.operators.provider_operator import divided, refuse_unknown

if TYPE_CHECKING:
    from kafka_migration.orchestration.operators.spark_submission import SparkSubmission
    from kafka_migration.steps.reading.spark_documents import SparkJob, SparkJobs
    from kafka_migration.steps.run.migration_run import MigrationRun
    from kafka_migration.steps.run.task_frame import Summary


class SparkJobOperator(MigrationOperator):
    """Submit a job with the paths of its request and its result.

    :param migration: name of the migration. (templated)

    It takes the other arguments of `SparkSubmitOperator` too. The connection is the migration file's
    `validation.spark_connection`. Kafka logins are passed in a file that the driver deletes after reading it, or, in
    deploy mode `cluster`, sealed for the driver through the evidence root. The connection's settings are in another
    file. No secret is on a command line. An unprotected cluster is refused. Killing the task stops Spark, also a driver
    in the cluster.
    """

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        own, self.submit_arguments = divided(kwargs)
        super().__init__(migration=migration, **own)
        self._is_killed = False
        self._submission: SparkSubmission | None = None
        if self.submit_arguments:
            self._check_arguments()

    def _check_arguments(self) -> None:
        from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

        refuse_unknown(self, SparkSubmitOperator, self.submit_arguments)

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Do the work of the task, whose Spark jobs this operator submits."""
        return self.work(run, _JobsOf(self, context))

    def submit(self, run: MigrationRun, job: SparkJob, context: Context) -> bool:
        """Submit a job; only then the provider's operator is imported, because a run may have nothing to compare."""
        from kafka_migration.orchestration.operators.spark_submission import SparkSubmission

        self._submission = self._submission or SparkSubmission.of(self, self.submit_arguments)
        if self._is_killed:
            self._submission.on_kill()
        return self._submission.submit_in_time(context, run, job)

    def work(self, run: MigrationRun, jobs: SparkJobs) -> Summary:
        """Do the work with Spark jobs; return a short summary."""
        raise NotImplementedError

    def on_kill(self) -> None:
        """Stop Spark, or prevent its start. Airflow calls this and lets the task continue for some seconds."""
        self._is_killed = True
        if self._submission is not None:
            self._submission.on_kill()


@dataclass(frozen=True, slots=True)
class _JobsOf:
    """Submits jobs as a task of Airflow (`SparkJobs`)."""

    task: SparkJobOperator
    context: Context

    def submit(self, run: MigrationRun, job: SparkJob) -> bool:
        """See `SparkJobs.submit`."""
        return self.task.submit(run, job, self.context)
