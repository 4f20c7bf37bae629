"""The second part of `make demo-full`: a nightly run fired by its schedule, and a backfill of three past intervals."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime

from sandbox.airflow_api import AirflowApi
from sandbox.data.clicks import CLICKS, INTERVAL, RECORDS_PER_INTERVAL, fill_clicks
from sandbox.demo.display import Display
from sandbox.demo.failure import DemoFailed
from sandbox.demo.runs import FinishedRun, Runner
from sandbox.sandbox import Sandbox

NIGHTLY_DAG_ID = "kafka_nightly_sync__clicks"
INTERVALS = 3
BEGIN_TIMEOUT_S = 600.0


class Nights:
    """Nightly sync and backfill of a separate migration, on a running sandbox."""

    def __init__(self, sandbox: Sandbox, api: AirflowApi, display: Display) -> None:
        self._sandbox = sandbox
        self._api = api
        self._display = display
        self._runner = Runner(sandbox, api, display)

    def show(self) -> None:
        """Fill a topic with an hour of records, let the schedule trigger a run, and backfill three past intervals.

        Raises:
            DemoFailed: a run did not pass, or an interval does not hold exactly the records that were sent in it.
        """
        self._display.section("A topic that a nightly sync keeps up to date")
        first = fill_clicks(self._sandbox.state.source_bootstrap)
        self._display.line(f"Records: {CLICKS.name}, {RECORDS_PER_INTERVAL} in each ten minutes of the last hour")
        night = self._night()
        answers = self._backfill(first)
        self._tell(night, answers)

    def _night(self) -> FinishedRun:
        self._display.section("The schedule fires")
        self._api.wait_for_dag(NIGHTLY_DAG_ID)
        self._display.line(f"{NIGHTLY_DAG_ID} is unpaused: the run of the latest schedule tick starts.")
        run_id = self._wait_for_runs("scheduled", 1)[0]
        night = self._runner.show("Scheduled run", NIGHTLY_DAG_ID, run_id)
        self._runner.require_pass(night)
        return night

    def _backfill(self, first: datetime) -> list[FinishedRun]:
        last = first + (INTERVALS - 1) * INTERVAL
        command = [
            *("backfill", "create", "--dag-id", NIGHTLY_DAG_ID, "--max-active-runs", "1"),
            *("--from-date", first.isoformat(), "--to-date", last.isoformat()),
        ]
        self._display.section(f"Backfill of {INTERVALS} intervals")
        self._display.line(" ".join(("airflow", *command)))
        done = self._sandbox.run_airflow(*command)
        if done.returncode != 0:
            raise DemoFailed(f"airflow backfill ended with {done.returncode}: {(done.stderr or done.stdout)[-500:]}")
        answers = []
        for number in range(INTERVALS):
            run_id = self._wait_for_runs("backfill", number + 1)[number]
            self._display.line(f"\n{run_id}")
            answers.append(self._runner.show(run_id, NIGHTLY_DAG_ID, run_id))
            self._runner.require_pass(answers[-1])
        return answers

    def _wait_for_runs(self, kind: str, count: int) -> list[str]:
        """Return the ids of the runs of a type once this many exist."""
        deadline = time.monotonic() + BEGIN_TIMEOUT_S
        while True:
            found = [run_id for run_id in self._api.run_states(NIGHTLY_DAG_ID) if run_id.startswith(kind)]
            if len(found) >= count:
                return found
            if time.monotonic() > deadline:
                raise DemoFailed(f"no {kind} run of {NIGHTLY_DAG_ID} started within {BEGIN_TIMEOUT_S:.0f} s")
            time.sleep(1)

    def _tell(self, night: FinishedRun, answers: Sequence[FinishedRun]) -> None:
        self._display.section("The night and the intervals")
        for run in (night, *answers):
            self._display.line(f"{run.run.run_id:<48} {run.evidence.verdict}  {run.evidence.counts_words}")
        wrong = [run for run in answers if run.evidence.total_records != RECORDS_PER_INTERVAL]
        if wrong:
            raise DemoFailed(
                f"{wrong[0].run.run_id} counts {wrong[0].evidence.total_records} records, "
                f"{RECORDS_PER_INTERVAL} were sent in its interval"
            )
