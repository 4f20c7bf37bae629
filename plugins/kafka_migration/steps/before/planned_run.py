"""What a run would do now: the same reading and the same rules as the task `plan`, and nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from kafka_migration.adapters.store.document_files import rooted
from kafka_migration.adapters.store.evidence_store import RunEvidence
from kafka_migration.adapters.system.deadlines import of_each
from kafka_migration.adapters.system.private_folder import private_folder
from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.selection import PlannedGroup, planned_groups, which_groups
from kafka_migration.core.kafka.cluster import ClusterFacts, GroupListing, TopicDescription
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.ledger.copy_basis import ClusterSeen
from kafka_migration.core.ledger.cutovers import Rehearsed
from kafka_migration.core.ledger.ledger import Ledger, phase_findings
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.migration.topic_list_rules import topic_list_findings, topic_list_warnings
from kafka_migration.core.migration.topic_rules import TopicList
from kafka_migration.core.run.overlap import overlap_findings
from kafka_migration.core.run.run_conf import unknown_findings
from kafka_migration.core.run.run_identity import RunIdentity, triggered_dag_id
from kafka_migration.core.run.run_window import RunWindow
from kafka_migration.core.target.planned_topics import PlannedTopic, TopicsSeen, offsets_to_copy, planned_topics
from kafka_migration.core.target.target_topics import missing_topic_findings, recreated_findings, removed_topic_warnings
from kafka_migration.core.text.shortened import some
from kafka_migration.engines.mirrormaker2 import never_copied_findings
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.preflight.clusters.clusters_checks import difference_findings
from kafka_migration.preflight.files.request_checks import other_migrations
from kafka_migration.steps.mirror.plan_mirror import nothing_to_mirror, read_plan
from kafka_migration.steps.run.copy_scope import changes_of_basis, names_to_match, record_topic_list
from kafka_migration.steps.run.deployment import Deployment
from kafka_migration.steps.run.guards import missing_rights_of, unseen_groups
from kafka_migration.steps.run.migration_run import MigrationRun


@contextmanager
def preview(name: str, params: Mapping[str, Any], deployment: Deployment) -> Iterator[MigrationRun]:
    """Yield a manual run of the current migration file; its documents are in a private folder, which is removed.

    Raises `Refused` if the file or the params are invalid.
    """
    text, _ = load_migration_file(deployment.migrations_folder / f"{name}.yaml")
    run = MigrationRun(
        name, RunIdentity(triggered_dag_id(name, Mode(params["mode"])), "preview", 1), params, deployment
    )
    run.run_window = RunWindow()
    # Raises if the params are invalid, before anything is opened.
    _ = run.request
    with private_folder() as folder:
        run.evidence = RunEvidence(rooted(folder), name, run.identity)
        run.evidence.freeze_migration(text)
        try:
            yield run
        finally:
            run.close()


@dataclass(frozen=True, slots=True)
class RunPlan(Document):
    """What a run would do now; `findings` are the reasons for which it would be refused.

    `vanished` and `left_out` are those of `TopicList`. `cut_over` are topics that the run leaves out because earlier
    runs cut them over. `last_generation` and `open_generation` are numbers; `None` if there is none. `positions` are
    the next source offsets to copy, and `goals` the present ends of the source. `rehearsal` is the newest one, if the
    mode plans groups.
    """

    phase: Phase
    topics: tuple[PlannedTopic, ...]
    vanished: tuple[str, ...]
    left_out: Mapping[str, str]
    cut_over: tuple[str, ...]
    last_generation: int | None
    open_generation: int | None
    positions: Offsets
    goals: Offsets
    groups: tuple[PlannedGroup, ...] = ()
    rehearsal: Rehearsed | None = None
    findings: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()


def plan_answer(name: str, params: Mapping[str, Any], deployment: Deployment) -> RunPlan:
    """Return what a manual run of the current migration file would do with these fields of the form.

    Raises `Refused` if the file or the fields are invalid, and what `run_plan` raises.
    """
    with preview(name, params, deployment) as run:
        return run_plan(run)


def run_plan(run: MigrationRun) -> RunPlan:
    """Return what a run would do; raises `TransientError` if a value cannot be read, because unknown is not zero.

    If the clusters or settings are not those of earlier runs, nothing else is compared.
    """
    source_facts, target_facts, listed = _asked(run)
    changed = changes_of_basis(run, ClusterSeen.of(source_facts), ClusterSeen.of(target_facts))
    if different := changed or tuple(difference_findings(run.filed_migration, source_facts, target_facts)):
        return _not_planned(run, different)
    found = record_topic_list(run, listed) or TopicList(run.whole_migration.topics)
    ledger, mirrors = run.ledger.known(), run.request.mode.mirrors
    source, target = run.describe("source"), run.describe("target")
    listings = run.source.list_groups() if run.request.mode.plans_groups else ()
    document, refusals = (
        read_plan(run, ledger, source, target) if mirrors else (nothing_to_mirror(run, ledger, source, target), ())
    )
    positions, goals = document.positions, document.goals
    seen = TopicsSeen(run.migration, source, target, ledger)
    return RunPlan(
        phase=ledger.phase,
        topics=planned_topics(seen, found.new, offsets_to_copy(positions, goals) if mirrors else None),
        vanished=found.vanished,
        left_out=found.left_out,
        cut_over=tuple(sorted(run.moved_topics.intersection(run.whole_migration.topics))),
        last_generation=ledger.last_generation.number if ledger.last_generation else None,
        open_generation=ledger.open_generation.number if ledger.open_generation else None,
        positions=positions,
        goals=goals,
        groups=planned_groups(listings, run.migration.cutover, run.request.groups),
        rehearsal=ledger.rehearsal if run.request.mode.plans_groups else None,
        findings=(*_refusals(run, ledger, found, source, listings), *refusals),
        warnings=(
            *removed_topic_warnings(run.filed_migration, ledger),
            *topic_list_warnings(run.filed_migration, found, run.request.mode),
            *(unseen_groups(run) if run.request.mode.plans_groups else ()),
            *(() if mirrors else recreated_findings(target, ledger)),
            *(document.open_transactions or ()),
        ),
    )


def _asked(run: MigrationRun) -> tuple[ClusterFacts, ClusterFacts, Collection[str] | None]:
    """Return the facts of the source and of the target, and the names for the patterns; all are asked at once."""
    # Naming a cluster opens it, which asks Airflow: in this thread.
    asks: tuple[Callable[[], Any], ...] = (run.source.facts, run.target.facts, partial(names_to_match, run))
    source, target, listed = of_each(asks, lambda ask: ask()).values()
    return source, target, listed


def _not_planned(run: MigrationRun, findings: tuple[Finding, ...]) -> RunPlan:
    """Return the plan of a run whose clusters cannot be compared."""
    return RunPlan(run.ledger.known().phase, (), (), {}, (), None, None, {}, {}, findings=findings)


def _refusals(
    run: MigrationRun,
    ledger: Ledger,
    found: TopicList,
    source: Mapping[str, TopicDescription],
    listings: Collection[GroupListing],
) -> Iterator[Finding]:
    """Yield what refuses the run, besides the state of the copy."""
    mode, requested, whole = run.request.mode, run.request, run.whole_migration
    yield from topic_list_findings(run.filed_migration, found, mode)
    yield from phase_findings(ledger, run.name, mode, run.migration.topics, requested.topics)
    unknown = [topic for topic in requested.topics if topic not in frozenset(whole.topics)]
    yield from unknown_findings("topics", unknown, f"topics of the migration: {some(whole.topics)}")
    named = frozenset(which_groups(listings, run.migration.cutover.groups))
    unknown = [group for group in requested.groups if group not in named]
    yield from unknown_findings("groups", unknown, "groups on the source that match cutover.groups")
    yield from missing_topic_findings(run.migration, source)
    yield from never_copied_findings(run.migration) if mode.mirrors else ()
    yield from overlap_findings(run.migration, other_migrations(run.deployment.migrations_folder, whole))
    yield from missing_rights_of(run)
