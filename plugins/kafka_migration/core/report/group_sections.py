"""The sections of a report on consumer groups: their results, their offsets before and after, and warnings."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.core.cutover.plan_page import more_words
from kafka_migration.core.groups.offsets_plan import OffsetsMove, OffsetsPlan
from kafka_migration.core.kafka.commits import offsets_of
from kafka_migration.core.report.run_document import GroupResult, RunDocument
from kafka_migration.core.report.sections import Line, Name, Section, Table, finding_line
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some
from kafka_migration.core.text.terminal_text import record_count

# The evidence holds the whole plan.
MAX_ROWS = 300
MAX_NOTES = 100
_WRITTEN = {"moved", "already_moved"}
_NOT_WRITTEN = "not written"
# The results of a rollback, where "moved" would mean the opposite.
_ROLLED_BACK = {"moved": "put back", "already_moved": "already there", "not_written": "nothing written"}


def groups(run: RunDocument) -> tuple[Section, ...]:
    """Return the section on the consumer groups; none if no group was planned."""
    if not run.groups:
        return ()
    is_rollback = run.steps.rollback_plan is not None
    where = "Result" if is_rollback else "On the target"
    header = ("Group", "Plan", where, "Partitions", "Delivered again", "Reasons")
    rows = tuple(_row(group, is_rollback) for group in run.groups)
    return (Section("Consumer groups", (), Table(header, rows), parts=(*_offsets(run), *_notes(run))),)


def _row(group: GroupResult, is_rollback: bool) -> tuple[Line, ...]:
    words = _ROLLED_BACK if is_rollback else {}
    return (
        Name(group.group),
        group.verdict,
        words.get(group.outcome, group.outcome.replace("_", " ")),
        f"{group.partitions:,}",
        record_count(group.delivered_again),
        some(group.reasons, separator="; ", longest=LONGEST_SENTENCE) or "–",
    )


def _notes(run: RunDocument) -> tuple[Section, ...]:
    """Return the warnings of the plan; none without any."""
    plan = run.steps.groups_plan
    warnings = [warning for group in (plan.groups if plan else ()) for warning in group.warnings]
    more = _more(len(warnings) - MAX_NOTES, "warnings")
    lines = tuple(map(finding_line, warnings[:MAX_NOTES]))
    return (Section("Worth knowing about these groups", facts=lines, notes=more),) if lines else ()


def _more(count: int, what: str) -> tuple[str, ...]:
    return tuple(filter(None, (more_words(count, what).strip(),)))


def _offsets(run: RunDocument) -> tuple[Section, ...]:
    """Return one row per group and partition of a cutover's plan."""
    plan = run.steps.offsets_plan and run.steps.offsets_plan.plan
    rows = tuple(_offset_rows(run, plan)) if plan else ()
    if not rows:
        return ()
    after = "Target now" if any(group.outcome in _WRITTEN for group in run.groups) else "Planned"
    header = ("Group", "Partition", "Source", "Target before", after, "Unread (at most)")
    return (Section("Offsets", (), Table(header, rows[:MAX_ROWS]), notes=_more(len(rows) - MAX_ROWS, "partitions")),)


def _offset_rows(run: RunDocument, plan: OffsetsPlan) -> Iterator[tuple[Line, ...]]:
    outcomes = {group.group: group.outcome for group in run.groups}
    for group in plan.groups:
        written = outcomes.get(group.group, _NOT_WRITTEN)
        for move in group.moves:
            yield from ((Name(group.group), *row) for row in _rows_of(plan, move, written))


def _rows_of(plan: OffsetsPlan, move: OffsetsMove, written: str) -> Iterator[tuple[Line, ...]]:
    committed = offsets_of(move.committed)
    is_alone = len(move.partitions) == 1
    for partition, offset in sorted(offsets_of(move.proposed).items()):
        end = plan.target_end_offsets.get(partition)
        yield (
            (Name(partition.topic), f" {partition.partition}"),
            _offset(committed.get(partition)) if is_alone else "–",
            _offset(move.before.get(partition)),
            f"{offset:,}" if written in {*_WRITTEN, _NOT_WRITTEN} else f"{offset:,} ({written})",
            "not known" if end is None else f"{max(0, end - offset):,}",
        )


def _offset(offset: int | None) -> str:
    return "none" if offset is None else f"{offset:,}"
