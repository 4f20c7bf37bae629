"""What a run will create and copy."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from kafka_migration.adapters.store.evidence_store import New
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.interval_bounds import IntervalBounds
from kafka_migration.core.ledger.ledger import Ledger, phase_findings
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.migration.topic_list_rules import topic_list_findings, topic_list_warnings
from kafka_migration.core.stored.stored_documents import (
    NOTHING_TO_COPY,
    MirrorNotStarted,
    PlanDocument,
    Stored,
    TopicsDocument,
)
from kafka_migration.core.target.planned_topics import offsets_to_copy
from kafka_migration.core.target.target_topics import (
    TopicPlan,
    plan_topics,
    recreated_findings,
    settings_to_freeze,
    target_topic_findings,
)
from kafka_migration.core.watching.drain import gap_findings, gaps_of
from kafka_migration.core.watching.gap_guard import SourceTruth, recreated_source_findings
from kafka_migration.core.watching.watch import WatchEnded
from kafka_migration.steps.backfill.backfilled_interval import resolve_bounds
from kafka_migration.steps.mirror.state import (
    MirrorState,
    held_back_warnings,
    mirror_state,
    read_held_back,
    state_findings,
)
from kafka_migration.steps.run.copy_scope import names_to_match, record_topic_list, require_same_basis
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of
from kafka_migration.steps.run.task_frame import Summary, log_findings

log = logging.getLogger(__name__)

NO_TOPICS = TopicPlan((), {}, {})


def plan(run: MigrationRun) -> Summary:
    """Read both clusters, compare, and write the plan of the run; raises `Refused` for what must not be copied."""
    require_same_basis(run)
    new = _topic_list(run)
    ledger, mirrors = run.ledger.known(), run.request.mode.mirrors
    topics, requested = run.migration.topics, run.request.topics
    if findings := phase_findings(ledger, run.name, run.request.mode, topics, requested):
        raise Refused(findings)
    source, target = run.describe("source"), run.describe("target")
    document = plan_document(run, ledger, source, target) if mirrors else nothing_to_mirror(run, ledger, source, target)
    skipped = _documents_of_skipped(run, document) if document.is_done else ()
    run.evidence.write_together(New.of(Stored.PLAN, document), *skipped)
    _log_plan(document)
    return {
        "is_done": document.is_done,
        **({"new": new} if new else {}),
        "create": [topic.topic for topic in document.create],
        "grow": dict(document.grow),
        "offsets_to_copy": document.offsets_to_copy,
    }


def _documents_of_skipped(run: MigrationRun, plan: PlanDocument) -> tuple[New, ...]:
    """Return the documents of the tasks that a done plan skips: an earlier attempt may have created and copied."""
    at = run.now()
    return (
        New.of(Stored.TOPICS, TopicsDocument(at, (), {})),
        New.of(Stored.START, MirrorNotStarted(at, NOTHING_TO_COPY)),
        New.of(Stored.WATCH, WatchEnded.without_mirror(at, plan.goals, 0, NOTHING_TO_COPY)),
    )


def _topic_list(run: MigrationRun) -> list[str]:
    """Compare the patterns with the source again, while the run holds the reservation; return the new topics."""
    found = record_topic_list(run, names_to_match(run))
    if found is None:
        return []
    if findings := tuple(topic_list_findings(run.filed_migration, found, run.request.mode)):
        raise Refused(findings)
    log_findings(topic_list_warnings(run.filed_migration, found, run.request.mode), logging.WARNING)
    log.info("The patterns and names of the migration file select %d topics.", len(found.topics))
    for topic in found.new:
        log.info("%-40s new on the source since the last run", topic)
    for topic, reason in found.left_out.items():
        log.info("%-40s not copied: %s", topic, reason)
    return list(found.new)


def _log_plan(document: PlanDocument) -> None:
    """Log the number of offsets to copy, one line per topic."""
    to_copy = offsets_to_copy(document.positions, document.goals)
    for topic, offsets in sorted(to_copy.items()):
        log.info("%-40s %s offsets to copy", topic, f"{offsets:,}")
    log_findings(document.open_transactions or (), logging.WARNING)
    log.info("Total: %s offsets to copy.", f"{document.offsets_to_copy:,}")
    if document.is_done:
        log.info("The run skips the tasks that create topics and copy, because they have nothing to do.")


def plan_document(
    run: MigrationRun,
    ledger: Ledger,
    source: Mapping[str, TopicDescription],
    target: Mapping[str, TopicDescription],
) -> PlanDocument:
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
) -> tuple[PlanDocument, tuple[Finding, ...]]:
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
    topics = NO_TOPICS if only_answers else plan_topics(run.migration, source, target, ledger)
    document = PlanDocument(
        at=run.now(),
        create=topics.create,
        frozen_configs=topics.frozen_configs,
        grow=topics.grow,
        interval=bounds,
        positions=state.mirror_positions,
        goals=goals,
        offsets_to_copy=to_copy,
        held_back=held,
        open_transactions=held_back_warnings(run, held),
        warnings=findings,
        is_done=not to_copy and _has_all_topics(run, ledger, topics) and not run.request.mode.follows_source,
    )
    return document, () if only_answers else findings


def _has_all_topics(run: MigrationRun, ledger: Ledger, topics: TopicPlan) -> bool:
    """Whether `create_topics` has nothing to do: no topic to create, to extend, to freeze again or to record."""
    mine = run.migration.topics
    again = run.request.mode.mirrors and settings_to_freeze(ledger, mine)
    return not (topics.create or topics.grow or again or ledger.announced.keys() & set(mine))


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


def nothing_to_mirror(
    run: MigrationRun, ledger: Ledger, source: Mapping[str, TopicDescription], target: Mapping[str, TopicDescription]
) -> PlanDocument:
    """Return the plan of a run that only reads; a recreated topic is a warning, and validation decides."""
    recreated = (
        *recreated_source_findings(ledger.last_stop, SourceTruth(source, {})),
        *recreated_findings(target, ledger),
    )
    return PlanDocument(at=run.now(), warnings=recreated, is_done=_has_all_topics(run, ledger, NO_TOPICS))
