"""`confirm_cutover`: records and announces that the consumers now read on the target."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from airflow.providers.apache.kafka.assets.kafka import create_asset
from airflow.sdk import AssetAlias, Context

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.groups.group_writes import OffsetsResultDocument
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.ledger.cutovers import CutOver
from kafka_migration.core.report.next_steps import ConfirmedCutover, after_cutover
from kafka_migration.core.stored.stored_documents import CutoverDocument, Stored
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, Summary, skip_unless_moving
from kafka_migration.orchestration.task.lineage import CopiedTopics, TellsLineage
from kafka_migration.steps.run.guards import hold_reservation
from kafka_migration.steps.run.migration_run import MigrationRun


class ConfirmCutoverOperator(TellsLineage, MigrationOperator):
    """Write the cutover into the ledger, send an asset event per moved topic, and list the next steps.

    After the ledger entry, nothing is mirrored into these topics any more. A topic without a proved copy is not among
    them. Other topics of the file continue as before
    until their own cutover. The events go to the assets `kafka://<bootstrap server of the target>/<topic>` through the
    alias `kafka_migration__<migration>`, so a DAG can be scheduled on either. OpenLineage receives the topics as well.
    A retry writes no second entry. Airflow sends the events once, when the task has succeeded.
    """

    def __init__(self, *, migration: str, **kwargs: Any) -> None:
        self.alias = AssetAlias(f"kafka_migration__{migration}")
        super().__init__(migration=migration, outlets=[self.alias, *kwargs.pop("outlets", ())], **kwargs)

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Write the ledger entry, the events and the next steps."""
        skip_unless_moving(run)
        result = run.evidence.require(Stored.OFFSETS_RESULT)
        plan = run.evidence.require(Stored.OFFSETS_PLAN).plan
        cut_over = self._recorded(run, plan, result)
        self._announce(run, context, cut_over)
        steps = _next_steps(run, plan, cut_over, result)
        run.evidence.write(Stored.CUTOVER, CutoverDocument.of(cut_over, steps))
        for number, text in enumerate(steps, start=1):
            self.log.info("%d. %s", number, text)
        return {"groups": list(cut_over.groups), "topics": list(cut_over.topics), "partly": cut_over.partly}

    @staticmethod
    def _recorded(run: MigrationRun, plan: OffsetsPlan, result: OffsetsResultDocument) -> CutOver:
        """Return the ledger entry of this run, written now or by an earlier try."""
        known = run.ledger.known().cutover_of(run.identity)
        if known is not None:
            return known
        hold_reservation(run)
        topics = tuple(topic for topic in run.migration.topics if topic in plan.topics)
        remaining = run.whole_migration.without({*topics, *run.moved_topics}).topics
        left = _left(plan, result.moved)
        evidence = run.evidence.digests_of(Kind.TOPIC_LIST, Kind.OFFSETS_BEFORE, Kind.OFFSETS_RESULT)
        partly = result.partly or bool(plan.unproved)
        cut_over = CutOver(run.identity.holder, run.now(), result.moved, topics, partly, remaining, left, evidence)
        run.ledger.append(cut_over.to_document())
        return cut_over

    def _announce(self, run: MigrationRun, context: Context, cut_over: CutOver) -> None:
        moved = CopiedTopics.of(run, cut_over.topics)
        self.copied = lambda: moved
        events = context["outlet_events"][self.alias]
        extra = {"migration": run.name, "run": cut_over.run, "groups": list(cut_over.groups)}
        for _, name in moved.names:
            events.add(create_asset(server=moved.target_server, topic=name), extra=extra)


def _left(plan: OffsetsPlan, moved: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Return the groups of the plan that were not moved, each with the topics on which it has committed offsets."""
    committed = {group.group: {p.topic for p in (*group.left, *group.committed)} for group in plan.groups}
    return {group: tuple(sorted(topics)) for group, topics in committed.items() if topics and group not in moved}


def _next_steps(
    run: MigrationRun, plan: OffsetsPlan, cut_over: CutOver, result: OffsetsResultDocument
) -> tuple[str, ...]:
    done = ConfirmedCutover(
        migration=run.name,
        source=run.migration.source.connection,
        target=run.migration.target.connection,
        moved=cut_over.groups,
        left_behind=result.left_behind,
        not_chosen=plan.others.not_chosen,
        topics=[run.migration.target_topic(topic) for topic in cut_over.topics],
        remaining=cut_over.remaining,
        unproved=sorted(plan.unproved),
        folder=str(run.evidence.folder.parent),
    )
    return after_cutover(done)
