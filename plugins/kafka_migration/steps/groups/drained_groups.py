"""Which groups a cutover waits for until they have read the source, and what the end of the wait means."""

from __future__ import annotations

import logging

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.groups.selection import which_groups
from kafka_migration.core.kafka.commits import topics_of
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.steps.groups.group_lag_reading import LagEnded, LagOutcome
from kafka_migration.steps.reading.one_by_one import commits_of
from kafka_migration.steps.run.guards import require_proved_copy
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary, skip_unless_planning

log = logging.getLogger(__name__)

CAUGHT_UP = LagEnded(LagOutcome.CAUGHT_UP)


def groups_to_drain(run: MigrationRun) -> dict[str, list[str] | None]:
    """Return the groups to wait for with their topics; none if the run does not wait."""
    skip_unless_planning(run)
    is_configured = run.request.mode is Mode.CUTOVER and run.migration.cutover.drain_groups_s is not None
    groups = _groups_with_topics(run) if is_configured else {}
    if groups:
        log.info("Waiting for %s.", some(groups))
    else:
        log.info("Not waiting for any group: %s.", "none has committed offsets" if is_configured else "not configured")
    return groups


def end_drain(run: MigrationRun, ended: LagEnded) -> Summary:
    """Return the last progress line; raise `Refused` if a group has not read everything."""
    if ended.outcome is LagOutcome.FAILED:
        raise Refused(ended.findings)
    if ended.outcome is LagOutcome.TIMED_OUT:
        raise Refused(_not_drained(run, ended))
    return {"outcome": str(ended.outcome), "progress": ended.progress}


def _groups_with_topics(run: MigrationRun) -> dict[str, list[str] | None]:
    """Return the migration's groups, each with the migration's topics on which it has committed offsets."""
    names = which_groups(run.source.list_groups(), run.migration.cutover.groups, run.request.groups)
    # The plan leaves out a group that cannot be read; the wait is for the others.
    committed = {name: found for name, found in commits_of(run.source, names).items() if not isinstance(found, str)}
    moved = run.migration.without(require_proved_copy(run)).topics
    topics = {name: topics_of(found).intersection(moved) for name, found in committed.items()}
    return {name: sorted(mine) for name, mine in topics.items() if mine}


def _not_drained(run: MigrationRun, ended: LagEnded) -> list[Finding]:
    behind = ended.behind or {"": ended.progress}
    limit_s = run.migration.cutover.drain_groups_s or 0
    return [
        Finding(
            Code.GROUPS_NOT_DRAINED,
            group_subject(group) if group else "the groups of the migration",
            text,
            f"lag 0, known, on every partition within {limit_s:,} s (cutover.drain_groups)",
            "Let its consumers read the rest on the source and trigger the cutover again. Or remove the group from "
            "cutover.groups, or cut over without cutover.drain_groups: the group then resumes on the target where it "
            "stopped.",
            happened=f"Within {duration(limit_s)} (cutover.drain_groups), "
            f"{group_subject(group) if group else 'the groups of the migration'} did not read everything on the "
            f"source: {text}.",
            matters="The cutover has to wait until the group has read everything on the source. No group was moved.",
        )
        for group, text in behind.items()
    ]
