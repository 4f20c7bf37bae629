"""Builds the value of a run from its evidence: its rows, phases and deadlines, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.group_writes import GroupWriteDocument, OffsetsResultDocument
from kafka_migration.core.groups.offsets_plan import GroupPlan, GroupVerdict, OffsetsPlan
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.next_steps import after_run, readiness
from kafka_migration.core.report.run_document import (
    Deadline,
    GroupResult,
    Recorded,
    Refusal,
    RunDocument,
    Steps,
    TimedPhase,
)
from kafka_migration.core.report.standing_still import seconds_between, stand_still
from kafka_migration.core.run.run_window import Interval
from kafka_migration.core.run.task_steps import RunPhase
from kafka_migration.core.stored.stored_documents import (
    STORED_KINDS,
    CutoverDocument,
    HookDocument,
    RollbackPlanDocument,
    RolledBackDocument,
    StartDocument,
    StopDocument,
    Stored,
)
from kafka_migration.core.text.terminal_text import moment
from kafka_migration.core.watching.watch import WatchRecord

NOT_WRITTEN, UNKNOWN = "not written", "unknown"


def assembled(
    begun: RunDocument,
    documents: Mapping[Kind, object],
    refusals: Sequence[Refusal],
    warnings: Sequence[Finding] = (),
    hooks: Sequence[object] = (),
) -> RunDocument:
    """Return the run with what its documents say, and what follows from that.

    :param begun: what is known without the documents
    :param documents: the newest document of each kind
    :param refusals: of the attempt
    :param warnings: those besides the documents' own
    :param hooks: the documents of all hooks that were called
    """
    recorded = Recorded({str(kind): document for kind, document in documents.items()})
    steps = Steps.of({str(kind): documents[kind] for kind in Kind if kind in documents.keys() - _NOT_KEPT}, recorded)
    run = replace(
        begun,
        hooks=tuple(_hooks(hooks, recorded.unfit)),
        interval=_interval(begun.mode, steps),
        groups=_groups(recorded.of(Stored.OFFSETS_RESULT), steps),
        stood_still=stand_still(begun.mode, recorded.of),
        findings=tuple(finding for refusal in refusals for finding in refusal.findings),
        warnings=(*_warnings(recorded, steps), *warnings),
    )
    if judged := recorded.of(Stored.JUDGE):
        run = replace(run, verdict=judged.verdict, records=judged.records, topics=judged.topics, judged_at=judged.at)
    return concluded(replace(run, steps=replace(steps, unfit=tuple(dict.fromkeys(recorded.unfit)))))


def _hooks(documents: Sequence[object], unfit: list[str]) -> Iterator[HookDocument]:
    for document in documents:
        if call := Recorded({Kind.HOOK: document}, unfit).of(Stored.HOOK):
            yield call


def concluded(run: RunDocument) -> RunDocument:
    """Return the run with its phases, deadlines, readiness and next steps, which follow from the rest."""
    timed = replace(run, phases=tuple(phases(run)), deadlines=tuple(deadlines(run.steps)), readiness=readiness(run))
    return replace(timed, next_steps=after_run(timed))


_WITH_WARNINGS = tuple(row for row in STORED_KINDS if hasattr(row.forms[0], "warnings"))


def _warnings(recorded: Recorded, steps: Steps) -> Iterator[Finding]:
    """Yield all warnings; of open transactions those of the newest reading, because earlier ones may have ended."""
    found = (steps.stop and steps.stop.open_transactions, steps.plan and steps.plan.open_transactions)
    read = next((each for each in found if each is not None), None)
    for document in filter(None, map(recorded.of, _WITH_WARNINGS)):
        warnings: tuple[Finding, ...] = getattr(document, "warnings", ())
        yield from (w for w in warnings if read is None or w.code is not Code.SOURCE_TRANSACTION_OPEN)
    yield from read or ()


def _interval(mode: str, steps: Steps) -> Interval | None:
    """Return the interval that the run answers for; `None` in every other mode."""
    return steps.preflight.run_window.interval if steps.preflight and mode == Mode.INTERVAL else None


def _groups(written: OffsetsResultDocument | None, steps: Steps) -> tuple[GroupResult, ...]:
    """Return one row per group of the plan, in its order; without a plan there are none."""
    writes = {each.group: each for each in (written.groups if written else ())}
    plans = [planned.plan for planned in (steps.offsets_plan, steps.rollback_plan) if planned]
    has_begun = steps.has_saved_offsets
    return tuple(_group(plan, group, writes.get(group.group), has_begun) for plan in plans for group in plan.groups)


def _group(plan: OffsetsPlan, group: GroupPlan, write: GroupWriteDocument | None, has_begun: bool) -> GroupResult:
    """Return the row of a group. If writing was interrupted and left no result, its outcome is unknown."""
    unread = UNKNOWN if has_begun and group.is_changed and not group.refusals else NOT_WRITTEN
    findings = (*group.refusals, *(write.findings if write else ()))
    is_put_back = plan.is_rollback and group.verdict is GroupVerdict.READY
    return GroupResult(
        group.group,
        "to put back" if is_put_back else str(group.verdict),
        str(write.outcome) if write else unread,
        len(group.proposed),
        len(group.unset),
        # Saved offsets are not compared with what the groups have read since.
        None if plan.mode is Mode.RESTORE else group.delivered_again,
        tuple(f"{finding.code}: {finding.found}" for finding in findings),
    )


# `run.json` has all other documents as they were recorded. Of these it has what people need in fields of its own.
_NOT_KEPT = frozenset(
    {
        Kind.RESERVE,
        Kind.VALIDATION_REQUEST,
        Kind.VALIDATION_RESULT,
        Kind.JUDGE,
        Kind.FINISH,
        Kind.REFUSAL,
        Kind.TRANSLATION_REQUEST,
        Kind.TRANSLATION_RESULT,
        Kind.HOOK,
        Kind.ALERT,
    }
)


def phases(run: RunDocument) -> Iterator[TimedPhase]:
    """Yield the phases that the run went through, in order."""
    for name, began_at, ended_at, did in _limits(run):
        seconds = seconds_between(began_at, ended_at)
        if seconds is not None:
            yield TimedPhase(name, str(began_at), seconds, did)


def _limits(run: RunDocument) -> Iterator[tuple[str, str | None, str | None, str]]:
    steps, judged_at = run.steps, run.judged_at
    start, watch, stop = _at(steps.start), _at(steps.watch), _at(steps.stop)
    asked_at, answered_at = (steps.approve.asked_at, steps.approve.answered_at) if steps.approve else (None, None)
    # Most of the time of a small validation is Spark's start, so it has no rate.
    compared = sum(each.target or 0 for each in run.records.values())
    has_mirrored = bool(steps.start and steps.start.started)
    yield RunPhase.PREPARE, run.started_at, start or _at(steps.rollback_plan), ""
    if has_mirrored:
        yield RunPhase.COPY, start, watch, _copied(steps, seconds_between(start, watch))
        yield RunPhase.STOP, watch, stop, ""
    yield RunPhase.VALIDATE, stop if has_mirrored else start, judged_at, f"{compared:,} records"
    yield RunPhase.PLAN_GROUPS, judged_at, _at(steps.offsets_plan), ""
    yield RunPhase.APPROVAL, asked_at, answered_at, ""
    yield RunPhase.WRITE_GROUPS, answered_at, _at(steps.done), ""


def _at(
    recorded: RollbackPlanDocument
    | StartDocument
    | WatchRecord
    | StopDocument
    | CutoverDocument
    | RolledBackDocument
    | None,
) -> str | None:
    dated = recorded.plan if isinstance(recorded, RollbackPlanDocument) else recorded
    return dated.at if dated else None


def _copied(steps: Steps, seconds: float | None) -> str:
    """Return how many offsets were copied, and how fast."""
    positions = steps.plan.positions if steps.plan else {}
    goals = steps.watched.goals if steps.watched else {}
    count = sum(max(0, goal - positions.get(partition, 0)) for partition, goal in goals.items())
    return f"{count:,} offsets" + (f", {count // round(seconds):,}/s" if seconds and seconds >= 1 and count else "")


def deadlines(steps: Steps) -> Iterator[Deadline]:
    """Yield the deadlines of questions without an answer, and the one that the run sets for the next run."""
    if steps.producers and steps.producers.chosen is None and steps.stop is None:
        yield Deadline("The producers on the source must stop", steps.producers.until)
    if steps.approve and steps.approve.answered_at is None and (until := steps.approve.until):
        yield Deadline("The question for the approval must be answered", moment(until))
    if steps.stop and (forecast := steps.stop.forecast) and not steps.cutover:
        # The topics that a cutover moved are not copied any more.
        yield Deadline("The next run must start", forecast.at, f"{forecast.partition}, {forecast.reason}")
