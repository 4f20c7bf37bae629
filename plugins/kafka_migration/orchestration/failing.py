"""Fails a task with readable findings in its log, without retries and without a traceback.

Airflow prints a traceback for every exception except `SystemExit`, and retries a task that exited unless its retry
policy forbids it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from airflow.sdk import BaseOperator, Context
from airflow.sdk.definitions.retry_policy import RetryDecision, RetryPolicy

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.validation.difference_words import finding_lines

log = logging.getLogger(__name__)


class FailedForNow(SystemExit):
    """Fails a task that Airflow retries if it has tries left; the text is the reason."""

    def __init__(self, why: str) -> None:
        super().__init__(1)
        self.why = why

    def __str__(self) -> str:
        return self.why


class FailedForGood(FailedForNow):
    """Fails a task that must not be retried automatically."""


class NeverAgain(RetryPolicy):
    """Never retries a task that raised `FailedForGood`; the previous policy decides about everything else."""

    def __init__(self, other: RetryPolicy | None) -> None:
        self.other = other

    def evaluate(
        self, exception: BaseException, try_number: int, max_tries: int, context: Context | None = None
    ) -> RetryDecision:
        """Decide about one failure."""
        if isinstance(exception, FailedForGood):
            return RetryDecision.fail()
        return self.other.evaluate(exception, try_number, max_tries, context) if self.other else RetryDecision.default()


def never_again(operator: BaseOperator) -> None:
    """Disable retries of the operator's tasks after `FailedForGood`, regardless of `retries`."""
    operator.retry_policy = NeverAgain(operator.retry_policy)


def log_findings(findings: Iterable[Finding], level: int = logging.ERROR, to: Any = log) -> None:
    """Write each finding as lines of its own."""
    for finding in findings:
        for line in finding_lines(finding):
            to.log(level, "%s", line)
