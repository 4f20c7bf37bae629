"""What all operators of a migration share: gather, call the step, publish, translate errors."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from airflow.sdk import BaseOperator, Context
from airflow.sdk.exceptions import AirflowFailException

from kafka_migration.core.errors import FindingsError, OutcomeUnknown
from kafka_migration.orchestration.run import MigrationRun

# A short, JSON-safe summary; documents travel through the evidence store, not through XCom.
Summary = dict[str, Any]


class MigrationOperator(BaseOperator):
    """One step of a migration's run.

    :param migration: name of the migration. (templated)

    Errors: refusals and failures that a machine must not retry become `AirflowFailException`, and their
    findings are recorded in the run's evidence; a `TransientError` is left to Airflow's retries.
    """

    template_fields: Sequence[str] = ("migration",)

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.migration = migration

    def execute(self, context: Context) -> Summary:
        """Run the step and return its summary for XCom."""
        run = MigrationRun.from_context(context, self.migration)
        with reporting(run, self.task_id):
            return self.step(run, context)

    @abstractmethod
    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Do the work of the task; return a short summary."""


@contextmanager
def reporting(run: MigrationRun, task_id: str) -> Iterator[None]:
    """Close the run's connections at the end; record and translate errors that are meant."""
    try:
        yield
    except FindingsError as error:
        run.refused(task_id, error.findings)
        raise AirflowFailException(str(error)) from None
    except OutcomeUnknown as error:
        raise AirflowFailException(f"OUTCOME UNKNOWN: {error} Look before anything is tried again.") from None
    finally:
        run.close()
