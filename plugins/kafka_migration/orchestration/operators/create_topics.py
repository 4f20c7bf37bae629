"""`create_topics`: creates the planned topics on the target."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from airflow.sdk import Context

from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.ledger.cutovers import SettingsFrozen
from kafka_migration.core.stored.stored_documents import Stored, TopicsDocument
from kafka_migration.core.target.target_topics import settings_to_freeze
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, Summary
from kafka_migration.steps.mirror.topic_creation import adopt_announced, create_announced
from kafka_migration.steps.run.find_copy_basis import record_basis, require_same_basis
from kafka_migration.steps.run.guards import require_rights_on_target_topics
from kafka_migration.steps.run.migration_run import MigrationRun


class CreateTopicsOperator(MigrationOperator):
    """Create the planned topics, and add partitions to the migration's topics whose source topic has more.

    New topics get the source's partition count and topic settings, but retention is disabled: record timestamps are
    kept, so the target would delete old records on arrival. The real values are recorded in the ledger. If a cutover
    restored them and was rolled back, they are frozen again. The task is idempotent: a topic is announced in the ledger
    before it is created, so that the next try recognizes it after an interruption.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Create topics, add partitions, freeze settings, and record the result. Refuses a login without rights."""
        plan = run.evidence.require(Stored.PLAN)
        adopt_announced(run)
        if plan.create or plan.grow:
            record_basis(run, require_same_basis(run))
        topics = create_announced(run, plan)
        run.target.create_partitions(plan.grow)
        require_rights_on_target_topics(run)
        self._freeze_again(run)
        run.evidence.write(Stored.TOPICS, TopicsDocument(run.now(), plan.create, plan.grow))
        self._log(topics, plan.grow)
        return {"created": len(topics), "grown": len(plan.grow)}

    def _log(self, created: Collection[NewTopic], grown: Mapping[str, int]) -> None:
        for topic in created:
            configs = ", ".join(f"{name}={value}" for name, value in sorted(topic.configs.items())) or "none"
            what = f"{topic.partitions} partitions, replication factor {topic.replication_factor}, settings: {configs}"
            self.log.info("Created %s: %s", topic.topic, what)
        for name, partitions in sorted(grown.items()):
            self.log.info("Added partitions to %s: now %d partitions", name, partitions)
        if not created and not grown:
            self.log.info("Nothing to create: all topics exist.")

    @staticmethod
    def _freeze_again(run: MigrationRun) -> None:
        configs = settings_to_freeze(run.ledger.known(), run.migration.topics) if run.request.mode.mirrors else {}
        if configs:
            run.target.alter_configs(configs)
            entry = SettingsFrozen(run.identity.holder, run.now(), tuple(sorted(configs)))
            run.ledger.append(entry.to_document())
