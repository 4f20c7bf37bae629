"""`drain_groups`: waits, deferred, until the consumer groups have read the source to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from airflow.sdk import Context

from kafka_migration.orchestration.operators.operator_base import MigrationSensor, reporting

if TYPE_CHECKING:
    from kafka_migration.steps.run.migration_run import MigrationRun
    from kafka_migration.steps.run.task_frame import Summary

# A busy cluster may miss some polls before a sample is stale.
FRESH_POLLS = 4
MIN_FRESHNESS_S = 60.0


class DrainGroupsSensor(MigrationSensor):
    """Wait until every group of the migration has read the fenced source to its end, if the file requires it.

    :param migration: name of the migration. (templated)

    It only waits in mode `cutover` with `cutover.drain_groups`. In a rehearsal, or without that setting, it returns at
    once. In a mode that plans no groups it is skipped, with its downstream tasks. It waits for the groups in
    `cutover.groups`, on the migration's topics on which they have committed offsets.

    It does not stop the groups' consumers and does not check whether any are running.
    """

    def execute(self, context: Context) -> Summary | None:
        """Defer to the trigger, unless there is nothing to wait for."""
        from kafka_migration.orchestration.task.context import run_of
        from kafka_migration.steps.groups.group_lag_reading import CAUGHT_UP, end_drain, groups_to_drain

        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            groups = groups_to_drain(run)
            if not groups:
                return end_drain(run, CAUGHT_UP)
            self.defer(method_name="execute_complete", **_waiting(run, groups))
        return None

    def execute_complete(self, context: Context, event: Mapping[str, Any]) -> Summary:
        """Return the last progress line; refuse if a group has not read everything."""
        from kafka_migration.orchestration.task.context import run_of
        from kafka_migration.steps.groups.group_lag_reading import LagEnded, end_drain

        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            ended = LagEnded.from_document(event)
            self.log.info("%s", ended.progress)
            return end_drain(run, ended)


def _waiting(run: MigrationRun, groups: dict[str, list[str] | None]) -> dict[str, Any]:
    """Return the trigger that waits for the groups, and its time limit."""
    from kafka_migration.core.cutover.lag_policy import LagPolicy
    from kafka_migration.core.watching.watch import TRIGGER_MARGIN
    from kafka_migration.orchestration.triggers.group_lag_trigger import ConsumerGroupLagTrigger

    limit = timedelta(seconds=run.migration.cutover.drain_groups_s or 0)
    watch, source = run.migration.watch, run.migration.source
    trigger = ConsumerGroupLagTrigger(
        kafka_conn_id=source.connection,
        groups=groups,
        **asdict(LagPolicy(freshness_s=max(MIN_FRESHNESS_S, FRESH_POLLS * watch.poll_interval_s))),
        poll_interval_s=watch.poll_interval_s,
        deadline=(run.clock.now() + limit).isoformat(),
        stall_after_s=watch.stall_after_s,
        unreachable_after_s=watch.unreachable_after_s,
        run=run.to_arguments(),
        insecure=[str(each) for each in source.insecure],
    )
    return {"trigger": trigger, "timeout": limit + TRIGGER_MARGIN}
