"""`plan`: reads both clusters under the reservation and freezes the goal of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.sdk import Context

from kafka_migration.core.cluster import TopicDescription
from kafka_migration.core.drain import beyond_end_findings, gap_findings
from kafka_migration.core.errors import Refused
from kafka_migration.core.evidence import Kind
from kafka_migration.core.generations import continuity_findings
from kafka_migration.core.offsets import to_document
from kafka_migration.core.topics import plan_topics, recreated_findings, target_topic_findings
from kafka_migration.orchestration.mirroring import every_offset, mirror_state
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run import MigrationRun, partitions_of


class PlanOperator(MigrationOperator):
    """Plan the run: topics to create or grow, positions and frozen goals per source partition.

    The goal is the end of the source at this moment; records that come later belong to the next run. What the
    last run certified is compared with what is now, and a gap refuses the run before anything is started.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Read, compare, write the plan."""
        source, target = run.describe("source"), run.describe("target")
        document = self._plan(run, source, target) if run.request.mode.mirrors else _nothing_to_mirror(run, target)
        run.evidence.write(Kind.PLAN, document)
        self.log.info("Goal: %s", document["goals"])
        return {
            "create": [topic["topic"] for topic in document["create"]],
            "grow": document["grow"],
            "offsets_to_copy": document["offsets_to_copy"],
        }

    def _plan(
        self,
        run: MigrationRun,
        source: Mapping[str, TopicDescription],
        target: Mapping[str, TopicDescription],
    ) -> dict[str, Any]:
        ledger = run.ledger.read()
        isolation = run.migration.mirror.isolation_level
        state = mirror_state(run, source, target)
        partitions = partitions_of(source)
        goals = every_offset(run.source.log_end_offsets(partitions, isolation), partitions, "source end")
        continuity = (
            ()
            if ledger.open_generation
            else continuity_findings(ledger.last_stop, state.stored, state.target_end_offsets)
        )
        findings = (
            *target_topic_findings(run.migration, source, target, state.target_end_offsets, ledger),
            *recreated_findings(target, ledger),
            *continuity,
            *gap_findings(state.mirror_positions, state.source_log_start),
            *beyond_end_findings(state.mirror_positions, goals),
        )
        if findings:
            raise Refused(findings)
        topics = plan_topics(run.migration, source, target, ledger)
        return {
            "at": run.now(),
            "create": [
                {
                    "topic": t.topic,
                    "partitions": t.partitions,
                    "replication_factor": t.replication_factor,
                    "configs": dict(t.configs),
                }
                for t in topics.create
            ],
            "frozen_configs": topics.frozen_configs(source),
            "grow": dict(topics.grow),
            "positions": to_document(state.mirror_positions),
            "goals": to_document(goals),
            "offsets_to_copy": sum(max(0, goal - state.mirror_positions[p]) for p, goal in goals.items()),
            "warnings": [],
        }


def _nothing_to_mirror(run: MigrationRun, target: Mapping[str, TopicDescription]) -> dict[str, Any]:
    """Return the plan of a run that only reads; a re-created topic is said, and the reading decides."""
    return {
        "at": run.now(),
        "create": [],
        "frozen_configs": {},
        "grow": {},
        "positions": {},
        "goals": {},
        "offsets_to_copy": 0,
        "warnings": [f.to_document() for f in recreated_findings(target, run.ledger.read())],
    }
