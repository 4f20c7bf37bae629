"""`plan`: reads both clusters while it holds the reservation, and freezes the goals of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.sdk import Context

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, from_document, to_document
from kafka_migration.core.ledger.interval_bounds import IntervalBounds
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.ledger.phases import phase_findings
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.mirror.drain import gap_findings, gaps_of
from kafka_migration.core.mirror.target_topics import plan_topics, recreated_findings, target_topic_findings
from kafka_migration.orchestration.intervals import resolve_bounds
from kafka_migration.orchestration.mirroring import MirrorState, mirror_state, state_findings
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run import MigrationRun


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
        ledger, mirrors = run.ledger.read(), run.request.mode.mirrors
        topics, requested = run.migration.topics, run.request.topics
        if findings := phase_findings(ledger, run.name, run.request.mode, topics, requested):
            raise Refused(findings)
        source, target = run.describe("source"), run.describe("target")
        document = self._plan(run, ledger, source, target) if mirrors else _nothing_to_mirror(run, ledger, target)
        run.evidence.write(Kind.PLAN, document)
        self._log_plan(document)
        return {
            "create": [topic["topic"] for topic in document["create"]],
            "grow": document["grow"],
            "offsets_to_copy": document["offsets_to_copy"],
        }

    def _log_plan(self, document: Mapping[str, Any]) -> None:
        """Log the number of offsets to copy, one line per topic."""
        positions = from_document(document["positions"])
        to_copy: dict[str, int] = {}
        for partition, goal in from_document(document["goals"]).items():
            to_copy[partition.topic] = to_copy.get(partition.topic, 0) + max(0, goal - positions.get(partition, 0))
        for topic, offsets in sorted(to_copy.items()):
            self.log.info("%-40s %s offsets to copy", topic, f"{offsets:,}")
        self.log.info("Total: %s offsets to copy.", f"{document['offsets_to_copy']:,}")

    def _plan(
        self,
        run: MigrationRun,
        ledger: Ledger,
        source: Mapping[str, TopicDescription],
        target: Mapping[str, TopicDescription],
    ) -> dict[str, Any]:
        bounds = resolve_bounds(run, ledger, source)
        state = mirror_state(run, ledger, source, target)
        goals = _goals(run, state, bounds)
        to_copy = sum(max(0, goal - state.mirror_positions[p]) for p, goal in goals.items())
        only_answers = run.request.mode is Mode.INTERVAL and not to_copy
        findings = (
            *target_topic_findings(run.migration, source, target, state.target_end_offsets, ledger),
            *recreated_findings(target, ledger),
            *_state(run, ledger, state),
        )
        if findings and not only_answers:
            raise Refused(findings)
        return {
            "at": run.now(),
            **(_NO_TOPICS if only_answers else _topics(run, source, target, ledger)),
            "interval": bounds and bounds.to_document(),
            "positions": to_document(state.mirror_positions),
            "goals": to_document(goals),
            "offsets_to_copy": to_copy,
            "warnings": [finding.to_document() for finding in findings],
        }


def _goals(run: MigrationRun, state: MirrorState, bounds: IntervalBounds | None) -> Offsets:
    """Return the goals. In mode `interval` they are the lowest that suffice, or the positions if it must not copy."""
    if run.request.mode is not Mode.INTERVAL or bounds is None:
        return state.source_end_offsets
    if run.occasion.still_at(run.clock.now()):
        return state.mirror_positions
    return bounds.goals(state.mirror_positions, state.source_end_offsets)


def _state(run: MigrationRun, ledger: Ledger, state: MirrorState) -> tuple[Finding, ...]:
    """Compare with the last stop certificate, unless an open generation has changed the state since."""
    if ledger.open_generation:
        return gap_findings(gaps_of(state.mirror_positions, state.source_log_start))
    return state_findings(run, ledger, state)


_NO_TOPICS: dict[str, Any] = {"create": [], "frozen_configs": {}, "grow": {}}


def _topics(
    run: MigrationRun, source: Mapping[str, TopicDescription], target: Mapping[str, TopicDescription], ledger: Ledger
) -> dict[str, Any]:
    """Return the part of the plan that `create_topics` carries out."""
    topics = plan_topics(run.migration, source, target, ledger)
    return {
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
    }


def _nothing_to_mirror(run: MigrationRun, ledger: Ledger, target: Mapping[str, TopicDescription]) -> dict[str, Any]:
    """Return the plan of a run that only reads; a recreated topic is a warning, and validation decides."""
    return {
        "at": run.now(),
        **_NO_TOPICS,
        "interval": None,
        "positions": {},
        "goals": {},
        "offsets_to_copy": 0,
        "warnings": [f.to_document() for f in recreated_findings(target, ledger)],
    }
