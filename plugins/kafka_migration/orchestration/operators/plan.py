"""`plan`: reads both clusters while it holds the reservation, and freezes the goals of the run."""

from __future__ import annotations

import logging

from airflow.sdk import Context

from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.ledger.ledger import phase_findings
from kafka_migration.core.migration.topic_list_rules import topic_list_findings, topic_list_warnings
from kafka_migration.core.stored.stored_documents import PlanDocument, Stored
from kafka_migration.core.target.planned_topics import offsets_to_copy
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, Summary
from kafka_migration.orchestration.task.failures import log_findings
from kafka_migration.steps.mirror.plan_mirror import nothing_to_mirror, plan_document
from kafka_migration.steps.run.find_copy_basis import require_same_basis
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.topic_list import record_topic_list


class PlanOperator(MigrationOperator):
    """Plan the run: topics to create or grow, positions and frozen goals per source partition.

    The goal is the present end of the source; later records belong to the next run. The present state is compared with
    the last stop certificate. A gap refuses the run before anything is started.

    For a run with an interval, the interval's bounds are written to the ledger. In mode `interval` the goal is the
    interval's end. If nothing has to be copied, the run only answers, and findings that would refuse a copy become
    warnings.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Read both clusters, compare, and write the plan."""
        require_same_basis(run)
        new = self._topic_list(run)
        ledger, mirrors = run.ledger.known(), run.request.mode.mirrors
        topics, requested = run.migration.topics, run.request.topics
        if findings := phase_findings(ledger, run.name, run.request.mode, topics, requested):
            raise Refused(findings)
        source, target = run.describe("source"), run.describe("target")
        document = (
            plan_document(run, ledger, source, target) if mirrors else nothing_to_mirror(run, ledger, source, target)
        )
        run.evidence.write(Stored.PLAN, document)
        self._log_plan(document)
        return {
            **({"new": new} if new else {}),
            "create": [topic.topic for topic in document.create],
            "grow": dict(document.grow),
            "offsets_to_copy": document.offsets_to_copy,
        }

    def _topic_list(self, run: MigrationRun) -> list[str]:
        """Compare the patterns with the source again, while the run holds the reservation; return the new topics."""
        found = record_topic_list(run)
        if found is None:
            return []
        if findings := tuple(topic_list_findings(run.filed_migration, found, run.request.mode)):
            raise Refused(findings)
        log_findings(topic_list_warnings(run.filed_migration, found, run.request.mode), logging.WARNING, self.log)
        self.log.info("The patterns and names of the migration file select %d topics.", len(found.topics))
        for topic in found.new:
            self.log.info("%-40s new on the source since the last run", topic)
        for topic, reason in found.left_out.items():
            self.log.info("%-40s not copied: %s", topic, reason)
        return list(found.new)

    def _log_plan(self, document: PlanDocument) -> None:
        """Log the number of offsets to copy, one line per topic."""
        to_copy = offsets_to_copy(document.positions, document.goals)
        for topic, offsets in sorted(to_copy.items()):
            self.log.info("%-40s %s offsets to copy", topic, f"{offsets:,}")
        log_findings(document.open_transactions or (), logging.WARNING, self.log)
        self.log.info("Total: %s offsets to copy.", f"{document.offsets_to_copy:,}")
