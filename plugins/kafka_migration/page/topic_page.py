"""What an active run says of one topic: its lag, and the partitions that the run planned to copy."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from kafka_migration.core.report.run_status import Progress, age_words
from kafka_migration.core.report.sections import Line, Section, ShellCommand, Table
from kafka_migration.core.run.run_identity import RunIdentity, migration_of
from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.core.stored.stored_documents import PlanDocument
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.text.terminal_text import record_count
from kafka_migration.page.kept_run import kept_run
from kafka_migration.page.screen import MaySee
from kafka_migration.steps.answers.kept_migration import MigrationStore

_HEADER = ("Partition", "Next offset", "Up to offset", "Offsets to copy")


def left_to_copy(store: MigrationStore, topic: str, may_see: MaySee, now: datetime) -> tuple[Section, ...]:
    """Return the section about the active run; none without a run that the user may see."""
    progress = store.progress()
    identity = RunIdentity.from_holder(progress.run) if progress else None
    if progress is None or identity is None or migration_of(identity.dag_id) != store.name:
        return ()
    run = kept_run(identity.dag_id, identity.run_id) if may_see(identity.dag_id) else None
    if run is None or run.has_ended:
        return ()
    plan = run.document.steps.plan if run.document else None
    rows = tuple(_rows(plan, topic)) if plan else ()
    lead: tuple[Line, ...] = (*_told(progress, topic, now), *((run.problem,) if run.problem else ()))
    lead += (f"The run planned at {progress.local.minute(plan.at)} what it copies.",) if plan and rows else ()
    command = ShellCommand(f"kafka-migration status {store.name} --topic {shell_word(topic)}")
    note = ("Which partitions are behind now is read from both clusters by ", command, ".")
    return (Section("What is left to copy", lead, Table(_HEADER, rows) if rows else None, notes=(note,)),)


def _told(progress: Progress, topic: str, now: datetime) -> Iterator[Line]:
    if progress.step != TaskId.WATCH_LAG:
        return
    age = age_words(progress.at, now)
    found = next((each for each in progress.behind if each.topic == topic), None)
    if found is None:
        yield f"The watch reported {age}: this topic is not among those that are most behind."
    else:
        yield f"The watch reported {age}: offsets left {record_count(found.lag)}, trend: {found.trend}."


def _rows(plan: PlanDocument, topic: str) -> Iterator[tuple[str, ...]]:
    """Yield the partitions with offsets to copy, those with most first."""
    begin = {each: plan.positions.get(each, 0) for each in plan.goals if each.topic == topic}
    to_copy = {each: plan.goals[each] - position for each, position in begin.items()}
    for each in sorted(to_copy, key=lambda partition: (-to_copy[partition], partition)):
        if to_copy[each] > 0:
            yield str(each.partition), f"{begin[each]:,}", f"{plan.goals[each]:,}", f"{to_copy[each]:,}"
