"""The operators that move the consumer groups: from `translate_offsets` to `confirm_cutover`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import AssetAlias, Context

from kafka_migration.core.migration.settings import Mode
from kafka_migration.orchestration.operators.operator_base import MigrationOperator
from kafka_migration.orchestration.operators.spark_job import SparkJobOperator
from kafka_migration.orchestration.task.lineage import CopiedTopics, TellsLineage

if TYPE_CHECKING:
    from kafka_migration.core.ledger.cutovers import CutOver
    from kafka_migration.steps.reading.spark_documents import SparkJobs
    from kafka_migration.steps.run.migration_run import MigrationRun
    from kafka_migration.steps.run.task_frame import Summary


class TranslateOffsetsOperator(SparkJobOperator):
    """Find the copies of all records that the consumer groups have not read, in one Spark application.

    :param migration: name of the migration. (templated)

    Only needed if the copy did not keep partitions (MirrorMaker 1) or has offsets without records (exactly-once). Other
    offsets follow from the ledger, and Spark is not started. Requires a proved copy. Neither cluster is changed. The
    result is valid for the groups' committed offsets at the start of this task.
    """

    def work(self, run: MigrationRun, jobs: SparkJobs) -> Summary:
        """Translate the offsets that counting does not give."""
        from kafka_migration.steps.groups.plan_groups import translate_offsets

        return translate_offsets(run, jobs)


class PlanOffsetsOperator(MigrationOperator):
    """Plan where each consumer group resumes on the target, and prove it by comparing the records on both sides.

    Requires a proved copy, for this run and as a whole; a topic that cannot be proved stays on the source, with the
    groups that read it. In mode `rehearse` groups may keep reading, and the plan is
    only shown. In mode `cutover` an active group is left out, and records after the fenced ends refuse the run
    (`FENCE_MOVING`). Neither mode changes a cluster here.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Write the offsets plan."""
        from kafka_migration.steps.groups.plan_groups import plan_offsets

        return plan_offsets(run)

    def ends_mode(self, mode: Mode) -> bool:
        """Only a mode that moves the consumer groups continues."""
        return not mode.moves_groups


class SyncOffsetsOperator(MigrationOperator):
    """Write the approved offsets, some groups at a time, and prove each group by reading it back.

    Requires an approval of exactly the newest plan (`APPROVAL_STALE`), and clusters that still give that plan
    (`EVIDENCE_CHANGED`). With `cutover.four_eyes` the approver must not be the user who triggered the run. Before the
    first write the offsets of both sides are saved, also in the format of `kafka-consumer-groups --from-file`.

    A group that cannot be written is left out with its reason; the other groups are still written. A retry finds what
    was written and writes the rest.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Check the approval, save the present offsets, write group by group, and record the result."""
        from kafka_migration.orchestration.task.context import triggered_by
        from kafka_migration.steps.groups.write_groups import sync_offsets

        return sync_offsets(run, triggered_by(context))


class ConfirmCutoverOperator(TellsLineage, MigrationOperator):
    """Write the cutover into the ledger, send an asset event per moved topic, and list the next steps.

    After the ledger entry, nothing is mirrored into these topics any more. A topic without a proved copy is not among
    them. Other topics of the file continue as before until their own cutover. The events go to the assets
    `kafka://<bootstrap server of the target>/<topic>` through the alias `kafka_migration__<migration>`, so a DAG can be
    scheduled on either. OpenLineage receives the topics as well. A retry writes no second entry. Airflow sends the
    events once, when the task has succeeded.
    """

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        self.alias = AssetAlias(f"kafka_migration__{migration}")
        super().__init__(migration=migration, outlets=[self.alias, *kwargs.pop("outlets", ())], **kwargs)

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Write the ledger entry, the events and the next steps."""
        from kafka_migration.steps.groups.cutover_end import confirm_cutover

        cut_over = confirm_cutover(run)
        self._announce(run, context, cut_over)
        return {"groups": list(cut_over.groups), "topics": list(cut_over.topics), "partly": cut_over.partly}

    def _announce(self, run: MigrationRun, context: Context, cut_over: CutOver) -> None:
        from airflow.providers.apache.kafka.assets.kafka import create_asset

        moved = CopiedTopics.of(run, cut_over.topics)
        self.copied = lambda: moved
        events = context["outlet_events"][self.alias]
        extra = {"migration": run.name, "run": cut_over.run, "groups": list(cut_over.groups)}
        for _, name in moved.names:
            events.add(create_asset(server=moved.target_server, topic=name), extra=extra)
