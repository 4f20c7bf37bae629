"""The offsets plan as Markdown: the text that an approver sees."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.not_moved import not_moved
from kafka_migration.core.groups.plan import GroupPlan, GroupVerdict, OffsetsPlan, PlannedOffset, PlannedTopic, Proof
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.migration.settings import ROLLBACK_DAG_PREFIX
from kafka_migration.core.text.markdown import escaped, shown, table

# The text is stored with the question and shown in a browser; the whole plan is in the evidence.
MAX_ROWS = 300
MAX_ROWS_OF_GROUP = 50
MAX_FINDINGS_OF_GROUP = 10
MAX_GROUPS = 200
MAX_PARTITIONS_OF_TOPIC = 20
# Shown only once, in the section of what is not moved.
TOLD_BELOW = {Code.OFFSET_NEVER_COMMITTED}
PROOF_WORDS = {
    Proof.RECORD: "same record",
    Proof.END: "all read",
    Proof.NONE: "not yet",
    Proof.COPIES: "copies of all unread",
    Proof.LEDGER: "by the ledger",
}


def render_plan(plan: OffsetsPlan, migration: str) -> str:
    """Return the plan: a summary, all groups in one table, then each group with its partitions."""
    sections = [
        _headline(plan, migration),
        _groups_table(plan),
        *_group_sections(plan),
        _left_out(plan),
        _not_moved(plan),
        _last_word(plan, migration),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _headline(plan: OffsetsPlan, migration: str) -> str:
    what = (
        "An approval writes these offsets to the consumer groups on the target. Nothing has been written so far."
        if plan.is_final
        else "A rehearsal: nothing is written. Offsets of groups and topics will change until the cutover."
    )
    unconcerned = (
        f"\n- Not affected: {plan.unconcerned:,} groups that read only other topics" if plan.unconcerned else ""
    )
    return (
        f"## Consumer groups of migration {shown(migration)}\n\n{what}\n\n"
        f"- Planned: {len(plan.planned):,} groups, left out: {len(plan.left_out):,}\n"
        f"- Skipped records: 0, {_proved(plan.planned)}; delivered again: {_total(plan.planned):,}\n"
        f"- Made at {plan.at}, plan `{plan.digest}`{unconcerned}"
    )


def _proved(groups: Iterable[GroupPlan]) -> str:
    proofs = [proof for group in groups for proof in group.proofs]
    unproved, by_ledger = proofs.count(Proof.NONE), proofs.count(Proof.LEDGER)
    proved = f"{len(proofs) - unproved:,} of {len(proofs):,} offsets" if unproved else "every offset"
    return f"proved for {proved}{f' ({by_ledger:,} only by the ledger)' if by_ledger else ''}"


def _total(groups: Iterable[GroupPlan]) -> int:
    return sum(group.delivered_again for group in groups)


def _groups_table(plan: OffsetsPlan) -> str:
    if not plan.groups:
        return "No consumer group is affected."
    rows = [
        (
            shown(group.group),
            str(group.verdict),
            f"{len(group.proposed):,}",
            f"{len(group.unset):,}",
            f"{group.delivered_again:,}" if group.proposed else "–",
            _unread(plan, group) if group.proposed else "–",
            ", ".join(sorted({f.code for f in (*group.refusals, *group.warnings)} - TOLD_BELOW)) or "–",
        )
        for group in plan.groups[:MAX_GROUPS]
    ]
    header = ("Group", "Verdict", "Offsets", "Never committed", "Delivered again", "Unread (at most)", "Codes")
    return f"### All groups\n\n{table(header, rows)}{more_words(len(plan.groups) - MAX_GROUPS, 'groups')}"


def _unread(plan: OffsetsPlan, group: GroupPlan) -> str:
    """Return how many records the group has not read on the target, counted in offsets (an upper bound)."""
    ends = [(plan.target_end_offsets.get(o.partition), o.target_offset) for o in group.offsets]
    if any(end is None for end, _ in ends) or any(topic.proof is Proof.LEDGER for topic in group.topics):
        return "not known"
    of_topics = sum(topic.unread for topic in group.topics)
    return f"{of_topics + sum(max(0, end - offset) for end, offset in ends if end is not None):,}"


def _group_sections(plan: OffsetsPlan) -> Iterable[str]:
    left = MAX_ROWS
    for group in plan.planned[:MAX_GROUPS]:
        rows = min(left, MAX_ROWS_OF_GROUP)
        if rows == 0:
            return
        left -= min(rows, len(group.offsets) + len(group.topics))
        yield _group_section(group, rows)


def _group_section(group: GroupPlan, max_rows: int) -> str:
    header = ("Partition", "Source committed", "Target before", "Target proposed", "Delivered again", "Proof")
    rows = [_row(offset) for offset in group.offsets[:max_rows]]
    parts = [
        f"### {shown(group.group)}: {group.verdict}",
        f"{table(header, rows)}{more_words(len(group.offsets) - max_rows, 'partitions')}" if rows else "",
        _topics_table(group.topics, max_rows),
        "It still reads on the source, so these offsets will change." if group.is_active_on_source else "",
        findings_list(tuple(f for f in group.warnings if f.code not in TOLD_BELOW)),
    ]
    return "\n\n".join(part for part in parts if part)


def _row(offset: PlannedOffset) -> tuple[str, ...]:
    return (
        _partition(offset.partition),
        f"{offset.source_offset:,}",
        "none" if offset.target_before is None else f"{offset.target_before:,}",
        f"{offset.target_offset:,}",
        f"{offset.delivered_again:,}",
        PROOF_WORDS[offset.proof],
    )


def _topics_table(topics: tuple[PlannedTopic, ...], max_rows: int) -> str:
    """Return the topics whose copy does not keep partitions; the offsets of one topic belong together."""
    header = ("Topic", "Source committed", "Target before", "Target proposed", "Unread", "Delivered again", "Proof")
    rows = [_topic_row(topic) for topic in topics[:max_rows]]
    return f"{table(header, rows)}{more_words(len(topics) - max_rows, 'topics')}" if topics else ""


def _topic_row(topic: PlannedTopic) -> tuple[str, ...]:
    at_most = "at most " if topic.proof is Proof.LEDGER else ""
    return (
        shown(topic.topic),
        offsets_words({p: commit.offset for p, commit in topic.source_commits.items()}),
        offsets_words(topic.target_before),
        offsets_words(topic.target_offsets),
        "not known" if topic.proof is Proof.LEDGER else f"{topic.unread:,}",
        f"{at_most}{topic.delivered_again:,}{'' if topic.is_minimal else ' (not minimal)'}",
        PROOF_WORDS[topic.proof],
    )


def offsets_words(offsets: Offsets) -> str:
    """Return offsets by partition number on one line, the first of many."""
    some = [f"{p.partition}: {offset:,}" for p, offset in sorted(offsets.items())[:MAX_PARTITIONS_OF_TOPIC]]
    more = len(offsets) - len(some)
    return "; ".join(some) + (f"; … and {more:,} more" if more else "") or "none"


def _partition(partition: TopicPartition) -> str:
    return f"{shown(partition.topic)} {partition.partition}"


def _left_out(plan: OffsetsPlan) -> str:
    if not plan.left_out:
        return ""
    groups = "\n\n".join(
        f"#### {shown(group.group)}\n\n{findings_list(group.refusals)}"
        for group in plan.left_out[:MAX_GROUPS]
        if not {finding.code for finding in group.refusals} <= TOLD_BELOW
    )
    return f"### Left out: nothing is written for these groups\n\n{groups}" if groups else ""


def _not_moved(plan: OffsetsPlan) -> str:
    """Return everything that is not moved, each with the reason, so that no group is dropped silently."""
    rows = [
        (shown(row.group), shown(row.topic) if row.topic else "–", _numbers(row.partitions), row.reason)
        for row in not_moved(plan)
    ]
    header = ("Group", "Topic", "Partitions", "Why")
    more = more_words(len(rows) - MAX_ROWS, "entries")
    return f"### Not moved by this run\n\n{table(header, rows[:MAX_ROWS])}{more}" if rows else ""


def _numbers(partitions: tuple[int, ...]) -> str:
    some = ", ".join(map(str, partitions[:MAX_PARTITIONS_OF_TOPIC]))
    more = len(partitions) - MAX_PARTITIONS_OF_TOPIC
    return f"{some}, … and {more:,} more" if more > 0 else some or "–"


def findings_list(findings: tuple[Finding, ...]) -> str:
    """Return findings as a list, the first of many; empty without any."""
    lines = [
        f"- **{f.code}** · {escaped(f.subject)}: found {escaped(f.found)}; expected {escaped(f.expected)}. "
        f"{escaped(f.remedy)}"
        for f in findings[:MAX_FINDINGS_OF_GROUP]
    ]
    return "\n".join(lines) + more_words(len(findings) - MAX_FINDINGS_OF_GROUP, "findings") if lines else ""


def more_words(count: int, what: str) -> str:
    """Say how many are not shown; empty if all are."""
    return f"\n\n… and {count:,} more {what}; the whole plan is in the evidence." if count > 0 else ""


def _last_word(plan: OffsetsPlan, migration: str) -> str:
    verdicts = {group.verdict for group in plan.groups}
    provisional = (
        "Provisional offsets become exact in the cutover, when these groups and the producers have stopped. "
        if GroupVerdict.PROVISIONAL in verdicts
        else ""
    )
    reversible = (
        "This approval is the last step before anything changes for the consumers. The current offsets are saved "
        "first. To go back: until a consumer commits or a producer writes on the target, start everything on the "
        f"source again. After that, trigger `{ROLLBACK_DAG_PREFIX}{migration}`: mode `fail_back` moves the groups on "
        "the source to the records that they have reached on the target. Offsets of a group without consumers expire "
        "after the target's `offsets.retention.minutes` (7 days unless set otherwise)."
    )
    return f"{provisional}{reversible if plan.is_final else ''}".strip()
