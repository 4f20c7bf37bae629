"""`drain_groups`: waits, deferred, until the consumer groups have read the source to its end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowSkipException

from kafka_migration.core.cutover.lag_policy import LagPolicy
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.groups.selection import which_groups
from kafka_migration.core.kafka.commits import topics_of
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.core.watching.watch import TRIGGER_MARGIN
from kafka_migration.orchestration.operators.operator_base import reporting
from kafka_migration.orchestration.sensors.group_lag import lag_trigger
from kafka_migration.orchestration.sensors.sensor_base import MigrationSensor
from kafka_migration.orchestration.task.context import run_of
from kafka_migration.steps.groups.group_lag_reading import LagEnded, LagOutcome
from kafka_migration.steps.reading.one_by_one import commits_of
from kafka_migration.steps.run.guards import require_proved_copy
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
        run = run_of(context, self.migration)
        with reporting(run, self.task_id):
            limit_s = _time_limit_s(run)
            groups = _groups_with_topics(run) if limit_s is not None else {}
            if limit_s is None or not groups:
                why = "not configured" if limit_s is None else "none has committed offsets"
                self.log.info("Not waiting for any group: %s.", why)
                return {"outcome": str(LagOutcome.CAUGHT_UP), "progress": ""}
            self.log.info("Waiting for %s.", some(groups))
            limit, poll_interval_s = timedelta(seconds=limit_s), run.migration.watch.poll_interval_s
            trigger = lag_trigger(
                run.migration.source.connection,
                groups,
                LagPolicy(freshness_s=max(MIN_FRESHNESS_S, FRESH_POLLS * poll_interval_s)),
                poll_interval_s,
                run.clock.now() + limit,
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
            if ended.outcome is LagOutcome.FAILED:
                raise Refused(ended.findings)
            if ended.outcome is LagOutcome.TIMED_OUT:
                raise Refused(_not_drained(run, ended))
            return {"outcome": str(ended.outcome), "progress": ended.progress}


def _time_limit_s(run: MigrationRun) -> int | None:
    """Return the time limit for the groups; `None` if the run does not wait for them."""
    mode = run.request.mode
    if not mode.plans_groups:
        raise AirflowSkipException(f"Mode {mode} plans no consumer groups.")
    return run.migration.cutover.drain_groups_s if mode is Mode.CUTOVER else None


def _groups_with_topics(run: MigrationRun) -> dict[str, list[str] | None]:
    """Return the migration's groups, each with the migration's topics on which it has committed offsets."""
    names = which_groups(run.source.list_groups(), run.migration.cutover.groups, run.request.groups)
    # The plan leaves out a group that cannot be read; the wait is for the others.
    committed = {name: found for name, found in commits_of(run.source, names).items() if not isinstance(found, str)}
    moved = run.migration.without(require_proved_copy(run)).topics
    topics = {name: topics_of(found).intersection(moved) for name, found in committed.items()}
    return {name: sorted(mine) for name, mine in topics.items() if mine}


def _not_drained(run: MigrationRun, ended: LagEnded) -> list[Finding]:
    behind = ended.behind or {"": ended.progress}
    limit_s = run.migration.cutover.drain_groups_s or 0
    return [
        Finding(
            Code.GROUPS_NOT_DRAINED,
            group_subject(group) if group else "the groups of the migration",
            text,
            f"lag 0, known, on every partition within {limit_s:,} s (cutover.drain_groups)",
            "Let its consumers read the rest on the source and trigger the cutover again. Or remove the group from "
            "cutover.groups, or cut over without cutover.drain_groups: the group then resumes on the target where it "
            "stopped.",
            happened=f"Within {duration(limit_s)} (cutover.drain_groups), "
            f"{group_subject(group) if group else 'the groups of the migration'} did not read everything on the "
            f"source: {text}.",
            matters="The cutover has to wait until the group has read everything on the source. No group was moved.",
        )
        for group, text in behind.items()
    ]
