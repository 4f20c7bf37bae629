"""`validate_topics`: one Spark application reads and measures every window of the run."""

from __future__ import annotations

from kafka_migration.orchestration.operators.spark_job import SparkJobOperator
from kafka_migration.steps.validation.spark_request import validate_topics


class ValidateTopicsOperator(SparkJobOperator):
    """Measure counts, content and order of the run's windows on both sides, in one Spark application.

    :param migration: name of the migration. (templated)

    Mode `sync` reads the windows of all stopped generations that no run has judged yet. Mode `interval` reads the same
    windows except those that an earlier attempt found good. Mode `validate` reads the whole copy again, or only the
    windows of the generations in its parameters. If there is nothing to read, Spark is not started.

    After `RunWindow.validate_until` Spark is not started, or is stopped if it is running. Then the task is skipped
    and leaves its windows to the next run. The limit only applies to the attempt whose preflight set it, not to a task
    that is cleared later.

    This task does not judge. It succeeds when the measurements are written, regardless of their result.
    """

    use_case = staticmethod(validate_topics)
