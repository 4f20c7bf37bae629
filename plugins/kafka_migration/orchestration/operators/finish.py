"""`finish`: frees the reservation, assembles the evidence, and says the truth about the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import AirflowFailException

import kafka_migration
from kafka_migration.adapters.evidence import to_json
from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, FindingsError, Refused, TransientError
from kafka_migration.core.evidence import Kind, assemble_run
from kafka_migration.core.report import render_report
from kafka_migration.core.steps import expected_skips, unsuccessful
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run import MigrationRun


class FinishOperator(MigrationOperator):
    """The last step and the only leaf of the DAG: a teardown that decides how the run ends.

    It frees the reservation if this attempt holds it, writes `run.json` and `report.md`, and fails the run
    unless every task succeeded or was skipped as its mode expects. Without it a run that a person marked
    failed would end green: Airflow skips what has not started and counts skipped leaves as success.
    """

    def execute(self, context: Context) -> Summary:
        """Finish; never records a refusal of its own, the others' are what it reports."""
        run = MigrationRun.from_context(context, self.migration)
        try:
            return self.step(run, context)
        finally:
            run.close()

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Free, assemble, raise when work did not happen."""
        release_problem = self._release(run)
        tasks = self._task_states(context)
        bad = unsuccessful(tasks, _expected_skips(run))
        findings = [Finding.from_document(f) for r in run.evidence.of_attempt(Kind.REFUSAL) for f in r["findings"]]
        outcome = "failed" if bad or release_problem else _good_outcome(run)
        path = self._publish(run, tasks, outcome)
        judged = run.evidence.newest(Kind.JUDGE) or {}
        self.log.info("%s, verdict %s. Evidence: %s and report.md beside it", outcome, judged.get("verdict"), path)
        if bad or release_problem:
            raise AirflowFailException(_why(bad, findings, release_problem, path)) from None
        return {"outcome": outcome, "evidence": path}

    def _release(self, run: MigrationRun) -> str | None:
        """Free the reservation; return the problem when it could not be freed."""
        if run.evidence.newest(Kind.RESERVE) is None:
            return None
        try:
            run.host.release(run.identity.holder)
        except (FindingsError, TransientError) as error:
            if isinstance(error, Refused) and all(f.code in _NOT_OURS for f in error.findings):
                self.log.info("The reservation is another run's: %s", error)
                return None
            return str(error)
        return None

    def _task_states(self, context: Context) -> dict[str, str | None]:
        """Return the states of the run's other tasks, in the DAG's order."""
        dag_run, task_instance = context["dag_run"], context["ti"]
        states = task_instance.get_task_states(dag_id=dag_run.dag_id, run_ids=[dag_run.run_id])[dag_run.run_id]
        ordered = [task.task_id for task in context["dag"].topological_sort() if task.task_id != self.task_id]
        return {task_id: states.get(task_id) for task_id in ordered}

    def _publish(self, run: MigrationRun, tasks: Mapping[str, str | None], outcome: str) -> str:
        request = _requested(run)
        document = assemble_run(
            migration=run.name,
            digest=_digest(run),
            dag_id=run.identity.dag_id,
            run_id=run.identity.run_id,
            attempt=run.identity.attempt,
            mode=request["mode"],
            note=request["note"],
            package_version=kafka_migration.__version__,
            finished_at=run.now(),
            outcome=outcome,
            tasks=tasks,
            documents={kind: doc for kind in Kind if (doc := run.evidence.newest(kind)) is not None},
            refusals=run.evidence.of_attempt(Kind.REFUSAL),
        )
        run.evidence.publish("report.md", render_report(document))
        return run.evidence.publish("run.json", to_json(document))


def _expected_skips(run: MigrationRun) -> frozenset[str]:
    """Return the tasks that the run's mode skips; a run whose mode cannot be told skips none."""
    try:
        return expected_skips(run.request.mode)
    except Refused:
        return frozenset()


def _good_outcome(run: MigrationRun) -> str:
    """Tell a run that did everything from a cutover that left groups behind."""
    result = run.evidence.newest(Kind.OFFSETS_RESULT)
    return "partly done" if result is not None and result["partly"] else "success"


_NOT_OURS = {Code.RESERVED_BY, Code.NOT_RESERVED}


def _requested(run: MigrationRun) -> dict[str, Any]:
    try:
        return {"mode": str(run.request.mode), "note": run.request.note}
    except Refused:
        return {"mode": str(run.params.get("mode")), "note": ""}


def _digest(run: MigrationRun) -> str:
    try:
        return run.migration.digest
    except Refused:
        return "not frozen"


def _why(bad: Mapping[str, str], findings: list[Finding], release_problem: str | None, path: str) -> str:
    lines = [str(finding) for finding in findings]
    if not findings:
        lines = [
            f"{Code.TASK_NOT_SUCCESSFUL} · task {task}: found {state}; expected success. Its log says why."
            for task, state in bad.items()
        ]
    if release_problem:
        lines.append(f"The reservation was not freed: {release_problem}")
    return "\n".join([*lines, f"Evidence: {path}"])
