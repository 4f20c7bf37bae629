"""`watch_lag`: waits, deferred, until everything below the goals is copied."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from airflow.sdk import BaseSensorOperator, Context

from kafka_migration.core.errors import Finding, MirrorFailed
from kafka_migration.core.evidence import Kind
from kafka_migration.core.watch import Outcome, WatchResult
from kafka_migration.orchestration.operators.base import Summary, reporting
from kafka_migration.orchestration.run import MigrationRun
from kafka_migration.orchestration.triggers.mirror_lag import MirrorLagTrigger

# The trigger ends by itself at its deadline; Airflow's own limit is only the net below it.
TRIGGER_MARGIN = timedelta(minutes=10)


class MirrorLagSensor(BaseSensorOperator):
    """Wait until MirrorMaker has copied everything below the goals, proved per partition.

    The goals are those of the plan. In a cutover they are the ends of a source whose producers have stopped: once
    the copy is near (`cutover.near`), the log and the evidence tell to stop them; then every partition must stand
    still without an open transaction (`FENCE_MOVING`, `FENCE_OPEN_TRANSACTION`), and the ends become the goals.

    :param migration: name of the migration. (templated)

    Always deferrable: one trigger per migration, no worker slot. It fails at once when MirrorMaker died, a task
    of it failed, or the source deleted what was not copied; and when a partition stalls or the time limit of
    the migration file is reached. A lag that cannot be read counts as unknown, never as zero.

    What it does not do: stop MirrorMaker. The teardown `stop_mirror` does, however this ends.
    """

    template_fields: Sequence[str] = ("migration",)

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.migration = migration

    def execute(self, context: Context) -> Summary | None:
        """Defer to the trigger, unless this run has started no MirrorMaker."""
        run = MigrationRun.from_context(context, self.migration)
        with reporting(run, self.task_id):
            start = run.evidence.require(Kind.START)
            if not start["started"]:
                self.log.info("Nothing to watch: %s.", start["reason"])
                return _already_drained(run)
            limit = timedelta(seconds=run.migration.watch.time_limit_s)
            deadline = (run.clock.now() + limit).isoformat()
        self.defer(
            trigger=MirrorLagTrigger(
                migration=self.migration,
                dag_id=run.identity.dag_id,
                run_id=run.identity.run_id,
                attempt=run.identity.attempt,
                params=dict(run.params),
                generation=start["generation"],
                deadline=deadline,
            ),
            method_name="execute_complete",
            timeout=limit + TRIGGER_MARGIN,
        )
        return None

    def execute_complete(self, context: Context, event: Mapping[str, Any]) -> Summary:
        """Record how the watch ended; raise when not everything is copied."""
        run = MigrationRun.from_context(context, self.migration)
        with reporting(run, self.task_id):
            run.evidence.write(Kind.WATCH, {"at": run.now(), **event})
            self.log.info("%s", event["progress"])
            if event["outcome"] != Outcome.DRAINED:
                raise MirrorFailed(Finding.from_document(finding) for finding in event["findings"])
            return {"outcome": event["outcome"], "progress": event["progress"]}


def _already_drained(run: MigrationRun) -> Summary:
    """Record that the plan's goals were reached before anything was started."""
    result = WatchResult(Outcome.DRAINED, "", goals=run.plan_offsets().goals)
    run.evidence.write(Kind.WATCH, {"at": run.now(), **result.to_document(), "generation": None})
    return {"outcome": str(result.outcome), "progress": result.progress}
