"""`reserve`: takes the migration's reservation on the MirrorMaker host, and waits for it if configured."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NoReturn

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowSkipException, TaskDeferred

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.run.run_window import reservation_deadline
from kafka_migration.core.stored.run_documents import WaitDocument
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.text.quoting import quoted
from kafka_migration.core.text.terminal_text import duration, shown
from kafka_migration.core.watching.watch import TRIGGER_MARGIN
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, Summary
from kafka_migration.orchestration.triggers.reservation import ReservationTrigger
from kafka_migration.steps.run.guards import record_reservation
from kafka_migration.steps.run.migration_run import MigrationRun

# A tuple, not a set: Airflow's enum members equal these strings but hash differently.
FINISHED = ("success", "failed")
# More than one happens if another run takes over at the same time.
MOST_TAKE_OVERS = 3


class ReserveOperator(MigrationOperator):
    """Reserve the migration for this run: from here to `finish` no other run may act on it.

    A reservation held by a finished or deleted run, or by an earlier attempt of this run, is taken over, and the
    take-over is recorded. If an active run holds it, a scheduled run (`nightly.when_reserved: wait`) and a backfill run
    wait, deferred, for at most `nightly.wait_limit`, and a scheduled run not beyond its window. All other runs, and
    runs that have waited that long, are refused (`RESERVED_BY`). A run with nothing to do is skipped here, with all its
    downstream tasks.

    A holder that is no run, as of a person who reserved by hand, is refused at once. So is a host that names a new
    holder after each of three take-overs.

    Waiting runs have no order: the first run that asks when the reservation is free gets it.
    """

    tells_step = False

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Reserve, take over from a holder that no longer exists, or defer."""
        if run.run_window.idle_because:
            raise AirflowSkipException(run.run_window.idle_because)
        taken_from = self._reserve(run, context["ti"])
        record_reservation(run, taken_from)
        return {"holder": run.identity.holder, "taken_over_from": taken_from}

    def try_again(self, context: Context, event: Mapping[str, Any]) -> Summary:
        """Continue after the trigger saw a change, or when it is time to ask Airflow about the holder's run."""
        return self.execute(context)

    def _reserve(self, run: MigrationRun, task_instance: Any) -> str | None:
        """Return the run from which the reservation was taken over. Defer or refuse if its holder is active."""
        taken_from = None
        for _ in range(1 + MOST_TAKE_OVERS):
            try:
                run.process.reserve(run.identity.holder, take_over_from=taken_from)
            except Refused as refused:
                if not _is_reserved_by(refused):
                    raise
                # By now it may be free, or another run may hold it.
                taken_from = run.process.status().holder or None
                if taken_from and not _may_take_over(run, taken_from, task_instance):
                    self._wait(run, taken_from, refused)
                if taken_from:
                    self.log.warning("Taking over the reservation from %s, whose run is over.", shown(taken_from))
            else:
                return taken_from
        raise Refused([_never_the_same(run, taken_from)])

    def _wait(self, run: MigrationRun, holder: str, refused: Refused) -> NoReturn:
        since, now = _waiting_since(run), run.clock.now()
        deadline = reservation_deadline(run.migration.nightly, run.run_window, since or now)
        if deadline is None:
            raise refused
        if now >= deadline:
            raise Refused([_waited_too_long(run, holder, (now - (since or now)).total_seconds())])
        if since is None:
            until = deadline.isoformat(timespec="seconds")
            run.evidence.write(Stored.WAIT, WaitDocument(now.isoformat(), holder, until))
        self.log.info("%s holds the reservation. Waiting until %s at the latest.", shown(holder), deadline.isoformat())
        raise TaskDeferred(
            trigger=ReservationTrigger(run=run.to_arguments(), holder=holder, deadline=deadline.isoformat()),
            method_name="try_again",
            timeout=deadline - now + TRIGGER_MARGIN,
        )


def _waiting_since(run: MigrationRun) -> datetime | None:
    """Return when this attempt first found the migration reserved; a retry of the task continues the wait."""
    waits = run.evidence.of_attempt(Stored.WAIT)
    return datetime.fromisoformat(waits[0].at) if waits else None


def _is_reserved_by(refused: Refused) -> bool:
    return any(finding.code is Code.RESERVED_BY for finding in refused.findings)


def _may_take_over(run: MigrationRun, holder: str, task_instance: Any) -> bool:
    """Return whether the holder's run is over. Raises `Refused` for a holder that is no run and so never ends."""
    other, mine = RunIdentity.from_holder(holder), run.identity
    if other is None:
        raise Refused([_stranger(run, holder)])
    if other.is_same_run(mine):
        return other.is_earlier_attempt_of(mine)
    try:
        state = task_instance.get_dagrun_state(dag_id=other.dag_id, run_id=other.run_id)
    except Exception as error:
        # Airflow reports a deleted run as "not found". After any other error the state is unknown: no take-over.
        return "not found" in str(error).lower() or "404" in str(error)
    return state in FINISHED


def _stranger(run: MigrationRun, holder: str) -> Finding:
    return Finding(
        Code.RESERVED_BY,
        f"migration {run.name}",
        f"the reservation is held by {quoted(holder)}, which is no run of Airflow",
        "a free reservation, or one that a run holds",
        "Let the person or the program that reserved it by hand release it with `mirrorctl release` and the same "
        "holder, then run again.",
        happened=f"{quoted(holder)}, which is no run of Airflow, holds the reservation of migration {run.name}.",
        matters="The end of a run would not free it, so this run did not wait and started nothing.",
    )


def _never_the_same(run: MigrationRun, holder: str | None) -> Finding:
    return Finding(
        Code.RESERVED_BY,
        f"migration {run.name}",
        f"the host named another holder after each of {MOST_TAKE_OVERS} take-overs, lastly {quoted(holder or '')}",
        "a reservation that is free after its holder's run was found to be over",
        "Check on the MirrorMaker host which client writes the reservation, then run again.",
        happened=f"After each of {MOST_TAKE_OVERS} take-overs the host named another holder, the last time "
        f"{quoted(holder) if holder else 'none'}.",
        matters="This run cannot be sure to be the only one that acts on the migration, so it started nothing.",
    )


def _waited_too_long(run: MigrationRun, holder: str, waited_s: float) -> Finding:
    return Finding(
        Code.RESERVED_BY,
        f"migration {run.name}",
        f"the reservation is still held by {holder} after waiting {duration(waited_s)}",
        "a free reservation within nightly.wait_limit, and for a scheduled run before its window ends",
        "Check that run. The next nightly run or a backfill copies what is missing.",
        happened=f"{holder} still held the reservation after this run had waited {duration(waited_s)}.",
        matters="Only one run may act on a migration, so this run started nothing and copied no records.",
    )
