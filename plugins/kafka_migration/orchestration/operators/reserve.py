"""`reserve`: takes the migration's reservation on the MirrorMaker host, and waits for it if configured."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import TaskDeferred

from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.core.watching.watch import TRIGGER_MARGIN
from kafka_migration.orchestration.operators.operator_base import MigrationOperator
from kafka_migration.orchestration.triggers.reservation import ReservationTrigger
from kafka_migration.steps.before.take_reservation import MustWait, reserve
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary

# A tuple, not a set: Airflow's enum members equal these strings but hash differently.
FINISHED = ("success", "failed")


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
        try:
            return reserve(run, partial(_is_over, context["ti"]))
        except MustWait as wait:
            deadline = wait.deadline.isoformat()
            raise TaskDeferred(
                trigger=ReservationTrigger(run=run.to_arguments(), holder=wait.holder, deadline=deadline),
                method_name="try_again",
                timeout=wait.deadline - run.clock.now() + TRIGGER_MARGIN,
            ) from None

    def try_again(self, context: Context, event: Mapping[str, Any]) -> Summary:
        """Continue after the trigger saw a change, or when it is time to ask Airflow about the holder's run."""
        return self.execute(context)


def _is_over(task_instance: Any, other: RunIdentity) -> bool:
    """Return whether a run has ended or was deleted."""
    try:
        state = task_instance.get_dagrun_state(dag_id=other.dag_id, run_id=other.run_id)
    except Exception as error:
        # Airflow reports a deleted run as "not found". After any other error the state is unknown: no take-over.
        return "not found" in str(error).lower() or "404" in str(error)
    return state in FINISHED
