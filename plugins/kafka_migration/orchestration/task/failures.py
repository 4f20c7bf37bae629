"""Fails a task with readable findings in its log, without retries and without a traceback.

Airflow prints a traceback for every exception except `SystemExit`, and retries a task that exited unless its retry
policy forbids it. Airflow 3.2 has no retry policies: there the task fails with Airflow's own exception, and its log
ends with a traceback after the findings.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from kafka_migration.airflow_adapters.deployed_airflow import HAS_RETRY_POLICIES
from kafka_migration.core.findings.by_cause import by_cause, wrapped_lines
from kafka_migration.core.findings.errors import Finding

log = logging.getLogger(__name__)

_FINAL: tuple[Any, ...] = () if HAS_RETRY_POLICIES else (AirflowFailException,)


class FailedForNow(SystemExit):
    """Fails a task that Airflow retries if it has tries left; the text is the reason."""

    def __init__(self, why: str) -> None:
        super().__init__(1)
        self.why = why

    def __str__(self) -> str:
        return self.why


class FailedForGood(FailedForNow, *_FINAL):  # type: ignore[misc]
    """Fails a task that must not be retried automatically."""


def never_again(operator: BaseOperator) -> None:
    """Disable retries of the operator's tasks after `FailedForGood`, regardless of `retries`."""
    if HAS_RETRY_POLICIES:
        from kafka_migration.orchestration.task.retry_policy import NeverAgain

        operator.retry_policy = NeverAgain(operator.retry_policy, FailedForGood)


def log_findings(findings: Iterable[Finding], level: int = logging.ERROR, to: Any = log) -> None:
    """Write each finding as lines of its own, and those of one cause as one."""
    for finding in by_cause(findings):
        for line in wrapped_lines(finding):
            to.log(level, "%s", line)
