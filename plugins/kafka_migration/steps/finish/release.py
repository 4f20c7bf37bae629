"""Frees the reservation at the end of a run, after MirrorMaker has stopped."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import FindingsError, OutcomeUnknown, TransientError
from kafka_migration.core.text.terminal_text import shown
from kafka_migration.steps.run.migration_run import MigrationRun

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Released:
    """The result: why the reservation was not freed, empty if it was; whether the host reports that nothing runs."""

    problem: str = ""
    is_quiet: bool = True


def release(run: MigrationRun) -> Released:
    """Free the reservation if the run, or an earlier attempt of it, holds it."""
    if not run.evidence.has_written(Kind.RESERVE):
        return Released()
    is_quiet = False
    try:
        status = run.process.status()
        holder, is_quiet = status.holder, not status.is_running
        if not run.identity.has_attempt(holder):
            log.info("This run does not hold the reservation: %s", shown(holder) or "free")
        elif holder == run.identity.holder or run.identity.follows(holder):
            # Includes a reservation that an earlier attempt could not free. MirrorMaker is stopped first, because
            # no run would stop it after the release.
            if status.is_running:
                run.process.stop(holder, None, run.filed_migration.mirror.stop_grace_s)
                is_quiet = True
            run.process.release(holder)
    except (FindingsError, TransientError, OutcomeUnknown) as error:
        return Released(str(error), is_quiet)
    return Released(is_quiet=is_quiet)


def may_still_run(run: MigrationRun, released: Released) -> bool:
    """Return whether a MirrorMaker of this run may still run: neither its certificate nor its host says that it ended.

    Unknown counts as yes.
    """
    if released.is_quiet:
        return False
    try:
        return run.ledger.known().open_generation_of(run.identity) is not None
    except Exception:
        return True
