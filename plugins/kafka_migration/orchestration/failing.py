"""How a task ends as failed: with findings that can be read in its log, never tried again, without stack frames.

Airflow prints a traceback for every exception but `SystemExit`, and tries a task that exited again unless its retry
policy says no.
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
    """The end of a task that Airflow tries again, if it has tries left; its text says why."""

    def __init__(self, why: str) -> None:
        super().__init__(1)
        self.why = why

    def __str__(self) -> str:
        return self.why


class FailedForGood(FailedForNow):
    """The end of a task that a machine must not try again."""


class NeverAgain(RetryPolicy):
    """Fails a task at once that ended by `FailedForGood`; leaves everything else to the policy that was there."""

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
    """Let `FailedForGood` end a task of the operator for good, whatever its `retries` are."""
    operator.retry_policy = NeverAgain(operator.retry_policy)


def log_findings(findings: Iterable[Finding], level: int = logging.ERROR, to: Any = log) -> None:
    """Write each finding as lines of its own."""
    for finding in findings:
        for line in finding_lines(finding):
            to.log(level, "%s", line)
