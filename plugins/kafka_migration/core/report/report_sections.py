"""The sections of a run's report: verdict first, then why, what to do, and the numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.cutover.plan_page import more_words, offsets_words
from kafka_migration.core.groups.offsets_plan import OffsetsMove, OffsetsPlan
from kafka_migration.core.kafka.offsets import offsets_of
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.first_page import MOVED, proved, still_charts, still_words, to_keep
from kafka_migration.core.report.run_document import Deadline, GroupResult, RunDocument
from kafka_migration.core.report.sections import (
    Line,
    Name,
    Section,
    ShellCommand,
    Strong,
    Table,
    finding_line,
    finding_lines,
    section_of,
    table_of,
)
from kafka_migration.core.report.standing_still import seconds_between
from kafka_migration.core.rollback.decommission import may_go
from kafka_migration.core.run.stand_still import PhaseTime, StandStill
from kafka_migration.core.text.local_time import LocalTime
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, MOST_NAMES, some
from kafka_migration.core.text.terminal_text import counted, duration, record_count
from kafka_migration.core.validation.difference_words import describe_counts, kcat_command
from kafka_migration.core.validation.differences import Difference
from kafka_migration.core.validation.judge_document import JudgedDifferences, JudgedTopic
from kafka_migration.core.watching.producers_question import ProducersAsk


def report_of(run: RunDocument) -> Section:
    """Return the report: a section with the result, and a part for each subject that the run has.

    The first page is for readers who were not there; the details begin with what is wrong.
    """
    accepted = run.steps.preflight.accepted if run.steps.preflight else ()
    still = standing_still(run) or _still_not_known(run)
    first = (proved(run), section_of("Who", tuple(decisions(run))), still, to_keep(run))
    details = (
        section_of("What is wrong", finding_lines(run.findings)),
        _ready(run),
        section_of("What to do next", run.next_steps, is_numbered=True),
        section_of("Worth knowing", finding_lines(run.warnings)),
        section_of("Accepted by the migration file", finding_lines(accepted)),
        _times(run),
        topic_list(run),
        topics(run),
        differences(run),
        groups(run),
        _target_only(run),
        decommission(run),
        table_of("Hooks", ("When", "What", "Ended", "Result"), tuple(_hooks(run))),
        section_of("MirrorMaker", tuple(_mirror(run))),
        table_of("Tasks", ("Task", "State"), tuple((task, state or "not run") for task, state in run.tasks.items())),
    )
    parts = [each for part in details for each in part]
    begun = (replace(parts[0], begins_page=True), *parts[1:]) if parts else ()
    return Section(
        _title(run),
        tuple(_answer(run)),
        facts=tuple(_identity(run)),
        parts=(*(s for part in first for s in part), *begun),
    )


def _title(run: RunDocument) -> str:
    local, interval = run.local, run.interval
    of = f", records of {local.minute(interval.start)} to {local.minute(interval.end)}" if interval else ""
    return f"{run.migration}{of}: {_result(run)}"


def _result(run: RunDocument) -> str:
    if run.mode in {Mode.RESTORE, Mode.FAIL_BACK}:
        return f"rollback ({run.outcome})"
    return f"{run.verdict or 'no verdict'} ({run.outcome})"


def _answer(run: RunDocument) -> Iterator[Line]:
    """Yield the findings of the run in a sentence, and whether a cutover may follow."""
    if run.findings:
        codes = some(run.codes)
        yield Strong("Something is wrong"), f": {codes}. “What is wrong” says what, “What to do next” what to do."
    elif run.has_failed:
        yield Strong("The run failed"), " without a finding. “What to do next” says where to look."
    if run.readiness:
        yield "Ready for a cutover: ", Strong("yes" if run.readiness.is_ready else "no"), "."


def _identity(run: RunDocument) -> Iterator[Line]:
    of = f" of generation {run.generations}" if run.generations else ""
    yield "Run: ", Name(run.run_id), " of ", Name(run.dag_id), f", attempt {run.attempt}, mode ", Name(run.mode), of
    if run.reason:
        yield f"Nothing was done: {run.reason}"
    yield f"Finished: {run.local.second(run.finished_at)}"
    yield "Migration file: SHA-256 ", Name(run.migration_digest), f", package {run.package_version}"
    if run.note:
        yield f"Note: {run.note}"


def _ready(run: RunDocument) -> tuple[Section, ...]:
    if run.readiness is None:
        return ()
    answer: Line = (Strong("Yes."),) if run.readiness.is_ready else (Strong("No"), ", because:")
    return (Section("Ready for cutover?", (answer,), facts=(*run.readiness.against, *run.readiness.notes)),)


def decisions(run: RunDocument) -> Iterator[Line]:
    """Yield who triggered the run, and the answers to its questions."""
    if run.triggered_by:
        yield f"Triggered by: {run.triggered_by}"
    if run.steps.producers:
        yield f"Producers: {_producers(run.steps.producers, run.local)}"
    if run.steps.approve:
        yield _approval(run.steps.approve, run.local)


def _producers(asked: ProducersAsk, local: LocalTime) -> str:
    if asked.chosen is None:
        return (
            f"asked at {local.second(asked.announced_at)} to stop them; no one answered; the run continued because the "
            "source was quiet"
        )
    return f"{asked.by} answered “{asked.chosen}” at {local.second(asked.answered_at or '')}"


def _approval(ask: Ask, local: LocalTime) -> Line:
    asked = f"asked at {local.second(ask.asked_at)}"
    if ask.answered_at is None:
        return f"Approval: {asked}; no answer so far"
    if ask.chosen is None:
        return f"Approval: {asked}; no answer in time"
    answer = f"Approval: {ask.who} chose “{ask.chosen}” at {local.second(ask.answered_at)} ({asked}, plan "
    return answer, Name(ask.digest[:12]), ")"


def _times(run: RunDocument) -> tuple[Section, ...]:
    """Return the section on the phases, and on the deadlines that are not over yet; none without any."""
    rows = tuple(
        (each.name, run.local.cell(each.began_at), duration(each.seconds), each.did or "–") for each in run.phases
    )
    phases = Table(("Phase", "Started", "Duration", "Amount"), rows) if rows else None
    limits = tuple(_deadline(each, run.local) for each in run.deadlines if seconds_between(run.finished_at, each.at))
    total = seconds_between(run.started_at, run.finished_at)
    span = f"from {run.local.second(run.started_at or '')} to {run.local.second(run.finished_at)}"
    whole = () if total is None else (f"Total: {duration(total)}, {span}.",)
    return (Section("Times", (), phases, limits, whole),) if phases or limits else ()


def standing_still(run: RunDocument) -> tuple[Section, ...]:
    """Return how long producers and consumers stood still, by phase; none if the run measured nothing of it."""
    found = run.stood_still
    if found is None:
        return ()
    sides, consumers = (found.producers, found.consumers), {each.phase: each for each in found.consumers.phases}
    rows = (
        *((each.phase, _still(each), _still(consumers.get(each.phase))) for each in found.producers.phases),
        ("Together", *(side.together for side in sides)),
        ("Besides: waiting for an answer", *("–" if s.person_s is None else duration(s.person_s) for s in sides)),
    )
    notes = _REHEARSED if run.mode == Mode.REHEARSE else tuple(_still_limits(found, run.local))
    return table_of(
        _still_title(run), ("Phase", "Producers", "Consumers"), rows, notes=notes, charts=still_charts(found)
    )


def _still_title(run: RunDocument) -> str:
    return f"How long producers and consumers {'would stand' if run.mode == Mode.REHEARSE else 'stood'} still"


def _still_not_known(run: RunDocument) -> tuple[Section, ...]:
    """Return that nothing was measured in a run that could have measured it."""
    is_asked = run.mode in {Mode.CUTOVER, Mode.REHEARSE}
    return (Section(_still_title(run), ("Not known: the run did not measure it.",)),) if is_asked else ()


_REHEARSED = ("A cutover also has a fence, copies what arrived before it, and writes the offsets of the groups.",)


def _still(time: PhaseTime | None) -> str:
    return "–" if time is None else still_words(time)


def _still_limits(found: StandStill, local: LocalTime) -> Iterator[str]:
    for clients, side in (("Producers", found.producers), ("Consumers", found.consumers)):
        began, ended = (local.second(at or "not known") for at in (side.began_at, side.ended_at))
        yield f"{clients}: measured from {began} to {ended}."


def _deadline(each: Deadline, local: LocalTime) -> str:
    return f"{each.what} before {local.weekday(each.at)}" + (f": {each.why}." if each.why else ".")


def _target_only(run: RunDocument) -> tuple[Section, ...]:
    planned = run.steps.rollback_plan
    rows = tuple(
        (Name(each.topic), each.count, offsets_words(each.first_offsets))
        for each in (planned.plan.target_only if planned else ())
    )
    return table_of("Records only on the target", ("Topic", "Records on the target only", "First offsets"), rows)


def decommission(run: RunDocument) -> tuple[Section, ...]:
    """Return whether the source may be switched off, with every condition; none if the run did not look."""
    rows = tuple(
        (each.condition, each.state.upper(), _reasons(each.reasons, len(each.reasons))) for each in run.decommission
    )
    yes, no = (Strong("Yes"), ": all conditions are met."), (Strong("No"), ": all conditions must be met.")
    answer: Line = yes if may_go(run.decommission) else no
    return table_of("May the source be switched off?", ("Condition", "State", "Because"), rows, lead=(answer,))


def _reasons(reasons: tuple[str, ...], most: int = MOST_NAMES) -> str:
    return some(reasons, most, separator="; ", longest=LONGEST_SENTENCE) or "–"


def _hooks(run: RunDocument) -> Iterator[tuple[Line, ...]]:
    for hook in run.hooks:
        yield hook.hook, hook.called, run.local.cell(hook.at), str(hook.result)


def _mirror(run: RunDocument) -> Iterator[Line]:
    watch, stop = run.steps.watched, run.steps.stop
    if watch and watch.progress:
        yield f"Last progress: {watch.progress}"
    if stop:
        ended = stop.certificate
        manner = "gracefully" if ended.graceful else "ungracefully"
        yield f"Generation {ended.generation} ended {manner} (exit code {ended.exit_code}): {ended.reason}"


# The evidence holds the whole plan.
MAX_ROWS = 300
MAX_NOTES = 100
_NOT_WRITTEN = "not written"
# The results of a rollback, where "moved" would mean the opposite.
_ROLLED_BACK = {"moved": "put back", "already_moved": "already there", "not_written": "nothing written"}


def groups(run: RunDocument) -> tuple[Section, ...]:
    """Return the section on the consumer groups; none if no group was planned."""
    is_rollback = run.steps.rollback_plan is not None
    where = "Result" if is_rollback else "On the target"
    header = ("Group", "Plan", where, "Partitions", "Delivered again")
    rows = tuple(_group_row(group, is_rollback) for group in run.groups)
    why = tuple((Name(each.group), f": {_reasons(each.reasons)}") for each in run.groups if each.reasons)
    return table_of("Consumer groups", header, rows, facts=why, parts=(*_offsets(run), *_notes(run)))


def _group_row(group: GroupResult, is_rollback: bool) -> tuple[Line, ...]:
    words = _ROLLED_BACK if is_rollback else {}
    return (
        Name(group.group),
        group.verdict,
        words.get(group.outcome, group.outcome.replace("_", " ")),
        f"{group.partitions:,}",
        record_count(group.delivered_again),
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
    after = "Target now" if any(group.outcome in MOVED for group in run.groups) else "Planned"
    header = ("Group", "Partition", "Source", "Target before", after, "Unread")
    lead = ("Unread is an upper bound.",)
    return table_of("Offsets", header, rows[:MAX_ROWS], lead=lead, notes=_more(len(rows) - MAX_ROWS, "partitions"))


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
            f"{offset:,}" if written in {*MOVED, _NOT_WRITTEN} else f"{offset:,} ({written})",
            "not known" if end is None else f"{max(0, end - offset):,}",
        )


def _offset(offset: int | None) -> str:
    return "none" if offset is None else f"{offset:,}"


_HOW_TO_LOOK = (
    "The first differences of each topic; all of them are in the Parquet file next to the validation's result. The "
    "commands show a record if `SOURCE` and `TARGET` are set to the bootstrap servers."
)
# The reasons of a topic that the report lists; the evidence has more.
_MOST_REASONS = 3


def topic_list(run: RunDocument) -> tuple[Section, ...]:
    """Return what the patterns of the migration file found; none for a file without patterns."""
    return section_of("Topics by pattern", tuple(_by_pattern(run)))


def _by_pattern(run: RunDocument) -> Iterator[str]:
    found = run.steps.topic_list
    if found:
        yield f"Selected by the names and patterns of the migration file: {counted(len(found.topics), 'topic')}."
        if found.new:
            yield f"New on the source: {some(found.new)}."
        if found.vanished:
            yield f"No longer on the source: {some(found.vanished)}."
        yield from (f"Not copied: {topic}, {reason}." for topic, reason in found.left_out.items())


def topics(run: RunDocument) -> tuple[Section, ...]:
    """Return the verdict on each topic, and the first reasons of those that are not proved as a whole."""
    header = ("Topic", "Interval" if run.interval else "This run", "Source", "Target", "Whole topic", "Proved")
    rows, why = tuple(map(_topic_row, run.topics)), tuple(_topic_reasons(run))
    return table_of("Validation", header, rows, lead=_OF_TOPICS, facts=why)


_OF_TOPICS = (
    "Source and target have the records that this run compared. The whole topic has the verdict of all runs together, "
    "and the records on the target that they prove.",
)


def _topic_row(topic: JudgedTopic) -> tuple[Line, ...]:
    return (
        Name(topic.topic),
        topic.verdict,
        record_count(topic.source_records),
        record_count(topic.target_records),
        topic.standing,
        record_count(topic.whole.target_records) if topic.whole else "–",
    )


def _topic_reasons(run: RunDocument) -> Iterator[Line]:
    for topic in run.topics:
        if topic.whole and topic.whole.reasons:
            reasons = "; ".join(topic.whole.reasons[:_MOST_REASONS])
            yield Name(topic.topic), f" as a whole, {topic.standing}: {reasons}"


def differences(run: RunDocument) -> tuple[Section, ...]:
    """Return the first differences of each topic, each with the command that shows its record."""
    found = ((topic.topic, topic.differences) for topic in run.topics if topic.differences)
    parts = tuple(part for topic, each in found for part in _differences(topic, each))
    return (Section("Differences", (_HOW_TO_LOOK,), parts=parts),) if parts else ()


def _differences(topic: str, found: JudgedDifferences) -> tuple[Section, ...]:
    rows = tuple(_difference(topic, found.target_topic, each) for each in found.first)
    title = (Name(topic), f": {describe_counts(found.counts)}")
    return table_of(title, ("Kind", "Fields", "Source", "Target"), rows)


def _difference(topic: str, target_topic: str, found: Difference) -> tuple[Line, ...]:
    return (
        found.kind,
        ", ".join(found.fields) or "–",
        _command("$SOURCE", topic, found.source_partition, found.source_offset),
        _command("$TARGET", target_topic, found.target_partition, found.target_offset),
    )


def _command(brokers: str, topic: str, partition: int | None, offset: int | None) -> str:
    if partition is None or offset is None:
        return "–"
    return ShellCommand(kcat_command(brokers, topic, partition, offset).strip("`"))
