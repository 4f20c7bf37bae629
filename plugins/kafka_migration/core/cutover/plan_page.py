"""The offsets plan of a cutover or a rollback as Markdown, and the page on which an approver sees it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.cutover.not_moved import not_moved
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.offsets_plan import GroupPlan, GroupVerdict, OffsetsMove, OffsetsPlan, Proof
from kafka_migration.core.kafka.offsets import Offsets, offsets_of
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.run.run_identity import ROLLBACK_DAG_PREFIX
from kafka_migration.core.run.run_names import run_name
from kafka_migration.core.text.local_time import IN_UTC, LocalTime
from kafka_migration.core.text.markdown import aligned_table, escaped, shown
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import duration, record_count
from kafka_migration.core.validation.judge_document import JudgeDocument, JudgedTopic

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
    Proof.SAVED: "as before the cutover",
    Proof.RULE: "cutover.uncommitted",
}


_WHAT = {
    Mode.REHEARSE: "A rehearsal: nothing is written. Offsets of groups and topics will change until the cutover.",
    Mode.CUTOVER: "An approval writes these offsets to the consumer groups on the target. Nothing has been written so "
    "far.",
    Mode.RESTORE: "An approval sets these groups on the **target** back to their offsets before the cutover. Nothing "
    "is written on the source: there they resume where they stopped. Nothing has been written so far. The current "
    "offsets are saved first.",
    Mode.FAIL_BACK: "An approval writes the offsets of these groups on the **source**, so that they continue there "
    "from the records that they have reached on the target. Nothing is changed on the target. Nothing has been written "
    "so far. The current offsets are saved first.",
}


def render_plan(plan: OffsetsPlan, migration: str, local: LocalTime = IN_UTC) -> str:
    """Return the plan: a summary, all groups in one table, then each group with its partitions."""
    sections = [
        _headline(plan, migration, local),
        _target_only(plan) if plan.is_rollback else _unproved_topics(plan),
        _groups_table(plan),
        *_group_sections(plan),
        _left_out(plan),
        "" if plan.is_rollback else _not_moved(plan),
        _last_word(plan, migration),
    ]
    return _joined(sections) + "\n"


def _joined(parts: Iterable[str]) -> str:
    return "\n\n".join(filter(None, parts))


def _headline(plan: OffsetsPlan, migration: str, local: LocalTime) -> str:
    title = "Rollback" if plan.is_rollback else "Consumer groups"
    lines = [*_counts(plan), f"Made at {local.second(plan.at)}, plan `{plan.digest}`"]
    if plan.unconcerned:
        lines.append(f"Not affected: {plan.unconcerned:,} groups that read only other topics")
    points = "\n".join(f"- {line}" for line in lines)
    return f"## {title} of migration {shown(migration)}\n\n{_WHAT[plan.mode]}\n\n{points}"


def _counts(plan: OffsetsPlan) -> tuple[str, ...]:
    if plan.is_rollback:
        topics = f"Topics: {some(plan.topics, word=shown, where='the whole plan is in the evidence')}"
        return topics, f"Groups to change: {len(plan.changed):,}, not changed: {len(plan.left_out):,}"
    again = sum(group.delivered_again for group in plan.planned)
    return (
        f"Planned: {len(plan.planned):,} groups, left out: {len(plan.left_out):,}",
        f"Skipped records: 0{_but(plan)}, {_proved(plan)}; delivered again: {again:,}",
        *_purged(plan),
    )


def _but(plan: OffsetsPlan) -> str:
    """Limit what the plan promises: deleted records cannot be read, and the file may give up records."""
    by_rule = any(Proof.RULE in group.proofs for group in plan.planned)
    limits = [
        *(["of those that are left on a cluster"] if any(group.purged for group in plan.planned) else []),
        *(["except where `cutover.uncommitted` decides"] if by_rule else []),
    ]
    return "".join(f" {limit}" for limit in limits)


def _purged(plan: OffsetsPlan) -> Iterable[str]:
    groups = [group for group in plan.planned if group.purged]
    if groups:
        count = sum(sum(group.purged.values()) for group in groups)
        yield (
            f"Deleted on the source before they were read: {count:,} offsets at most, of {len(groups):,} groups "
            f"(`{Code.UNREAD_RECORDS_DELETED}`). They are on neither cluster"
        )


def _proved(plan: OffsetsPlan) -> str:
    proofs = [proof for group in plan.planned for proof in group.proofs]
    unproved, by_ledger, by_rule = (proofs.count(each) for each in (Proof.NONE, Proof.LEDGER, Proof.RULE))
    proved = f"{len(proofs) - unproved:,} of {len(proofs):,} offsets" if unproved else "every offset"
    words = [
        *([f"{by_ledger:,} only by the ledger"] if by_ledger else []),
        *([f"{by_rule:,} as `cutover.uncommitted` says"] if by_rule else []),
    ]
    return f"proved for {proved}" + (f" ({', '.join(words)})" if words else "")


def _target_only(plan: OffsetsPlan) -> str:
    """Return the records that only the target has; an approver accepts that consumers on the source miss them."""
    if not plan.target_only:
        return "No record was written to the target after the copy."
    rows = [(shown(each.topic), each.count, offsets_words(each.first_offsets)) for each in plan.target_only]
    header = ("Topic", "Records on the target only", "First offsets")
    words = "**These records remain on the target.** No consumer on the source will read them:"
    return f"### Records only on the target\n\n{words}\n\n{aligned_table(header, rows)}"


def _unproved_topics(plan: OffsetsPlan) -> str:
    """Return the topics that this run leaves on the source; an approver decides about the others only."""
    if not plan.unproved:
        return ""
    words = (
        "**The copy of these topics is not proved.** They are not cut over: they and the groups that read them remain "
        "on the source. If you approve, start their producers on the source again."
    )
    return f"### Topics that remain on the source\n\n{words}\n\n{findings_list(tuple(plan.unproved.values()))}"


def _groups_table(plan: OffsetsPlan) -> str:
    if not plan.groups:
        return "No consumer group is affected."
    rows = [
        (
            shown(group.group),
            str(group.verdict),
            "all deleted" if group.is_removed else f"{len(group.proposed):,}",
            f"{len(group.unset):,}",
            _again(plan, group.moves, group.delivered_again) if group.proposed else "–",
            record_count(_unread(plan, group.moves)) if group.proposed else "–",
            some(sorted({f.code for f in (*group.refusals, *group.warnings)} - _told_below(plan))) or "–",
        )
        for group in plan.groups[:MAX_GROUPS]
    ]
    header = ("Group", "Verdict", "Offsets", "Never committed", "Delivered again", "Unread (at most)", "Codes")
    return f"### All groups\n\n{aligned_table(header, rows)}{more_words(len(plan.groups) - MAX_GROUPS, 'groups')}"


def _told_below(plan: OffsetsPlan) -> set[Code]:
    return set() if plan.is_rollback else TOLD_BELOW


def _again(plan: OffsetsPlan, moves: Iterable[OffsetsMove], records: int) -> str:
    is_upper_bound = any(move.proof is Proof.LEDGER or not move.is_minimal for move in moves)
    return "not known" if plan.mode is Mode.RESTORE else f"{'at most ' * is_upper_bound}{records:,}"


def _unread(plan: OffsetsPlan, moves: Iterable[OffsetsMove]) -> int | None:
    """Return how many records are not read (an upper bound); `None` if that is not known."""
    counts = [_unread_of(plan, move) for move in moves]
    return None if None in counts else sum(count for count in counts if count is not None)


def _unread_of(plan: OffsetsPlan, move: OffsetsMove) -> int | None:
    """Return the counted records, or count offsets up to the target's end."""
    ends = [(plan.target_end_offsets.get(p), commit.offset) for p, commit in move.proposed.items()]
    if move.unread is not None or move.proof in {Proof.LEDGER, Proof.SAVED} or any(end is None for end, _ in ends):
        return move.unread
    return sum(max(0, end - offset) for end, offset in ends if end is not None)


def _group_sections(plan: OffsetsPlan) -> Iterable[str]:
    left = MAX_ROWS
    for number, group in enumerate(plan.planned[:MAX_GROUPS]):
        rows = min(left, MAX_ROWS_OF_GROUP)
        if rows == 0:
            yield more_words(len(plan.planned) - number, "groups with their offsets and warnings").strip()
            return
        left -= min(rows, len(group.moves))
        yield _group_section(plan, group, rows)


def _group_section(plan: OffsetsPlan, group: GroupPlan, max_rows: int) -> str:
    parts = [
        f"### {shown(group.group)}: {group.verdict}",
        _moves_table(plan, group.moves, max_rows),
        f"Group {shown(group.group)} has members on the source cluster, so these offsets will change."
        if group.is_active_on_source
        else "",
        findings_list(tuple(f for f in group.warnings if f.code not in _told_below(plan))),
    ]
    return _joined(parts)


def _moves_table(plan: OffsetsPlan, moves: tuple[OffsetsMove, ...], max_rows: int) -> str:
    """Return one row per partition; the offsets of a topic that is translated as a whole are one row."""
    left, side = plan.left_side.capitalize(), plan.written_side.capitalize()
    columns = (
        f"{left} committed",
        f"{side} before",
        f"{side} proposed",
        "Unread (at most)",
        "Delivered again",
        "Proof",
    )
    header = ("Partition", *columns)
    rows = [_row(plan, move) for move in moves[:max_rows]]
    more = sum(len(move.partitions) for move in moves[max_rows:])
    return f"{aligned_table(header, rows)}{more_words(more, 'partitions')}" if rows else ""


def _row(plan: OffsetsPlan, move: OffsetsMove) -> tuple[str, ...]:
    partitions = move.partitions
    number = f" {partitions[0].partition}" if len(partitions) == 1 else ""
    offsets = _one_offset if number else offsets_words
    return (
        f"{shown(move.topic)}{number}",
        offsets(offsets_of(move.committed)) if plan.mode is not Mode.RESTORE else "–",
        offsets(move.before),
        offsets(offsets_of(move.proposed)),
        record_count(_unread_of(plan, move)),
        f"{_again(plan, [move], move.delivered_again)}{'' if move.is_minimal else ' (not minimal)'}",
        PROOF_WORDS[move.proof],
    )


def _one_offset(offsets: Offsets) -> str:
    return next((f"{offset:,}" for offset in offsets.values()), "none")


def offsets_words(offsets: Offsets) -> str:
    """Return offsets by partition number on one line, the first of many."""
    texts = [f"{p.partition}: {offset:,}" for p, offset in sorted(offsets.items())]
    return some(texts, MAX_PARTITIONS_OF_TOPIC, separator="; ") or "none"


def _left_out(plan: OffsetsPlan) -> str:
    if not plan.left_out:
        return ""
    groups = _joined(
        _joined(_left_out_group(plan, group))
        for group in plan.left_out[:MAX_GROUPS]
        if not {finding.code for finding in (*group.refusals, *group.warnings)} <= _told_below(plan)
    )
    return f"### Left out: nothing is written for these groups\n\n{groups}" if groups else ""


def _left_out_group(plan: OffsetsPlan, group: GroupPlan) -> tuple[str, ...]:
    table_of_moves = _moves_table(plan, group.moves, MAX_ROWS_OF_GROUP)
    return f"#### {shown(group.group)}", table_of_moves, findings_list((*group.refusals, *group.warnings))


def _not_moved(plan: OffsetsPlan) -> str:
    """Return everything that is not moved, each with the reason, so that no group is dropped silently."""
    rows = [
        (
            shown(row.group),
            shown(row.topic) if row.topic else "–",
            _partitions(row.partitions),
            escaped(row.reason),
        )
        for row in not_moved(plan)
    ]
    header = ("Group", "Topic", "Partitions", "Why")
    more = more_words(len(rows) - MAX_ROWS, "entries")
    return f"### Not moved by this run\n\n{aligned_table(header, rows[:MAX_ROWS])}{more}" if rows else ""


def _partitions(partitions: tuple[int, ...]) -> str:
    return some([str(each) for each in partitions], MAX_PARTITIONS_OF_TOPIC) or "–"


def findings_list(findings: tuple[Finding, ...]) -> str:
    """Return findings as a list, the first of many; empty without any."""
    lines = [
        line
        for finding in findings[:MAX_FINDINGS_OF_GROUP]
        for line in (
            f"- **{finding.code}** · {escaped(finding.subject)}",
            *(f"    - {escaped(sentence)}" for sentence in finding.sentences),
        )
    ]
    return "\n".join(lines) + more_words(len(findings) - MAX_FINDINGS_OF_GROUP, "findings") if lines else ""


def more_words(count: int, what: str) -> str:
    """Say how many are not shown; empty if all are."""
    return f"\n\n… and {count:,} more {what}; the whole plan is in the evidence." if count > 0 else ""


def _last_word(plan: OffsetsPlan, migration: str) -> str:
    if plan.is_rollback:
        return "Stop the producers on the target first: records that they write from now on also remain only there."
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


# The text is stored with the question; the report has every topic.
MAX_TOPICS = 100


@dataclass(frozen=True, slots=True)
class Asking:
    """What the approval page shows in addition to the plan.

    `judged` is the newest verdict of the run, `None` if it has none (a rollback). `approve` says what an approval
    does. `folder` locates the evidence, `link` the run, whose holder is `run`. `still` are sentences on how long
    clients stand still. `local` is how people read its moments.
    """

    ask: Ask
    judged: JudgeDocument | None
    approve: str
    folder: str
    run: str
    link: str
    four_eyes_of: str = ""
    still: Sequence[str] = ()
    local: LocalTime = IN_UTC


def approval_page(asking: Asking, plan: str) -> str:
    """Return the whole page, as Markdown."""
    return _joined((_before_you_answer(asking), _verdict(asking.judged), plan))


def _before_you_answer(asking: Asking) -> str:
    ask = asking.ask
    until = asking.local.weekday(ask.until or "not known")
    lines = (
        f"**Approve**: {asking.approve}",
        "**Reject**: ends the run as failed (`APPROVAL_REFUSED`). Nothing is written and no group is moved. The same "
        "happens without an answer before the deadline (`APPROVAL_TIMED_OUT`).",
        f"**Deadline**: {until}, {duration(ask.time_limit_s)} after the request. If the "
        "task was cleared since, the time limit started again.",
        f"**Who may answer**: {_who(asking)}",
        *([f"**Standing still**: {escaped(' '.join(asking.still))}"] if asking.still else []),
        f"**Run**: [{escaped(run_name(asking.run))}]({asking.link})",
        f"**Evidence**: {shown(asking.folder)}; the reports are added when the run ends.",
    )
    return "## Before you answer\n\n" + "\n".join(f"- {line}" for line in lines)


def _who(asking: Asking) -> str:
    approvers = ", ".join(map(shown, asking.ask.approvers)) or "every user with the right to answer in Airflow"
    other = f"; not {shown(asking.four_eyes_of)}, who triggered the run" if asking.four_eyes_of else ""
    return f"{approvers}{other}"


def _verdict(judged: JudgeDocument | None) -> str:
    if judged is None:
        return ""
    topics = judged.topics
    rows = [
        (shown(topic.topic), topic.verdict, *_whole(topic), record_count(topic.target_records))
        for topic in topics[:MAX_TOPICS]
    ]
    header = ("Topic", "This run", "Whole topic", "Proved in total", "Compared by this run")
    more = f"\n\n… and {len(topics) - MAX_TOPICS:,} more topics." if len(topics) > MAX_TOPICS else ""
    return f"## Verdict on the copy: {judged.verdict}\n\n{aligned_table(header, rows)}{more}"


def _whole(topic: JudgedTopic) -> tuple[str, str]:
    whole = topic.whole
    return (whole.standing, record_count(whole.target_records)) if whole else ("not yet compared", "–")
