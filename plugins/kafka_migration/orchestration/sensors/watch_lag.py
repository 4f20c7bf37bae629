"""`watch_lag`: waits, deferred, until everything below the goals is copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airflow.sdk import Context

from kafka_migration.orchestration.operators.operator_base import MigrationSensor, reporting

if TYPE_CHECKING:
    from kafka_migration.steps.run.migration_run import MigrationRun
    from kafka_migration.steps.run.task_frame import Summary


class MirrorLagSensor(MigrationSensor):
    """Wait until MirrorMaker has copied everything below the goals, proved per partition.

    The goals are those of the plan. In a cutover they are the ends of a source whose producers have stopped. Once the
    copy is near (`cutover.near`), the log, the evidence and an alert announce that the producers must stop. Then every
    partition must receive no records and have no open transaction (`FENCE_MOVING`, `FENCE_OPEN_TRANSACTION`), and the
    ends become the goals.

    :param migration: name of the migration. (templated)

    Always deferred: one trigger per migration, no worker slot. A MirrorMaker that died is restarted as the next
    generation, at most `mirror.restarts` times. The task fails at once if a task of MirrorMaker failed, if its log
    shows records that the target refuses, if it runs with another configuration than was rendered, or if the source
    deleted records before they were copied. It also fails if a partition stalls or if the time limit of the migration
    file is reached. A lag that cannot be read is unknown, never zero. If the window for mirroring ends first, the task
    succeeds with outcome `behind`: the copied records are kept and validated, and `finish` reports what is missing.

    This task does not stop MirrorMaker. The teardown `stop_mirror` always does.
    """

    def execute(self, context: Context) -> Summary | None:
        """Defer to the trigger, unless this run did not start MirrorMaker."""
        from kafka_migration.orchestration.task.context import run_of
        from kafka_migration.steps.mirror.watching import begin_watch

        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            begun = begin_watch(run)
            if not isinstance(begun, int):
                return begun
            self._defer(run, begun)
        return None

    def _defer(self, run: MigrationRun, generation: int) -> None:
        from kafka_migration.orchestration.triggers.mirror_lag import MirrorLagTrigger
        from kafka_migration.steps.mirror.watching import limits_of

        limits = limits_of(run)
        trigger = MirrorLagTrigger(
            run=run.to_arguments(),
            generation=generation,
            deadline=None if limits.deadline is None else limits.deadline.isoformat(),
        )
        self.defer(trigger=trigger, method_name="execute_complete", timeout=limits.trigger_timeout)

    def execute_complete(self, context: Context, event: Mapping[str, Any]) -> Summary:
        """Record how the watch ended; raise if it failed, or if the copy of a cutover is incomplete.

        Airflow may deliver an event of an earlier attempt's trigger to the cleared task. It does not apply to this
        attempt, so the watch continues.
        """
        from kafka_migration.core.watching.watch import WatchEnded
        from kafka_migration.orchestration.task.context import run_of
        from kafka_migration.steps.mirror.watching import end_watch

        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            if event["holder"] != run.identity.holder:
                self.log.warning("Ignoring an event of another attempt, %s: %s", event["holder"], event["progress"])
                self._defer(run, _started_generation(run))
            return end_watch(run, WatchEnded.from_document({"at": run.now(), **event}))


def _started_generation(run: MigrationRun) -> int:
    """Return the generation that this run started; the watch of no other run is deferred."""
    from kafka_migration.core.stored.stored_documents import MirrorStarted, Stored

    start = run.evidence.require(Stored.START)
    assert isinstance(start, MirrorStarted)
    return start.generation
