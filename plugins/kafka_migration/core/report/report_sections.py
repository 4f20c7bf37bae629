"""The sections of a run's report: verdict first, then why, what to do, and the numbers."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.core.cutover.approval import Ask
from kafka_migration.core.cutover.plan_page import offsets_words
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.group_sections import groups
from kafka_migration.core.report.run_document import ConditionResult, Deadline, RunDocument
from kafka_migration.core.report.run_phases import seconds_between
from kafka_migration.core.report.sections import Line, Name, Section, Strong, Table, finding_lines, section_of, table_of
from kafka_migration.core.report.topic_sections import differences, topic_list, topics
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.core.watching.producers_question import ProducersAsk


def report_of(run: RunDocument) -> Section:
    """Return the report: a section with the result, and a part for each subject that the run has."""
    parts = (
        section_of("What is wrong", finding_lines(run.findings)),
        section_of("Worth knowing", finding_lines(run.warnings)),
        section_of("Accepted by the migration file", finding_lines(_accepted(run))),
        _ready(run),
        section_of("What to do next", run.next_steps, is_numbered=True),
        section_of("Who", tuple(_decisions(run))),
        _times(run),
        topic_list(run),
        topics(run),
        differences(run),
        groups(run),
        _target_only(run),
        _decommission(run),
        table_of("Hooks", ("When", "What", "Ended", "Result"), tuple(_hooks(run))),
        section_of("MirrorMaker", tuple(_mirror(run))),
        table_of("Tasks", ("Task", "State"), tuple((task, state or "not run") for task, state in run.tasks.items())),
    )
    return Section(_title(run), facts=tuple(_identity(run)), parts=tuple(each for part in parts for each in part))


def _title(run: RunDocument) -> str:
    of = f", records of {run.interval.start.isoformat()} to {run.interval.end.isoformat()}" if run.interval else ""
    return f"{run.migration}{of}: {_result(run)}"


def _result(run: RunDocument) -> str:
    if run.mode in {Mode.RESTORE, Mode.FAIL_BACK}:
        return f"rollback ({run.outcome})"
    return f"{run.verdict or 'no verdict'} ({run.outcome})"


def _identity(run: RunDocument) -> Iterator[Line]:
    of = f" of generation {run.generations}" if run.generations else ""
    yield "Run: ", Name(run.run_id), " of ", Name(run.dag_id), f", attempt {run.attempt}, mode ", Name(run.mode), of
    if run.reason:
        yield f"Nothing was done: {run.reason}"
    yield f"Finished: {run.finished_at}"
    yield "Migration file: SHA-256 ", Name(run.migration_digest), f", package {run.package_version}"
    if run.note:
        yield f"Note: {run.note}"


def _accepted(run: RunDocument) -> tuple[Finding, ...]:
    return run.steps.preflight.accepted if run.steps.preflight else ()


def _ready(run: RunDocument) -> tuple[Section, ...]:
    if run.readiness is None:
        return ()
    answer: Line = (Strong("Yes."),) if run.readiness.is_ready else (Strong("No"), ", because:")
    return (Section("Ready for cutover?", (answer,), facts=(*run.readiness.against, *run.readiness.notes)),)


def _decisions(run: RunDocument) -> Iterator[Line]:
    """Yield who triggered the run, and the answers to its questions."""
    if run.triggered_by:
        yield f"Triggered by: {run.triggered_by}"
    if run.steps.producers:
        yield f"Producers: {_producers(run.steps.producers)}"
    if run.steps.approve:
        yield _approval(run.steps.approve)


def _producers(asked: ProducersAsk) -> str:
    if asked.chosen is None:
        return (
            f"asked at {asked.announced_at} to stop them; no one answered; the run continued because the source was "
            "quiet"
        )
    return f"{asked.by} answered “{asked.chosen}” at {asked.answered_at}"


def _approval(ask: Ask) -> Line:
    if ask.answered_at is None:
        return f"Approval: asked at {ask.asked_at}; no answer so far"
    if ask.chosen is None:
        return f"Approval: asked at {ask.asked_at}; no answer in time"
    answer = f"Approval: {ask.who} chose “{ask.chosen}” at {ask.answered_at} (asked at {ask.asked_at}, plan "
    return answer, Name(ask.digest[:12]), ")"


def _times(run: RunDocument) -> tuple[Section, ...]:
    """Return the section on the phases, and on the deadlines that are not over yet; none without any."""
    rows = tuple((each.name, each.began_at, duration(each.seconds), each.did or "–") for each in run.phases)
    phases = Table(("Phase", "Started", "Duration", "Amount"), rows) if rows else None
    limits = tuple(_deadline(each) for each in run.deadlines if seconds_between(run.finished_at, each.at))
    total = seconds_between(run.started_at, run.finished_at)
    whole = () if total is None else (f"Total: {duration(total)}, from {run.started_at} to {run.finished_at}.",)
    return (Section("Times", (), phases, limits, whole),) if phases or limits else ()


def _deadline(each: Deadline) -> str:
    return f"{each.what} before {each.at}" + (f": {each.why}." if each.why else ".")


def _target_only(run: RunDocument) -> tuple[Section, ...]:
    planned = run.steps.rollback_plan
    rows = tuple(
        (Name(each.topic), each.count, offsets_words(each.first_offsets))
        for each in (planned.plan.target_only if planned else ())
    )
    return table_of("Records only on the target", ("Topic", "Records on the target only", "First offsets"), rows)


def _decommission(run: RunDocument) -> tuple[Section, ...]:
    if not run.decommission:
        return ()
    rows = tuple((each.condition, each.state.upper(), _because(each)) for each in run.decommission)
    may_go = all(each.state == "met" for each in run.decommission)
    answer: Line = (
        (Strong("Yes"), ": all conditions are met.") if may_go else (Strong("No"), ": all conditions must be met.")
    )
    return (Section("May the source be switched off?", (answer,), Table(("Condition", "State", "Because"), rows)),)


def _because(found: ConditionResult) -> str:
    return some(found.reasons, len(found.reasons), separator="; ", longest=LONGEST_SENTENCE) or "–"


def _hooks(run: RunDocument) -> Iterator[tuple[Line, ...]]:
    for hook in run.hooks:
        yield hook.hook, hook.called, hook.at, str(hook.result)


def _mirror(run: RunDocument) -> Iterator[Line]:
    watch, stop = run.steps.watch, run.steps.stop
    if watch and watch.progress:
        yield f"Last progress: {watch.progress}"
    if stop and (ended := stop.certificate):
        manner = "gracefully" if ended.graceful else "ungracefully"
        yield f"Generation {ended.generation} ended {manner} (exit code {ended.exit_code}): {ended.reason}"
