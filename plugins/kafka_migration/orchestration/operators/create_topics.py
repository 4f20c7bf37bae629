"""`create_topics`: creates the planned topics on the target."""

from __future__ import annotations

from typing import Any

from airflow.sdk import Context

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.ledger.cutovers import CreatedTopic, SettingsFrozen, TopicsCreated
from kafka_migration.core.mirror.target_topics import settings_to_freeze
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.steps.guards import require_rights_on_target_topics
from kafka_migration.steps.run import MigrationRun


class CreateTopicsOperator(MigrationOperator):
    """Create the planned topics, and add partitions to the migration's topics whose source topic has more.

    New topics get the source's partition count and topic settings, but retention is disabled: record timestamps are
    kept, so the target would delete old records on arrival. The real values are recorded in the ledger. If a cutover
    restored them and was rolled back, they are frozen again. The task is idempotent.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Create topics, add partitions, freeze settings, and record the result. Refuses a login without rights."""
        plan = run.evidence.require(Kind.PLAN)
        topics = [NewTopic(**topic) for topic in plan["create"]]
        try:
            run.target.create_topics(topics)
        finally:
            # Also after a refusal of some: the ledger must know each topic whose retention is disabled.
            self._record(run, plan)
        run.target.create_partitions(plan["grow"])
        require_rights_on_target_topics(run)
        self._freeze_again(run)
        run.evidence.write(Kind.TOPICS, {"at": run.now(), "created": plan["create"], "grown": plan["grow"]})
        self._log(topics, plan["grow"])
        return {"created": len(topics), "grown": len(plan["grow"])}

    def _log(self, created: list[NewTopic], grown: dict[str, int]) -> None:
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

    def _record(self, run: MigrationRun, plan: dict[str, Any]) -> None:
        known = run.ledger.known().topics
        new = {topic["topic"]: topic["configs"] for topic in plan["create"] if topic["topic"] not in known}
        created = {}
        for topic, description in run.target.describe_topics(tuple(new)).items():
            frozen = plan["frozen_configs"][topic]
            if all(description.configs.get(name) == new[topic][name] for name in frozen):
                created[topic] = CreatedTopic(description.topic_id, frozen)
            else:
                self.log.warning("%s was created by others, with other settings: the run leaves them as found.", topic)
        if created:
            run.ledger.append(TopicsCreated(run.identity.holder, run.now(), created).to_document())
