"""What surrounds the work of every task: the check of the evidence, the published step, the record of a refusal."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from kafka_migration.adapters.store.document_files import unreadable
from kafka_migration.core.documents.codec import DoesNotFit
from kafka_migration.core.findings.by_cause import by_cause, wrapped_lines
from kafka_migration.core.findings.errors import Finding, FindingsError, Refused
from kafka_migration.core.migration.settings import HookName
from kafka_migration.core.run.task_steps import NOT_IN_ALL_MODES, expected_skips
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.one_process import claim_try

log = logging.getLogger(__name__)

# What a task returns to Airflow: short and JSON-safe. Documents are passed through the evidence store.
Summary = Mapping[str, object]


class NothingToDo(Exception):
    """The task has nothing to do in this run; the text says why. `finish` knows which tasks a mode skips."""


@contextmanager
def performing(
    run: MigrationRun, task_id: str, *, tells_step: bool = True, needs_evidence: bool = True, begins: bool = False
) -> Iterator[None]:
    """Claim the try, check the evidence and publish the step before a task's work; close the connections at the end.

    It logs and records why the task refused or failed on purpose. Documents that another version of the package wrote
    become `EvidenceUnreadable`.

    `tells_step`: whether the run holds the reservation in this step; if not, another run may be active and must stay
    visible. `needs_evidence`: whether modified evidence refuses the task (`EVIDENCE_CHANGED`); a task that must always
    run ignores the modified documents. `begins`: whether the task begins an attempt, which has no documents yet.
    """
    try:
        claim_try(run, task_id, needs_store=needs_evidence)
        if begins:
            run.evidence.disown_strangers()
        _look_at_evidence(run, needs_evidence=needs_evidence)
        if tells_step and not _skips_itself(run, task_id):
            run.news.tell_step(run.identity.holder, task_id, run.now(), run.local.zone)
        yield
    except (FindingsError, DoesNotFit) as error:
        refused = unreadable(run.evidence.folder, str(error)) if isinstance(error, DoesNotFit) else error
        run.refused(task_id, refused)
        log_findings(refused.findings)
        raise refused from None
    finally:
        run.close()


def _look_at_evidence(run: MigrationRun, *, needs_evidence: bool) -> None:
    changes = _changes(run, needs_evidence=needs_evidence)
    if changes and needs_evidence:
        raise Refused(changes)
    run.evidence.leaves_out_changed = run.evidence.leaves_out_changed or bool(changes)
    log_findings(changes)


def _skips_itself(run: MigrationRun, task_id: str) -> bool:
    """Return whether the task has nothing to do in the run's mode, so that it is no step of the run."""
    if task_id not in NOT_IN_ALL_MODES:
        return False
    # Without the ledger: an abort must work also if it cannot be read.
    hooks = run.filed_migration.cutover.hooks if task_id == HookName.AFTER_CUTOVER else ()
    return task_id in expected_skips(run.request.mode, hooks=hooks)


def _changes(run: MigrationRun, *, needs_evidence: bool) -> tuple[Finding, ...]:
    """Return the findings about modified evidence.

    A task that does not need the evidence, such as `stop_mirror`, continues if the evidence cannot be read.
    """
    try:
        return run.evidence.changes()
    except Exception as error:
        if needs_evidence:
            raise
        run.evidence.leaves_out_changed = True
        log.error("The evidence cannot be read: %s: %s", type(error).__name__, error)
        return ()


def skip_unless_planning(run: MigrationRun) -> None:
    """Raise `NothingToDo` in a mode that plans no groups."""
    if not run.request.mode.plans_groups:
        raise NothingToDo(f"Mode {run.request.mode} plans no consumer groups.")


def skip_unless_moving(run: MigrationRun) -> None:
    """Raise `NothingToDo` in a mode that moves no groups."""
    if not run.request.mode.moves_groups:
        raise NothingToDo(f"Mode {run.request.mode} moves no consumer groups.")


def log_findings(findings: Iterable[Finding], level: int = logging.ERROR) -> None:
    """Write each finding as lines of its own, and those of one cause as one."""
    for finding in by_cause(findings):
        for line in wrapped_lines(finding):
            log.log(level, "%s", line)
