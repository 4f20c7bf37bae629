"""Triggers a run of the migration and shows it until it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sandbox.airflow_api import AirflowApi, DagRun
from sandbox.data.traffic import LiveTraffic
from sandbox.demo.display import Display
from sandbox.demo.evidence import RunEvidence, read_run
from sandbox.demo.failure import DemoFailed
from sandbox.demo.status import RunStatus, newest_progress
from sandbox.sandbox import Sandbox

DAG_ID = "kafka_migration__demo"
WATCH_TASK = "watch_lag"
RUN_TIMEOUT_S = 3600.0
LOG_INTERVAL_S = 2.0
LOG_TAIL_LINES = 20


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that has ended with any result."""

    title: str
    run: DagRun
    seconds: float
    evidence: RunEvidence


class Runner:
    """Shows runs one after the other and reads their evidence."""

    def __init__(self, sandbox: Sandbox, api: AirflowApi, display: Display) -> None:
        self._sandbox = sandbox
        self._api = api
        self._display = display

    def run(
        self,
        title: str,
        conf: Mapping[str, str],
        traffic: LiveTraffic | None = None,
        during: Callable[[DagRun], None] | None = None,
    ) -> FinishedRun:
        """Trigger a run of the demo's migration and show it; see `show`."""
        self._display.section(title)
        return self.show(title, DAG_ID, self._api.trigger(DAG_ID, conf), traffic, during)

    def show(
        self,
        title: str,
        dag_id: str,
        run_id: str,
        traffic: LiveTraffic | None = None,
        during: Callable[[DagRun], None] | None = None,
    ) -> FinishedRun:
        """Show a run until it ends; return it with its evidence. `during` gets it at every poll.

        Raises:
            DemoFailed: the run left no evidence.
            SandboxError: a part of the sandbox or the traffic died, or the run does not end.
        """
        began = time.monotonic()
        progress = _Progress(self._api, dag_id, run_id)
        with self._display.run_view() as view:

            def show(run: DagRun) -> None:
                self._sandbox.check()
                if traffic:
                    traffic.check()
                sent = traffic.total if traffic else None
                if during:
                    during(run)
                view.show(RunStatus(run, time.monotonic() - began, progress.line(run), sent))

            run = self._api.wait(dag_id, run_id, RUN_TIMEOUT_S, show)
        finished = FinishedRun(title, run, time.monotonic() - began, self._evidence(run))
        self._say(finished)
        return finished

    def require_pass(self, finished: FinishedRun) -> RunEvidence:
        """Return the evidence of a successful run with the verdict PASS.

        Raises:
            DemoFailed: the run failed or has another verdict; the known reason was printed.
        """
        evidence = finished.evidence
        if finished.run.state == "success" and evidence.verdict == "PASS":
            return evidence
        self._explain(finished.run, evidence)
        reason = f": {evidence.findings[0]}" if evidence.findings else ""
        raise DemoFailed(
            f"{finished.title!r} ended {finished.run.state} with {evidence.verdict or 'no verdict'}{reason}"
        )

    def _evidence(self, run: DagRun) -> RunEvidence:
        evidence = read_run(self._sandbox.state.evidence_root, run.dag_id, run.run_id)
        if evidence is None:
            self._tell_logs(run)
            raise DemoFailed(f"run {run.run_id} ended {run.state} and left no run.json")
        return evidence

    def _say(self, finished: FinishedRun) -> None:
        evidence = finished.evidence
        self._display.line(f"\n{finished.run.state} after {finished.seconds:.0f} s, verdict {evidence.verdict}")
        self._display.line(f"Records validated: {evidence.counts_words}")
        self._display.line(f"Evidence: {evidence.folder}")

    def _explain(self, run: DagRun, evidence: RunEvidence) -> None:
        for line in (line for finding in evidence.findings for line in finding.lines):
            self._display.line(line)
        if not evidence.findings:
            self._tell_logs(run)

    def _tell_logs(self, run: DagRun) -> None:
        for task in run.tasks:
            if task.state == "failed":
                self._display.line(f"The end of the log of {task.task_id}:")
                log = self._api.log(run.dag_id, run.run_id, task.task_id, task.try_number)
                for line in log.splitlines()[-LOG_TAIL_LINES:]:
                    self._display.line(f"  {line}")


class _Progress:
    """The newest progress line of `watch_lag`, read every few seconds."""

    def __init__(self, api: AirflowApi, dag_id: str, run_id: str) -> None:
        self._api = api
        self._dag_id = dag_id
        self._run_id = run_id
        self._line = ""
        self._asked_at = float("-inf")
        self._is_over = False

    def line(self, run: DagRun) -> str:
        """Return the line, or an empty text while there is none."""
        task = run.task(WATCH_TASK)
        if task is None or task.try_number == 0 or self._is_over or not self._is_due():
            return self._line
        self._is_over = task.state in {"success", "failed", "skipped", "upstream_failed"}
        self._asked_at = time.monotonic()
        log = self._api.log(self._dag_id, self._run_id, WATCH_TASK, task.try_number)
        self._line = newest_progress(log) or self._line
        return self._line

    def _is_due(self) -> bool:
        return time.monotonic() - self._asked_at >= LOG_INTERVAL_S
