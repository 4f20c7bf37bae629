"""`judge`: derives verdicts from Spark's measurements, and answers a backfill's interval from the ledger."""

from __future__ import annotations

from functools import partial

from airflow.sdk import Context

from kafka_migration.core.migration.settings import Mode
from kafka_migration.orchestration.operators.operator_base import MigrationOperator
from kafka_migration.orchestration.task.lineage import CopiedTopics, TellsLineage
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary
from kafka_migration.steps.validation.judge_topics import judge_copy


class JudgeOperator(TellsLineage, MigrationOperator):
    """Judge the newest measurements, add the verdicts to the ledger, and fail on anything that is not proved.

    Verdicts: `PASS` every record of the window is on the target, unchanged and in order; `FAIL` something is
    missing, extra, altered or out of order; `NOT_VERIFIABLE` records can no longer be read or be attributed.

    In modes `rehearse` and `cutover`, NOT_VERIFIABLE topics are left out if others are proved: the groups of the others
    are planned. Then `finish` fails a rehearsal, and ends a cutover as *partly done*.

    In mode `interval` the verdict applies to the records of the run's interval, no matter which runs copied and judged
    them. A changed answer is added to the ledger.

    After a good verdict, OpenLineage receives the source topics and the target topics to which they were copied.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Judge, record, and raise if the verdict is bad, unless groups of other topics can be planned."""
        proved = judge_copy(run)
        self.copied = partial(CopiedTopics.of, run, proved.topics)
        return proved.summary

    def ends_mode(self, mode: Mode) -> bool:
        """Only a mode that plans the consumer groups continues."""
        return not mode.plans_groups
