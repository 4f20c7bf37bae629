"""Finishes a run: frees the reservation, decides how it ended, and writes `run.json` and the reports."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

import kafka_migration
from kafka_migration.adapters.store.document_files import to_json, unreadable
from kafka_migration.adapters.store.evidence_store import RUN_FILE
from kafka_migration.core.evidence.digests import digest_of
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.by_cause import by_cause
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import (
    FindingsError,
    Refused,
    StoreFailed,
    ValidationFailed,
)
from kafka_migration.core.ledger.cutovers import Rehearsed, Reported
from kafka_migration.core.ledger.generations import generations_text
from kafka_migration.core.migration.engine_table import EngineName
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.report.alerts import Alert, Ended, ended_alert
from kafka_migration.core.report.metrics import MetricsOf
from kafka_migration.core.report.run_assembly import assembled
from kafka_migration.core.report.run_document import Readiness, Refusal, RunDocument
from kafka_migration.core.report.run_forecast import PastRun
from kafka_migration.core.report.run_status import LastRun, contradictions, next_start
from kafka_migration.core.rollback.decommission import (
    Condition,
    NotKnown,
    WaitingTimes,
    condition,
    decommission_conditions,
)
from kafka_migration.core.run.task_steps import TaskId, unsuccessful
from kafka_migration.core.stored.stored_documents import MirrorStarted, Stored
from kafka_migration.core.text.shortened import first
from kafka_migration.report_formats.report_format import rendered_reports
from kafka_migration.steps.finish.outcome import (
    FAILED,
    EndedTasks,
    Timing,
    good_outcome,
    newest,
    skips_of,
    timing_of,
    unfit_documents,
)
from kafka_migration.steps.finish.releasing import Released, may_still_run, release, remove_letters
from kafka_migration.steps.rollback.decommissioning import read_old_cluster
from kafka_migration.steps.run.migration_run import MigrationRun

log = logging.getLogger(__name__)


TASK = TaskId.FINISH
Build = Callable[[str, tuple[Refusal, ...]], RunDocument]


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished run: its document, how it ended, and the alert about it, if one is needed."""

    document: RunDocument
    ended: Ended
    alert: Alert | None

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the run failed, besides its findings: tasks that did not succeed without one, and the reservation."""
        tasks = () if self.ended.findings else self.ended.bad_tasks.items()
        problem = self.ended.release_problem
        return (
            *(f"{Code.TASK_NOT_SUCCESSFUL} · task {task}: it ended as {state}. See its log." for task, state in tasks),
            *((f"The reservation was not freed: {problem}",) if problem else ()),
        )

    @property
    def why(self) -> str:
        """Why the run failed, and where its evidence is: a line per reason."""
        findings = map(str, by_cause(self.ended.findings))
        return "\n".join((*findings, *self.reasons, f"Evidence: {self.ended.evidence}"))


def look_at_evidence(run: MigrationRun) -> None:
    """Ignore modified evidence, and report it unless an earlier task has.

    No evidence problem may keep MirrorMaker alive, so none is raised.
    """
    try:
        # All tasks, also those that Airflow does not show as begun: this is the last look.
        run.evidence.look_again()
        changes = run.evidence.changes()
        run.evidence.leaves_out_changed = bool(changes)
        told = {finding.code for refusal in _refusals(run) for finding in refusal.findings}
        if changes and Code.EVIDENCE_CHANGED not in told:
            run.refused(TASK, Refused(changes))
    except Exception as error:
        run.evidence.leaves_out_changed = True
        log.error("The evidence cannot be read or written: %s: %s", type(error).__name__, error)


def finish_run(run: MigrationRun, tasks: EndedTasks) -> Finished:
    """Free the reservation, decide the outcome, and publish it."""
    record_rehearsal(run, tasks)
    released = release(run)
    remove_letters(run)
    end = _end_of(run, tasks)
    build = partial(_document, run, tasks, end.timing, _decommission(run))
    document, refusals = _published(run, build, FAILED if released.problem else end.outcome, end.refusals)
    ended = Ended(
        document.outcome,
        refusals,
        end.timing.late,
        end.bad_tasks,
        released.problem,
        may_run=may_still_run(run, released),
        engine=_engine(run),
        verdict=document.verdict or "",
        evidence=str(run.evidence.folder / RUN_FILE),
    )
    tell_last_run(run, ended, document)
    _send_metrics(run, document.outcome, released)
    link = run.deployment.run_link(run.identity, "")
    alert = ended_alert(run.name, run.identity, run.now_words(), link, ended, _topics(run))
    return Finished(document, ended, alert and replace(alert, report=run.deployment.report_link(run.identity)))


def _topics(run: MigrationRun) -> Collection[str]:
    try:
        return run.whole_migration.topics
    except Exception:
        # They only limit what an alert names.
        return ()


@dataclass(frozen=True, slots=True)
class _End:
    """How a run ends if its reservation is freed and its document is written."""

    timing: Timing
    outcome: str
    bad_tasks: Mapping[str, str]
    refusals: tuple[Refusal, ...]


def _end_of(run: MigrationRun, tasks: EndedTasks) -> _End:
    timing = timing_of(run, tasks)
    bad = unsuccessful(tasks.states, skips_of(run, tasks, timing))
    unproved = _unproved(run, tasks)
    is_lost = unproved and not tasks.succeeded(TaskId.CONFIRM_CUTOVER)
    is_bad = bad or timing.late_fails or run.evidence.leaves_out_changed or is_lost
    # A task that succeeded has refused in an earlier try only.
    refusals = (*(each for each in _refusals(run) if not tasks.succeeded(each.task)), *unproved)
    return _End(timing, FAILED if is_bad else good_outcome(run, timing), bad, refusals)


def record_rehearsal(run: MigrationRun, tasks: EndedTasks) -> None:
    """Add what a rehearsal found to the ledger, as long as this run holds the reservation.

    Without the entry, `ready` does not know this rehearsal; no error may keep the reservation.
    """
    try:
        if not tasks.succeeded(TaskId.PLAN_OFFSETS) or run.request.mode is not Mode.REHEARSE:
            return
        end = _end_of(run, tasks)
        document = _document(run, tasks, end.timing, (), end.outcome, end.refusals)
        if document.readiness is not None and run.process.status().holder == run.identity.holder:
            run.ledger.append(_rehearsed(run, document, document.readiness).to_document())
    except Exception as error:
        log.warning("The rehearsal is not recorded in the ledger: %s: %s", type(error).__name__, error)


def _rehearsed(run: MigrationRun, document: RunDocument, found: Readiness) -> Rehearsed:
    seconds = {each.name: each.seconds for each in document.phases}
    against, notes = first(found.against), first(found.notes)
    digest, still = document.migration_digest, document.stood_still
    return Rehearsed(run.identity.holder, run.now(), digest, against, notes, seconds, still)


def _published(
    run: MigrationRun, build: Build, outcome: str, refusals: tuple[Refusal, ...]
) -> tuple[RunDocument, tuple[Refusal, ...]]:
    """Return the run's document after it was written, and the refusals; a document that is lost fails the run."""
    document = build(outcome, refusals)
    if unfit := _unfit(run, document):
        refusals = (*refusals, Refusal(TASK, unfit.findings))
        document = build(FAILED, refusals)
    try:
        return _publish(run, document), refusals
    except StoreFailed as error:
        refusals = (*refusals, Refusal(TASK, error.findings))
        return build(FAILED, refusals), refusals


def _unfit(run: MigrationRun, document: RunDocument) -> FindingsError | None:
    """Return the refusal of documents that another version of the package wrote."""
    unfit = dict.fromkeys((*document.steps.unfit, *unfit_documents(run)))
    return unreadable(run.evidence.folder, "; ".join(unfit)) if unfit else None


def _publish(run: MigrationRun, document: RunDocument) -> RunDocument:
    """Write the reports and the document, and return it with the digests of the run's files; raises `StoreFailed`."""
    reports = rendered_reports(document)
    whole = replace(document, digests=run.evidence.digests_with(reports))
    result = to_json(whole.to_document())
    run.evidence.publish({**reports, RUN_FILE: result})
    record_report(run, digest_of(result.encode()))
    return whole


def record_report(run: MigrationRun, digest: str) -> None:
    """Add the digest of `run.json` to the ledger, unless the run has not reserved the migration or another one has.

    Without the entry only the run's tasks in Airflow keep it; no error may change how the run ends.
    """
    try:
        if run.ledger.known().reserved_by == run.identity.holder:
            evidence = {run.evidence.result_name: digest}
            run.ledger.append(Reported(run.identity.holder, run.now(), evidence).to_document())
    except Exception as error:
        log.warning("The report is not recorded in the ledger: %s: %s", type(error).__name__, error)


def _refusals(run: MigrationRun) -> tuple[Refusal, ...]:
    """Return why tasks of this attempt refused, also those reasons that the evidence store did not take.

    A refusal that cannot be read counts, with that as its finding.
    """
    kept = (refusal for refusal in run.kept.refusals if refusal["attempt"] == run.identity.attempt)
    return tuple(_refusal(run, document) for document in (*run.evidence.of_attempt(Kind.REFUSAL), *kept))


def _refusal(run: MigrationRun, document: object) -> Refusal:
    try:
        return Refusal.from_document(document)
    except ValueError as error:
        return Refusal("", unreadable(run.evidence.folder, f"{Kind.REFUSAL}: {error}").findings)


def _unproved(run: MigrationRun, tasks: EndedTasks) -> tuple[Refusal, ...]:
    """Return the refusal of the topics that the plan left out because their copy is not proved; without any, none."""
    planned = newest(run, Stored.OFFSETS_PLAN) if tasks.succeeded(TaskId.PLAN_OFFSETS) else None
    findings = tuple(planned.plan.unproved.values()) if planned else ()
    return (Refusal(TaskId.JUDGE, findings, ValidationFailed.__name__),) if findings else ()


def _document(
    run: MigrationRun,
    tasks: EndedTasks,
    timing: Timing,
    decommission: tuple[Condition, ...],
    outcome: str,
    refusals: tuple[Refusal, ...],
) -> RunDocument:
    mode, note, generations = _requested(run)
    begun = RunDocument(
        migration=run.name,
        migration_digest=_digest(run),
        dag_id=run.identity.dag_id,
        run_id=run.identity.run_id,
        attempt=run.identity.attempt,
        mode=mode,
        package_version=kafka_migration.__version__,
        finished_at=run.now(),
        outcome=outcome,
        tasks=tasks.states,
        note=note,
        reason=timing.idle_because,
        generations=generations,
        decommission=decommission,
        triggered_by=tasks.triggered_by,
        started_at=tasks.started_at,
        timezone=run.local.zone,
    )
    return assembled(
        begun,
        {kind: document for kind in Kind if (document := run.evidence.newest(kind)) is not None},
        (*refusals, *((Refusal(TASK, timing.late),) if timing.late_fails else ())),
        () if timing.late_fails else timing.late,
        run.evidence.of_run(Kind.HOOK),
    )


def _requested(run: MigrationRun) -> tuple[str, str, str]:
    """Return mode, note and generations of the form, as texts."""
    try:
        asked = run.request
        return str(asked.mode), asked.note, generations_text(asked.generations)
    except Refused:
        return str(run.params.get("mode")), "", ""


def _digest(run: MigrationRun) -> str:
    try:
        return run.filed_migration.digest
    except Refused:
        return "not frozen"


def _engine(run: MigrationRun) -> EngineName | None:
    try:
        return run.filed_migration.mirror.engine
    except Exception:
        # The store may raise anything, and the engine only chooses the words of an alert.
        return None


def _decommission(run: MigrationRun) -> tuple[Condition, ...]:
    """Return whether the source may be switched off, once everything is cut over; unknown means no."""
    try:
        ledger = run.ledger.known()
        if ledger.phase is not Phase.CUT_OVER or run.request.mode not in {Mode.CUTOVER, Mode.VALIDATE}:
            return ()
        old = read_old_cluster(
            now=run.clock.now(),
            ledger=ledger,
            topics=run.whole_migration.topics,
            source=run.source,
            target=run.target,
            evidence_of=run.evidence_of,
        )
    except Exception as error:
        # No error, such as a deleted connection, may prevent the run's evidence from being written.
        return (condition("Both clusters can be read", [NotKnown(error)]),)
    return decommission_conditions(old, WaitingTimes())


def tell_last_run(run: MigrationRun, ended: Ended, document: RunDocument) -> None:
    """Replace the document of the last run. A failed write does not affect the run."""
    at, who = run.now(), run.identity.holder
    before, findings = _last_run_before(run), ended.findings
    told = LastRun(
        run=who,
        at=datetime.fromisoformat(at),
        mode=document.mode,
        outcome=document.outcome,
        verdict=ended.verdict,
        note=document.note,
        evidence=ended.evidence,
        findings=findings,
        contradictions=contradictions(
            before.contradictions if before else (), findings, who, at, _refuted(run, document)
        ),
        past=PastRun.of(document, None if before is None else before.past),
        next_start=next_start(document, before),
        timezone=document.timezone,
    )
    run.news.tell_last_run(told.to_document())
    run.news.tell_ended(who, at)


def _send_metrics(run: MigrationRun, outcome: str, released: Released) -> None:
    metrics = MetricsOf(run.name)
    run.deployment.send_metrics(*metrics.ended(outcome, run.clock.now()))
    if released.is_free:
        run.deployment.send_metrics(*metrics.freed(_phase(run)))


def _phase(run: MigrationRun) -> Phase | None:
    try:
        return run.ledger.known().phase
    except Exception:
        # Only informational: the ledger is unreadable, so the phase is unknown.
        return None


def _last_run_before(run: MigrationRun) -> LastRun | None:
    try:
        before = run.news.last_run()
        return None if before is None else LastRun.from_document(before)
    except Exception:
        # Only informational: an unreadable old document must not prevent writing the new one.
        return None


def _refuted(run: MigrationRun, document: RunDocument) -> Collection[str] | None:
    """Return the topics that this run read completely and found good; `None` means all."""
    if not run.evidence.of_attempt(Kind.JUDGE) or document.verdict is None or not document.verdict.is_good:
        return ()
    try:
        has_looked = run.request.reads_whole or isinstance(newest(run, Stored.START), MirrorStarted)
        return (run.request.topics or None) if has_looked else ()
    except Refused:
        return ()
