"""Frees the reservation at the end of a run, and says whether a MirrorMaker of the run may still be running.

It also removes what the run's Spark jobs left in the evidence.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import FindingsError, OutcomeUnknown, Refused, TransientError
from kafka_migration.core.text.terminal_text import shown
from kafka_migration.steps.run.migration_run import MigrationRun

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Released:
    """The result: why the reservation was not freed, empty if it was; whether the host reports that nothing runs.

    `is_free`: the reservation is free since this run held it, so no run is active.
    """

    problem: str = ""
    is_quiet: bool = True
    is_free: bool = False


def release(run: MigrationRun) -> Released:
    """Free the reservation if the run, or an earlier attempt of it, holds it."""
    if not run.evidence.has_written(Kind.RESERVE):
        return Released()
    try:
        # The host refuses it while a process of the migration is alive, and if another holder has the reservation.
        reply = run.process.release(run.identity.holder)
    except Refused:
        return _released_after_a_look(run)
    except (FindingsError, TransientError, OutcomeUnknown) as error:
        # Another run's call may hold the lock of the host, which a look at the holder does not need.
        return _released_after_a_look(run) if Code.HOST_LOCKED in str(error) else Released(str(error), is_quiet=False)
    return Released(is_quiet=not reply.is_running, is_free=True)


def _released_after_a_look(run: MigrationRun) -> Released:
    is_quiet = is_free = False
    try:
        status = run.process.status()
        holder, is_quiet = status.holder, not status.is_running
        is_free = not holder
        if not run.identity.has_attempt(holder):
            log.info("This run does not hold the reservation: %s", shown(holder) or "free")
        elif holder == run.identity.holder or run.identity.follows(holder):
            # Includes a reservation that an earlier attempt could not free. MirrorMaker is stopped first, because
            # no run would stop it after the release.
            if status.is_running:
                run.process.stop(holder, None, run.filed_migration.mirror.stop_grace_s)
                is_quiet = True
            run.process.release(holder)
            is_free = True
    except (FindingsError, TransientError, OutcomeUnknown) as error:
        return Released(str(error), is_quiet)
    return Released(is_quiet=is_quiet, is_free=is_free)


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


def remove_letters(run: MigrationRun) -> None:
    """Remove the letters of drivers that ended together with their tasks; a store that fails keeps them."""
    try:
        run.evidence.remove_letters()
    except FindingsError as error:
        log.warning("Letters between a task and a Spark driver may be left in the evidence: %s", error)
