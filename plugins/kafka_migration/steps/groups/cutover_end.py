"""Ends a cutover: calls its hooks, records it with the next steps, and restores settings of topics no longer mirrored.

The hooks are the Python functions that the migration file names; what was called is recorded.
"""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Callable, Collection, Mapping

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.groups.group_writes import OffsetsResultDocument
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.ledger.cutovers import CutOver, SettingsRestored
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Hook, HookName, Phase
from kafka_migration.core.report.next_steps import ConfirmedCutover, after_cutover
from kafka_migration.core.stored.stored_documents import CutoverDocument, HookDocument, SettingsDocument, Stored
from kafka_migration.core.target.target_topics import settings_to_restore
from kafka_migration.core.text.shortened import sentence
from kafka_migration.steps.run.guards import hold_reservation
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import NothingToDo, Summary, log_findings, skip_unless_moving

log = logging.getLogger(__name__)


def hook_of(run: MigrationRun, name: HookName) -> Hook:
    """Return the hook of a moment; raises `NothingToDo` if the migration file has none."""
    hook = run.migration.cutover.hooks.get(name)
    if hook is None:
        raise NothingToDo(f"cutover.hooks of the migration file has no {name}.")
    return hook


def call_function(run: MigrationRun, name: str, hook: Hook) -> Summary:
    """Call a hook that is a function, and record its return value."""
    return record_hook(run, name, hook, _as_json(_function(hook)(**arguments_of(run))))


def arguments_of(run: MigrationRun) -> dict[str, object]:
    """Return what a hook gets: the migration, the run, the topics by their names on the target, and the connections."""
    done = run.evidence.newest(Stored.CUTOVER)
    topics = done.topics if done else run.migration.topics
    return {
        "migration": run.name,
        "run": run.identity.holder,
        "topics": [run.migration.target_topic(topic) for topic in topics],
        "source": run.migration.source.connection,
        "target": run.migration.target.connection,
    }


def _function(hook: Hook) -> Callable[..., object]:
    module, _, name = str(hook.callable).rpartition(".")
    try:
        found: Callable[..., object] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        finding = Finding(
            Code.HOOK_NOT_FOUND,
            f"cutover.hooks: {hook}",
            f"{type(error).__name__}: {error}",
            "a function in a module that Airflow's workers can import",
            "Correct the path, or install the module on the workers (in the `plugins` folder or as a package). Then "
            "clear the task with its downstream tasks.",
            happened=sentence(f"The {hook} of cutover.hooks cannot be imported: {type(error).__name__}: {error}"),
            matters="The hook was not called, so what it has to do in this cutover is not done.",
        )
        raise Refused([finding]) from None
    return found


def _as_json(result: object) -> object:
    """Return a callable's return value if it can be written as JSON, else its text."""
    try:
        json.dumps(result)
    except (TypeError, ValueError):
        return repr(result)
    return result


def record_hook(run: MigrationRun, name: str, hook: Hook, result: object) -> Summary:
    """Record that a hook was called, with its result."""
    run.evidence.write(Stored.HOOK, HookDocument(run.now(), name, str(hook), result))
    return {"called": str(hook)}


def confirm_cutover(run: MigrationRun) -> CutOver:
    """Write the ledger entry and the next steps; return the entry."""
    skip_unless_moving(run)
    result = run.evidence.require(Stored.OFFSETS_RESULT)
    plan = run.evidence.require(Stored.OFFSETS_PLAN).plan
    cut_over = _recorded(run, plan, result)
    steps = _next_steps(run, plan, cut_over, result)
    run.evidence.write(Stored.CUTOVER, CutoverDocument.extended(cut_over, next_steps=steps))
    for number, text in enumerate(steps, start=1):
        log.info("%d. %s", number, text)
    return cut_over


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


def restore_settings(run: MigrationRun) -> Summary:
    """Restore the settings and record the result."""
    mode = run.request.mode
    if not (mode.moves_groups or mode.rolls_back):
        raise NothingToDo(f"Mode {mode} keeps the settings frozen.")
    hold_reservation(run)
    ledger = run.ledger.known()
    done_by = run.evidence.require
    done = done_by(Stored.ROLLED_BACK) if mode.rolls_back else done_by(Stored.CUTOVER)
    topics = _no_copies(ledger, done.topics)
    configs = settings_to_restore(ledger, topics, run.describe("target", topics))
    denials = {topic: _restore(run, topic, values) for topic, values in configs.items()}
    denied = [finding for findings in denials.values() for finding in findings]
    restored = {topic: dict(configs[topic]) for topic, findings in denials.items() if not findings}
    run.evidence.write(Stored.SETTINGS, SettingsDocument(run.now(), restored, tuple(denied)))
    log_findings(denied, logging.WARNING)
    return {"restored": sorted(restored)}


def _no_copies(ledger: Ledger, topics: Collection[str]) -> list[str]:
    """Return the topics that are no longer mirrored; this may have changed before the task was cleared."""
    moved = topics if ledger.phase is Phase.ROLLED_BACK else ledger.moved_topics()
    return [topic for topic in topics if topic in moved]


def _restore(run: MigrationRun, topic: str, values: Mapping[str, str | None]) -> Collection[Finding]:
    """Set the values of one topic and record it; return the cluster's findings if it denied the change."""
    try:
        run.target.alter_configs({topic: values})
    except Refused as refused:
        return refused.findings
    run.ledger.append(SettingsRestored(run.identity.holder, run.now(), (topic,)).to_document())
    return ()
