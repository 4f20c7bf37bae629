"""Takes the migration's reservation where MirrorMaker runs, or says how long to wait for it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

from kafka_migration.core.connect.connect_config import reservation_name
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.report.metrics import MetricsOf
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.run_window import reservation_deadline
from kafka_migration.core.stored.stored_documents import Stored, WaitDocument
from kafka_migration.core.text.quoting import quoted
from kafka_migration.core.text.terminal_text import duration, shown
from kafka_migration.steps.run.guards import record_reservation
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import NothingToDo, Summary

log = logging.getLogger(__name__)

# More than one happens if another run takes over at the same time.
MOST_TAKE_OVERS = 3


@dataclass(eq=False)
class MustWait(Exception):
    """An active run holds the reservation, so the run waits for it until the deadline."""

    holder: str
    deadline: datetime


def reserve(run: MigrationRun, is_over: Callable[[RunIdentity], bool]) -> Summary:
    """Reserve, or take over from a holder whose run is over, as `is_over` says.

    Raises `MustWait` while an active run holds the reservation, and `NothingToDo` for a run outside its window.
    """
    if run.run_window.idle_because:
        raise NothingToDo(run.run_window.idle_because)
    taken_from = _reserve(run, is_over)
    record_reservation(run, taken_from)
    run.deployment.send_metrics(*MetricsOf(run.name).began(run.request.mode, run.clock.now()))
    return {"holder": run.identity.holder, "taken_over_from": taken_from}


def _reserve(run: MigrationRun, is_over: Callable[[RunIdentity], bool]) -> str | None:
    """Return the run from which the reservation was taken over. Wait or refuse if its holder is active."""
    taken_from = None
    for _ in range(1 + MOST_TAKE_OVERS):
        try:
            run.process.reserve(run.identity.holder, take_over_from=taken_from)
        except Refused as refused:
            if not _is_reserved_by(refused):
                raise
            # By now it may be free, or another run may hold it.
            taken_from = run.process.status().holder or None
            if taken_from and not _may_take_over(run, taken_from, is_over):
                _wait(run, taken_from, refused)
            if taken_from:
                log.warning("Taking over the reservation from %s, whose run is over.", shown(taken_from))
        else:
            return taken_from
    raise Refused([_never_the_same(run, taken_from)])


def _wait(run: MigrationRun, holder: str, refused: Refused) -> NoReturn:
    since, now = _waiting_since(run), run.clock.now()
    deadline = reservation_deadline(run.migration.nightly, run.run_window, since or now)
    if deadline is None:
        raise refused
    if now >= deadline:
        raise Refused([_waited_too_long(run, holder, (now - (since or now)).total_seconds())])
    if since is None:
        until = deadline.isoformat(timespec="seconds")
        run.evidence.write(Stored.WAIT, WaitDocument(now.isoformat(), holder, until))
    log.info("%s holds the reservation. Waiting until %s at the latest.", shown(holder), deadline.isoformat())
    raise MustWait(holder, deadline)


def _waiting_since(run: MigrationRun) -> datetime | None:
    """Return when this attempt first found the migration reserved; a retry of the task continues the wait."""
    waits = run.evidence.of_attempt(Stored.WAIT)
    return datetime.fromisoformat(waits[0].at) if waits else None


def _is_reserved_by(refused: Refused) -> bool:
    return any(finding.code is Code.RESERVED_BY for finding in refused.findings)


def _may_take_over(run: MigrationRun, holder: str, is_over: Callable[[RunIdentity], bool]) -> bool:
    """Return whether the holder's run is over. Raises `Refused` for a holder that is no run and so never ends."""
    other, mine = RunIdentity.from_holder(holder), run.identity
    if other is None:
        raise Refused([_stranger(run, holder)])
    if other.is_same_run(mine):
        return other.is_earlier_attempt_of(mine)
    return is_over(other)


def _stranger(run: MigrationRun, holder: str) -> Finding:
    on_host = "release the reservation with `mirrorctl release` and the same holder"
    on_connect = f"delete connector {reservation_name(run.name)}"
    return Finding(
        Code.RESERVED_BY,
        f"migration {run.name}",
        f"the reservation is held by {quoted(holder)}, which is no run of Airflow",
        "a free reservation, or one that a run holds",
        "Let the person or the program that reserved by hand "
        f"{on_host if run.migration.mirror.abilities.needs_host else on_connect}. Then trigger the run again.",
        happened=f"{quoted(holder)}, which is no run of Airflow, holds the reservation of migration {run.name}.",
        matters="No run of Airflow frees such a reservation, so this run did not wait for it and started nothing.",
    )


def _never_the_same(run: MigrationRun, holder: str | None) -> Finding:
    return Finding(
        Code.RESERVED_BY,
        f"migration {run.name}",
        f"another holder after each of {MOST_TAKE_OVERS} take-overs, lastly {quoted(holder or '')}",
        "a reservation that is free after its holder's run was found to be over",
        f"Find out on {run.migration.mirror.abilities.place} which client changes the reservation. Then trigger the "
        "run again.",
        happened=f"This run tried to take the reservation over {MOST_TAKE_OVERS} times; each time it then had another "
        f"holder, the last time {quoted(holder) if holder else 'none'}.",
        matters="This run cannot be sure to be the only one that acts on the migration, so it started nothing.",
    )


def _waited_too_long(run: MigrationRun, holder: str, waited_s: float) -> Finding:
    return Finding(
        Code.RESERVED_BY,
        f"migration {run.name}",
        f"the reservation is still held by {holder} after waiting {duration(waited_s)}",
        "a free reservation within nightly.wait_limit, and for a scheduled run before its window ends",
        "Check in Airflow why the run that holds it takes so long. The next nightly run, or a backfill, copies what "
        "this run did not copy.",
        happened=f"{holder} still held the reservation of migration {run.name} after this run had waited "
        f"{duration(waited_s)}.",
        matters="Only one run may act on a migration, so this run started nothing and copied no records.",
    )
