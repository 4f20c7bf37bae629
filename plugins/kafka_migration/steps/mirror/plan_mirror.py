"""What a run will create and copy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_migration.core.documents.codec import written
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, to_document
from kafka_migration.core.ledger.interval_bounds import IntervalBounds
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.target.planned_topics import offsets_to_copy
from kafka_migration.core.target.target_topics import plan_topics, recreated_findings, target_topic_findings
from kafka_migration.core.watching.drain import gap_findings, gaps_of
from kafka_migration.core.watching.gap_guard import SourceTruth, recreated_source_findings
from kafka_migration.steps.backfill.backfilled_interval import resolve_bounds
from kafka_migration.steps.mirror.held_back import held_back_warnings, read_held_back
from kafka_migration.steps.mirror.state import MirrorState, mirror_state, state_findings
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of


def plan_document(
    run: MigrationRun,
    ledger: Ledger,
    source: Mapping[str, TopicDescription],
    target: Mapping[str, TopicDescription],
) -> dict[str, Any]:
    """Return the plan of a run that mirrors; raises `Refused` for what must not be copied."""
    document, refusals = read_plan(run, ledger, source, target)
    if refusals:
        raise Refused(refusals)
    return document


def read_plan(
    run: MigrationRun,
    ledger: Ledger,
    source: Mapping[str, TopicDescription],
    target: Mapping[str, TopicDescription],
) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Return the plan of a run that mirrors, and the findings that refuse it."""
    bounds = resolve_bounds(run, ledger, source)
    state = mirror_state(run, ledger, source, target)
    goals = _goals(run, state, bounds)
    to_copy = sum(offsets_to_copy(state.mirror_positions, goals).values())
    held = read_held_back(run, partitions_of(source))
    only_answers = run.request.mode is Mode.INTERVAL and not to_copy
    findings = (
        *target_topic_findings(run.migration, source, target, state.target_end_offsets, ledger),
        *recreated_findings(target, ledger),
        *_state(run, ledger, state),
    )
    document = {
        "at": run.now(),
        **(_NO_TOPICS if only_answers else _topics(run, source, target, ledger)),
        "interval": bounds and bounds.to_document(),
        "positions": to_document(state.mirror_positions),
        "goals": to_document(goals),
        "offsets_to_copy": to_copy,
        "held_back": written(held),
        "open_transactions": held_back_warnings(run, held),
        "warnings": [finding.to_document() for finding in findings],
    }
    return document, () if only_answers else findings


def _goals(run: MigrationRun, state: MirrorState, bounds: IntervalBounds | None) -> Offsets:
    """Return the goals. In mode `interval` they are the lowest that suffice, or the positions if it must not copy."""
    if run.request.mode is not Mode.INTERVAL or bounds is None:
        return state.source_end_offsets
    if run.run_window.still_at(run.clock.now()):
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
        "frozen_configs": {topic: dict(configs) for topic, configs in topics.frozen_configs.items()},
        "grow": dict(topics.grow),
    }


def nothing_to_mirror(
    run: MigrationRun, ledger: Ledger, source: Mapping[str, TopicDescription], target: Mapping[str, TopicDescription]
) -> dict[str, Any]:
    """Return the plan of a run that only reads; a recreated topic is a warning, and validation decides."""
    recreated = (
        *recreated_source_findings(ledger.last_stop, SourceTruth(source, {})),
        *recreated_findings(target, ledger),
    )
    return {
        "at": run.now(),
        **_NO_TOPICS,
        "interval": None,
        "positions": {},
        "goals": {},
        "offsets_to_copy": 0,
        "warnings": [f.to_document() for f in recreated],
    }
