"""`drain_groups`: waits, deferred, until the consumer groups have read the source to its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from airflow.sdk import Context

from kafka_migration.core.cutover.lag_policy import LagPolicy
from kafka_migration.core.watching.watch import TRIGGER_MARGIN
from kafka_migration.orchestration.operators.operator_base import MigrationSensor, reporting
from kafka_migration.orchestration.task.context import run_of
from kafka_migration.orchestration.triggers.group_lag_trigger import ConsumerGroupLagTrigger
from kafka_migration.steps.groups.group_lag_reading import CAUGHT_UP, LagEnded, end_drain, groups_to_drain
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
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            groups = groups_to_drain(run)
            if not groups:
                return end_drain(run, CAUGHT_UP)
            limit = timedelta(seconds=run.migration.cutover.drain_groups_s or 0)
            poll_interval_s = run.migration.watch.poll_interval_s
            trigger = ConsumerGroupLagTrigger(
                kafka_conn_id=run.migration.source.connection,
                groups=groups,
                **asdict(LagPolicy(freshness_s=max(MIN_FRESHNESS_S, FRESH_POLLS * poll_interval_s))),
                poll_interval_s=poll_interval_s,
                deadline=(run.clock.now() + limit).isoformat(),
                stall_after_s=run.migration.watch.stall_after_s,
                unreachable_after_s=run.migration.watch.unreachable_after_s,
                run=run.to_arguments(),
                insecure=[str(each) for each in run.migration.source.insecure],
            )
        self.defer(trigger=trigger, method_name="execute_complete", timeout=limit + TRIGGER_MARGIN)
        return None

    def execute_complete(self, context: Context, event: Mapping[str, Any]) -> Summary:
        """Return the last progress line; refuse if a group has not read everything."""
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            ended = LagEnded.from_document(event)
            self.log.info("%s", ended.progress)
            return end_drain(run, ended)
