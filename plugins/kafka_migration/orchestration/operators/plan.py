"""`plan`: reads both clusters under the reservation and freezes the goal of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.sdk import Context

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.offsets import from_document
from kafka_migration.core.ledger.phases import phase_findings
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.steps.mirror.planning import nothing_to_mirror, plan_document
from kafka_migration.steps.run import MigrationRun


class PlanOperator(MigrationOperator):
    """Plan the run: topics to create or grow, positions and frozen goals per source partition.

    The goal is the end of the source at this moment; records that come later belong to the next run. What the
    last run certified is compared with what is now, and a gap refuses the run before anything is started.

    A run that belongs to an interval has the interval's bounds put into the ledger. In mode `interval` its goal is the
    interval's end; where nothing of it is to be copied, the run only answers, and what would refuse a copy is told.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Read, compare, write the plan."""
        ledger, mirrors = run.ledger.known(), run.request.mode.mirrors
        topics, requested = run.migration.topics, run.request.topics
        if findings := phase_findings(ledger, run.name, run.request.mode, topics, requested):
            raise Refused(findings)
        source, target = run.describe("source"), run.describe("target")
        document = plan_document(run, ledger, source, target) if mirrors else nothing_to_mirror(run, ledger, target)
        run.evidence.write(Kind.PLAN, document)
        self._log_plan(document)
        return {
            "create": [topic["topic"] for topic in document["create"]],
            "grow": document["grow"],
            "offsets_to_copy": document["offsets_to_copy"],
        }

    def _log_plan(self, document: Mapping[str, Any]) -> None:
        """Write what is to be copied, one line per topic."""
        positions = from_document(document["positions"])
        to_copy: dict[str, int] = {}
        for partition, goal in from_document(document["goals"]).items():
            to_copy[partition.topic] = to_copy.get(partition.topic, 0) + max(0, goal - positions.get(partition, 0))
        for topic, offsets in sorted(to_copy.items()):
            self.log.info("%-40s %s offsets to copy", topic, f"{offsets:,}")
        self.log.info("All in all: %s offsets to copy.", f"{document['offsets_to_copy']:,}")
