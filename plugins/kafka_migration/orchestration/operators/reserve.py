"""`reserve`: takes the migration's reservation on the MirrorMaker host."""

from __future__ import annotations

from typing import Any

from airflow.sdk import Context

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Refused
from kafka_migration.core.evidence import Kind
from kafka_migration.core.migration import RunIdentity
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run import MigrationRun

FINISHED = {"success", "failed"}


class ReserveOperator(MigrationOperator):
    """Reserve the migration for this run: from here to `finish` no other run may act on it.

    A reservation held by a run that is finished or gone, or by an earlier attempt of this run, is taken over,
    and the take-over is recorded; a living run's is respected (`RESERVED_BY`).
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Reserve, taking over from a holder that is no more."""
        taken_from = self._reserve(run, context["ti"])
        run.evidence.write(
            Kind.RESERVE, {"at": run.now(), "holder": run.identity.holder, "taken_over_from": taken_from}
        )
        return {"holder": run.identity.holder, "taken_over_from": taken_from}

    def _reserve(self, run: MigrationRun, task_instance: Any) -> str | None:
        try:
            run.host.reserve(run.identity.holder)
        except Refused as refused:
            holder = run.host.status().holder
            if not _is_reserved_by(refused) or not _may_take_over(run.identity, holder, task_instance):
                raise
            self.log.warning("Taking the reservation over from %s, whose run is over.", holder)
            run.host.reserve(run.identity.holder, take_over_from=holder)
            return holder
        return None


def _is_reserved_by(refused: Refused) -> bool:
    return any(finding.code is Code.RESERVED_BY for finding in refused.findings)


def _may_take_over(mine: RunIdentity, holder: str, task_instance: Any) -> bool:
    other = RunIdentity.from_holder(holder)
    if other.is_same_run(mine):
        return other.attempt < mine.attempt
    try:
        state = str(task_instance.get_dagrun_state(dag_id=other.dag_id, run_id=other.run_id))
    except Exception as error:
        # Airflow answers a run that is no more with "not found"; anything else is not known and not taken.
        return "not found" in str(error).lower() or "404" in str(error)
    return state in FINISHED
