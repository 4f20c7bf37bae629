"""The plan of a rollback as Markdown, for the approver; and the steps after the rollback."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.plan_page import (
    MAX_GROUPS,
    MAX_ROWS_OF_GROUP,
    PROOF_WORDS,
    TOLD_BELOW,
    findings_list,
    more_words,
    offsets_words,
)
from kafka_migration.core.kafka.commits import Commits
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.rollback.plan import GroupReturn, ReturnedTopic, RollbackPlan, TargetOnly
from kafka_migration.core.text.markdown import shown, table
from kafka_migration.core.text.names import group_subject, plain_name

_WHAT = {
    Mode.RESTORE: "An approval sets these groups on the **target** back to their offsets before the cutover. Nothing "
    "is written on the source: there they resume where they stopped.",
    Mode.FAIL_BACK: "An approval writes the offsets of these groups on the **source**, so that they continue there "
    "from the records that they have reached on the target. Nothing is changed on the target.",
}


def render_rollback(plan: RollbackPlan, migration: str) -> str:
    """Return the plan: a summary, records only on the target, all groups in one table, then each group."""
    sections = [
        _headline(plan, migration),
        _target_only(plan.target_only),
        _groups_table(plan),
        *(_group_section(group) for group in plan.groups[:MAX_GROUPS]),
        "Stop the producers on the target first: records that they write from now on also remain only there.",
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _headline(plan: RollbackPlan, migration: str) -> str:
    return (
        f"## Rollback of migration {shown(migration)}\n\n{_WHAT[plan.mode]} Nothing has been written so far. The "
        "current offsets are saved first.\n\n"
        f"- Topics: {', '.join(shown(topic) for topic in plan.topics)}\n"
        f"- Groups to change: {len(plan.changed):,}, not changed: {len(plan.left_out):,}\n"
        f"- Made at {plan.at}, plan `{plan.digest}`"
    )


def _target_only(target_only: tuple[TargetOnly, ...]) -> str:
    """Return the records that only the target has; an approver accepts that consumers on the source miss them."""
    if not target_only:
        return "No record was written to the target after the copy."
    rows = [(shown(each.topic), each.count, offsets_words(each.first)) for each in target_only]
    header = ("Topic", "Records on the target only", "First offsets")
    words = "**These records remain on the target.** No consumer on the source will read them:"
    return f"### Records only on the target\n\n{words}\n\n{table(header, rows)}"


def _groups_table(plan: RollbackPlan) -> str:
    if not plan.groups:
        return "No consumer group is affected."
    rows = [
        (
            shown(group.group),
            _what_happens(group),
            f"{group.delivered_again:,}" if group.topics else "not counted",
            f"{sum(topic.unread for topic in group.topics):,}" if group.topics else "not counted",
            ", ".join(sorted({finding.code for finding in (*group.refusals, *group.warnings)} - TOLD_BELOW)) or "–",
        )
        for group in plan.groups[:MAX_GROUPS]
    ]
    header = ("Group", "What happens", "Delivered again", "Unread", "Codes")
    return f"### All groups\n\n{table(header, rows)}{more_words(len(plan.groups) - MAX_GROUPS, 'groups')}"


def _what_happens(group: GroupReturn) -> str:
    if group.refusals:
        return "not changed"
    if group.is_removed:
        return "its offsets are deleted"
    return f"{len(group.proposed):,} offsets" if group.proposed else "nothing to write"


def _group_section(group: GroupReturn) -> str:
    parts = [
        f"#### {shown(group.group)}",
        _topics_table(group.topics) if group.topics else _offsets_table(group),
        findings_list((*group.refusals, *group.warnings)),
    ]
    return "\n\n".join(part for part in parts if part)


def _topics_table(topics: tuple[ReturnedTopic, ...]) -> str:
    header = ("Topic", "On the target", "Source before", "Source proposed", "Unread", "Delivered again", "Proof")
    rows = [
        (
            shown(topic.topic),
            offsets_words(topic.target_commits),
            offsets_words(topic.source_before),
            offsets_words(topic.source_offsets),
            f"{topic.unread:,}",
            f"{topic.delivered_again:,}{'' if topic.is_minimal else ' (not minimal)'}",
            PROOF_WORDS[topic.proof],
        )
        for topic in topics[:MAX_ROWS_OF_GROUP]
    ]
    return f"{table(header, rows)}{more_words(len(topics) - MAX_ROWS_OF_GROUP, 'topics')}"


def _offsets_table(group: GroupReturn) -> str:
    if not group.is_changed:
        return ""
    partitions = sorted({*group.present, *group.proposed})
    rows = [
        (f"{shown(p.topic)} {p.partition}", _offset(group.present, p), _offset(group.proposed, p))
        for p in partitions[:MAX_ROWS_OF_GROUP]
    ]
    more = more_words(len(partitions) - MAX_ROWS_OF_GROUP, "partitions")
    return f"{table(('Partition', 'Now', 'Proposed'), rows)}{more}"


def _offset(commits: Commits, partition: TopicPartition) -> str:
    found = commits.get(partition)
    return "none" if found is None else f"{found.offset:,}"


def steps_after_rollback(
    *,
    source: str,
    target: str,
    topics: Collection[str],
    put_back: Collection[str],
    left_behind: Mapping[str, tuple[Finding, ...]],
) -> tuple[str, ...]:
    """Return the operator's steps after a rollback, in order; `source` and `target` are the Airflow connections."""
    names = ", ".join(map(plain_name, sorted(put_back)))
    steps = [f"Start the producers of {', '.join(sorted(topics))} with the bootstrap servers of `{source}`."]
    steps += [f"Start the consumers of {names} with the bootstrap servers of `{source}`."] if names else []
    steps += [_left(group, findings, target) for group, findings in sorted(left_behind.items())]
    steps.append(
        "The migration can continue: the next run mirrors these topics again if no client wrote to them on "
        f"`{target}`. Otherwise it is refused (TARGET_WRITTEN_BY_OTHERS): then copy the topics again with a new "
        "migration file (another name; runbook, A topic is copied again). Pause the schedules until you know."
    )
    return tuple(steps)


def _left(group: str, findings: tuple[Finding, ...], target: str) -> str:
    codes = ", ".join(sorted({str(finding.code) for finding in findings}))
    return (
        f"{group_subject(group)} was not changed ({codes}). When the cause is resolved, move it by hand: its offsets "
        f"on `{target}` are in this run's evidence."
    )
