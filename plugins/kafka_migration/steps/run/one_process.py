"""Lets one process make a try of a task: Airflow may start a try twice."""

from __future__ import annotations

import logging
import os
import socket
from uuid import uuid4

from kafka_migration.core.findings.errors import FindingsError, TransientError
from kafka_migration.core.run.try_claim import TryClaim, made_by_another
from kafka_migration.steps.run.migration_run import MigrationRun

log = logging.getLogger(__name__)


def claim_try(run: MigrationRun, task_id: str, *, needs_store: bool = True) -> None:
    """Claim this try of a task. Raises `TransientError` (`TRY_RUNS_TWICE`) if another process makes it.

    Then Airflow tries the task again if it believes the end of this process and not that of the other one.
    `needs_store`: whether the task fails if the evidence store does not take the claim. A task that must always do its
    work then does it without a claim.
    """
    if run.try_claims is None or _is_claimed(run, task_id, needs_store=needs_store):
        return
    if run.keeper is not None:
        run.keeper.put_back()
    raise TransientError.of(made_by_another(task_id, run.try_claims.first()))


def _is_claimed(run: MigrationRun, task_id: str, *, needs_store: bool) -> bool:
    assert run.try_claims is not None
    try:
        return run.try_claims.take(TryClaim(task_id, run.now(), socket.gethostname(), os.getpid(), uuid4().hex))
    except FindingsError as error:
        if needs_store:
            raise
        log.warning("This process could not claim the try: %s", error)
        return True


def leave_try(run: MigrationRun) -> None:
    """Leave the try of a task that waits, to the process that resumes it. If that fails, Airflow makes another try."""
    try:
        if run.try_claims is not None:
            run.try_claims.leave()
    except FindingsError as error:
        log.warning("This process could not leave the try to the one that resumes it: %s", error)
