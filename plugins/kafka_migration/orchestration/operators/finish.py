"""`finish`: frees the reservation, assembles the evidence, and sets the state of the run."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow.sdk import Context

import kafka_migration
from kafka_migration.adapters.store.document_files import to_json
from kafka_migration.adapters.store.evidence_store import REPORT_FILE
from kafka_migration.airflow_adapters.airflow_metrics import emit
from kafka_migration.core.evidence.evidence_documents import Kind, RunFacts, assemble_run
from kafka_migration.core.findings.by_cause import by_cause
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import (
    Finding,
    FindingsError,
    OutcomeUnknown,
    Refused,
    StoreFailed,
    TransientError,
    ValidationFailed,
)
from kafka_migration.core.ledger.generations import generations_text
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.report.alerts import Ended, ended_alert
from kafka_migration.core.report.metrics import MetricsOf
from kafka_migration.core.report.run_note import run_note
from kafka_migration.core.report.run_report import render_report
from kafka_migration.core.rollback.decommission import NotKnown, WaitingTimes, condition, decommission_conditions
from kafka_migration.core.run.task_steps import SKIPPED, SUCCESS, expected_skips, unsuccessful
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.text.terminal_text import shown
from kafka_migration.core.watching.unfinished_work import PendingValidation, late_findings
from kafka_migration.core.watching.watch_records import WatchEnded
from kafka_migration.orchestration.operators.operator_base import MigrationOperator, Summary
from kafka_migration.orchestration.report_page import ReportLink
from kafka_migration.orchestration.task.alerting import send, tell_of_lost_finish
from kafka_migration.orchestration.task.context import link_to, run_of, started_at, triggered_by
from kafka_migration.orchestration.task.failures import FailedForGood, log_findings
from kafka_migration.orchestration.task.note_writer import NOTE_KEY
from kafka_migration.steps.rollback.decommissioning import read_old_cluster
from kafka_migration.steps.run.last_run import tell_last_run
from kafka_migration.steps.run.migration_run import MigrationRun


class FinishOperator(MigrationOperator):
    """The last step and only leaf of the DAG: a teardown that decides how the run ends.

    It frees the reservation if this run holds it, and writes `run.json` and `report.md`. It fails the run unless every
    task succeeded or was skipped as its mode expects. A late run (`BEHIND`, `VALIDATION_PENDING`) fails or warns,
    depending on `nightly.when_late`. A run outside its window, which has nothing to do, succeeds.

    Without this task, a run with a task that a user marked failed would succeed: Airflow skips tasks that have not
    started and counts skipped leaves as success. Finally it sends an alert if the run did not succeed (`alerts`). If
    `finish` itself fails, its callback sends the alert. If the evidence store does not take the report, the run fails,
    and its log, note and alert have what the report would say.
    """

    operator_extra_links = (ReportLink(),)

    def __init__(self, **kwargs: Any) -> None:
        # In addition to the callbacks of a user's own DAG.
        theirs = kwargs.pop("on_failure_callback", None) or ()
        mine = [*theirs, tell_of_lost_finish] if isinstance(theirs, list | tuple) else [theirs, tell_of_lost_finish]
        super().__init__(on_failure_callback=mine, **kwargs)

    def execute(self, context: Context) -> Summary:
        """Finish regardless of what other tasks refused; its own only refusal is modified evidence."""
        run = run_of(context, self.migration)
        try:
            self._look_at_evidence(run)
        except Exception as error:
            # No evidence problem may keep MirrorMaker alive.
            run.evidence.leaves_out_changed = True
            self.log.error("The evidence cannot be read or written: %s: %s", type(error).__name__, error)
        try:
            return self.step(run, context)
        except StoreFailed as error:
            log_findings(error.findings)
            raise FailedForGood(str(error)) from None
        finally:
            run.close()

    def _look_at_evidence(self, run: MigrationRun) -> None:
        """Ignore modified evidence, and report it unless an earlier task has."""
        changes = run.evidence.changes()
        run.evidence.leaves_out_changed = bool(changes)
        told = {f["code"] for refusal in run.refusals() for f in refusal["findings"]}
        if changes and Code.EVIDENCE_CHANGED not in told:
            run.refused(self.task_id, Refused(changes))

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Free the reservation, assemble the evidence, and raise if work is missing."""
        released = self._release(run)
        tasks = self._task_states(context)
        timing = _timing(run, tasks)
        bad = unsuccessful(tasks, _expected_skips(run, timing))
        unproved = _unproved(run, tasks)
        is_lost = unproved and tasks.get("confirm_cutover") != SUCCESS
        is_bad = bad or released.problem or timing.late_fails or run.evidence.leaves_out_changed or is_lost
        outcome = "failed" if is_bad else _good_outcome(run, timing)
        # A task that succeeded has refused in an earlier try only.
        refusals = [refusal for refusal in run.refusals() if tasks.get(refusal["task"]) != SUCCESS] + unproved
        document = self._assembled(run, context, tasks, outcome, timing, refusals)
        if lost := self._publish(run, document):
            outcome, refusals = "failed", [*refusals, lost]
            document = self._assembled(run, context, tasks, outcome, timing, refusals)
        self._leave_note(context, document)
        path = str(run.evidence.folder / "run.json")
        judged = run.evidence.newest(Kind.JUDGE) or {}
        self.log.info("%s, verdict %s. Evidence: %s and report.md next to it", outcome, judged.get("verdict"), path)
        ended = Ended(
            outcome,
            refusals,
            timing.late,
            bad,
            released.problem,
            may_run=not released.is_quiet and _has_open_generation(run),
            verdict=str(judged.get("verdict") or ""),
            evidence=path,
        )
        emit(MetricsOf(run.name).run(outcome))
        request = _requested(run)
        tell_last_run(run, ended, mode=request["mode"], note=request["note"])
        _alert(run, ended)
        if outcome == "failed":
            self._log_why(ended)
            raise FailedForGood(_why(ended)) from None
        log_findings(timing.late, logging.WARNING)
        return {"outcome": outcome, "evidence": path}

    def _leave_note(self, context: Context, document: Mapping[str, Any]) -> None:
        """Push the run's note for the listener that sets it; a missing note does not fail the run."""
        try:
            context["ti"].xcom_push(key=NOTE_KEY, value=run_note(document))
        except Exception:
            self.log.warning("The note of the run could not be set.", exc_info=True)

    def _release(self, run: MigrationRun) -> _Released:
        """Free the reservation; return the problem, if any, and whether the host reports that nothing runs."""
        if not run.evidence.has_written(Kind.RESERVE):
            return _Released()
        is_quiet = False
        try:
            status = run.host.status()
            holder, is_quiet = status.holder, not status.is_running
            if not run.identity.has_attempt(holder):
                self.log.info("This run does not hold the reservation: %s", shown(holder) or "free")
            elif holder == run.identity.holder or run.identity.follows(holder):
                # Includes a reservation that an earlier attempt could not free. MirrorMaker is stopped first, because
                # no run would stop it after the release.
                if status.is_running:
                    run.host.stop(holder, None, run.filed_migration.mirror.stop_grace_s)
                    is_quiet = True
                run.host.release(holder)
        except (FindingsError, TransientError, OutcomeUnknown) as error:
            return _Released(str(error), is_quiet)
        return _Released(is_quiet=is_quiet)

    def _log_why(self, ended: Ended) -> None:
        """Log why the run failed: the findings of all tasks, or else the tasks that did not succeed."""
        log_findings(ended.findings)
        if not ended.findings:
            for task, state in ended.bad_tasks.items():
                self.log.error("%s · task %s: %s. See its log.", Code.TASK_NOT_SUCCESSFUL, task, state)
        if ended.release_problem:
            self.log.error("The reservation was not freed: %s", ended.release_problem)

    def _task_states(self, context: Context) -> dict[str, str | None]:
        """Return the states of the run's other tasks, in the DAG's order."""
        dag_run, task_instance = context["dag_run"], context["ti"]
        states = task_instance.get_task_states(dag_id=dag_run.dag_id, run_ids=[dag_run.run_id])[dag_run.run_id]
        ordered = [task.task_id for task in context["dag"].topological_sort() if task.task_id != self.task_id]
        return {task_id: states.get(task_id) for task_id in ordered}

    def _publish(self, run: MigrationRun, document: Mapping[str, Any]) -> dict[str, Any] | None:
        """Write the report; return the refusal of a store that does not take it."""
        try:
            run.evidence.publish(REPORT_FILE, render_report(document))
            run.evidence.publish("run.json", to_json(document))
        except StoreFailed as error:
            return {"task": self.task_id, "findings": [finding.to_document() for finding in error.findings]}
        return None

    def _assembled(
        self,
        run: MigrationRun,
        context: Context,
        tasks: Mapping[str, str | None],
        outcome: str,
        timing: _Timing,
        refusals: Sequence[Mapping[str, Any]],
    ) -> dict[str, Any]:
        request = _requested(run)
        late = [finding.to_document() for finding in timing.late]
        facts = RunFacts(
            migration=run.name,
            migration_digest=_digest(run),
            dag_id=run.identity.dag_id,
            run_id=run.identity.run_id,
            attempt=run.identity.attempt,
            mode=request["mode"],
            note=request["note"],
            generations=request["generations"],
            package_version=kafka_migration.__version__,
            finished_at=run.now(),
            outcome=outcome,
            tasks=tasks,
            reason=timing.idle_because,
            decommission=_decommission(run),
            hooks=run.evidence.of_run(Kind.HOOK),
            triggered_by=triggered_by(context),
            started_at=started_at(context),
        )
        return assemble_run(
            facts,
            documents={kind: doc for kind in Kind if (doc := run.evidence.newest(kind)) is not None},
            refusals=[*refusals, *([{"findings": late}] if timing.late_fails else [])],
            warnings=[] if timing.late_fails else late,
        )


def _decommission(run: MigrationRun) -> list[dict[str, Any]]:
    """Return whether the source may be switched off, once everything is cut over; unknown means no."""
    try:
        ledger = run.ledger.known()
        if ledger.phase is not Phase.CUT_OVER or run.request.mode not in {Mode.CUTOVER, Mode.VALIDATE}:
            return []
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
        return [condition("Both clusters can be read", [NotKnown(error)]).to_document()]
    return [each.to_document() for each in decommission_conditions(old, WaitingTimes())]


def _has_open_generation(run: MigrationRun) -> bool:
    """Return whether this run started a MirrorMaker that has no stop certificate; unknown counts as yes."""
    try:
        return run.ledger.known().open_generation_of(run.identity) is not None
    except Exception:
        return True


@dataclass(frozen=True, slots=True)
class _Released:
    """The result of freeing the reservation; `is_quiet`: the host reports that no MirrorMaker of the migration runs."""

    problem: str = ""
    is_quiet: bool = True


@dataclass(frozen=True, slots=True)
class _Timing:
    """The effect of the schedule on the run: it had nothing to do, or did not complete in time."""

    idle_because: str
    is_pending: bool
    late: tuple[Finding, ...]
    late_fails: bool


def _timing(run: MigrationRun, tasks: Mapping[str, str | None]) -> _Timing:
    """Evaluate the successful tasks of this attempt, including results kept from an earlier attempt."""
    is_told = tasks.get("preflight") == SUCCESS and run.evidence.newest(Kind.PREFLIGHT) is not None
    idle_because = run.run_window.idle_because if is_told else ""
    watch = run.evidence.newest(Stored.WATCH) if tasks.get("watch_lag") == SUCCESS else None
    is_left_out = tasks.get("validate_topics") == SKIPPED and not idle_because
    pending = _left_pending(run) if is_left_out else None
    late = late_findings(run.name, watch if isinstance(watch, WatchEnded) else None, pending)
    return _Timing(
        idle_because=idle_because,
        is_pending=pending is not None,
        late=late,
        late_fails=bool(late) and not _only_warns(run),
    )


def _left_pending(run: MigrationRun) -> PendingValidation | None:
    """Return what this attempt left pending, or the earlier attempt if only `finish` was cleared."""
    if pending := run.evidence.of_attempt(Stored.PENDING):
        return pending[-1]
    return None if run.evidence.of_attempt(Kind.RESERVE) else run.evidence.newest(Stored.PENDING)


def _only_warns(run: MigrationRun) -> bool:
    nightly = run.filed_migration.nightly
    return run.identity.is_nightly and nightly is not None and nightly.when_late == "warn"


def _unproved(run: MigrationRun, tasks: Mapping[str, str | None]) -> list[dict[str, Any]]:
    """Return the refusal of the topics that the plan left out because their copy is not proved; without any, none."""
    plan = run.evidence.newest(Kind.OFFSETS_PLAN) if tasks.get("plan_offsets") == SUCCESS else None
    findings = list(plan["plan"].get("unproved", {}).values()) if plan else []
    return [{"task": "judge", "error": ValidationFailed.__name__, "findings": findings}] if findings else []


def _expected_skips(run: MigrationRun, timing: _Timing) -> frozenset[str]:
    """Return the tasks that a successful run of this mode skips; none if the mode is unknown."""
    try:
        mode, is_idle = run.request.mode, bool(timing.idle_because)
        hooks = run.filed_migration.cutover.hooks if mode.moves_groups else ()
        return expected_skips(mode, is_idle=is_idle, is_pending=timing.is_pending, hooks=hooks)
    except Refused:
        return frozenset()


def _good_outcome(run: MigrationRun, timing: _Timing) -> str:
    """Return the outcome of a run that did not fail: complete, nothing to do, late, or with groups not moved."""
    if timing.idle_because:
        return "not in window"
    if timing.late:
        return _LATE_OUTCOMES[timing.late[0].code]
    done = run.evidence.newest(Kind.CUTOVER) or run.evidence.newest(Kind.OFFSETS_RESULT)
    return "partly done" if done is not None and done["partly"] else "success"


_LATE_OUTCOMES = {Code.BEHIND: "behind", Code.VALIDATION_PENDING: "validation pending"}


def _requested(run: MigrationRun) -> dict[str, Any]:
    try:
        asked = run.request
        return {"mode": str(asked.mode), "note": asked.note, "generations": generations_text(asked.generations)}
    except Refused:
        return {"mode": str(run.params.get("mode")), "note": "", "generations": ""}


def _digest(run: MigrationRun) -> str:
    try:
        return run.filed_migration.digest
    except Refused:
        return "not frozen"


def _alert(run: MigrationRun, ended: Ended) -> None:
    alert = ended_alert(run.name, str(run.identity), link_to(run.identity), ended)
    if alert is not None:
        send(run, alert)


def _why(ended: Ended) -> str:
    lines = [str(finding) for finding in by_cause(ended.findings)]
    if not lines:
        lines = [
            f"{Code.TASK_NOT_SUCCESSFUL} · task {task}: found {state}; expected success. See its log."
            for task, state in ended.bad_tasks.items()
        ]
    if ended.release_problem:
        lines.append(f"The reservation was not freed: {ended.release_problem}")
    return "\n".join([*lines, f"Evidence: {ended.evidence}"])
