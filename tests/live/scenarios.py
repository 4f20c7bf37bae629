"""One fault in the middle of a run: drives the run, holds it against the invariants, and reports what came of it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from confluent_kafka import Consumer, TopicPartition

from sandbox.airflow_api import AirflowApi, DagRun
from tests.live.faults import Faults, jvm_pids, marked_pids
from tests.live.groups import end_of
from tests.live.invariants import HostSampler, require_complete_copy, require_never_two, require_true_verdict
from tests.live.migrations import PARTITIONS, LiveMigration
from tests.live.reliability_table import MEASURED, SCENARIOS, Measured
from tests.waiting import wait_until

# I4, and for a host that nothing can reach the same after lease and grace.
GONE_WITHIN_S = 60.0


class Scenario:
    """What one test of the campaign needs, on a host; `test` names its row in `reliability_table.SCENARIOS`."""

    # What the measure of this engine has after the name of its row.
    suffix = ""
    # Whether MirrorMaker is started again by what brings a killed one back, too.
    moves = False

    def __init__(self, test: str, migration: LiveMigration, api: AirflowApi, faults: Faults) -> None:
        self.migration = migration
        self.api = api
        self.faults = faults
        self.sampler = HostSampler(migration)
        self.run_id = ""
        self._test = test
        self._sent = 0
        self._gone_s: float | None = None
        self._silence = threading.Event()
        self._producer = threading.Thread(target=self._produce, name="steady-producer", daemon=True)

    # ---------------------------------------------------------------- driving a run

    def follow(self) -> None:
        """Start a run that follows a steady producer; return once records arrive on the target."""
        self._producer.start()
        self.run_id = self.migration.trigger("follow")
        self.wait_until_copying()

    def wait_until_copying(self) -> None:
        """Return once the run's watch is deferred and more records have arrived than there were."""
        self.migration.wait_for_task(self.run_id, "watch_lag", ["deferred"])
        self.wait_for_more_copied()

    def wait_for_more_copied(self) -> None:
        """Return once the target has more records than now."""
        before = self.copied_records()
        wait_until(lambda: self.copied_records() > before, 120, "further records on the target")

    def end_following(self) -> DagRun:
        """Ask for the end as a person does, while records still come; return the run once it has ended."""
        self.ask_to_stop()
        return self.ended()

    def ask_to_stop(self) -> None:
        """Ask for the end of mirroring, as a person does."""
        done = self.migration.cli("stop")
        assert 0 == done.returncode, done.stdout + done.stderr

    def ended(self) -> DagRun:
        """Return the run once it has ended; no further record is sent then."""
        run = self.migration.finished(self.run_id)
        self.silence()
        return run

    def silence(self) -> None:
        """Send no further record."""
        self._silence.set()
        if self._producer.is_alive():
            self._producer.join()

    def copied_records(self) -> int:
        """Return the sum of the target's ends; 0 before there is a topic."""
        reader = Consumer({**self.migration.target, "group.id": "test-ends"})
        try:
            if reader.list_topics(self.migration.name, timeout=60).topics[self.migration.name].error:
                return 0
            return sum(end_of(reader, TopicPartition(self.migration.name, p)) for p in range(PARTITIONS))
        finally:
            reader.close()

    def _produce(self) -> None:
        while not self._silence.wait(0.25):
            self.migration.produce(50, first=self._sent)
            self._sent += 50

    # ---------------------------------------------------------------- where MirrorMaker runs

    def lose_mirror(self) -> None:
        """Kill MirrorMaker and wait until another one copies."""
        pid = self.faults.kill_mirror()
        wait_until(lambda: set(jvm_pids(self.migration)) - {pid}, 200, "the next generation")
        self.wait_for_more_copied()

    def is_starting(self) -> bool:
        """Whether MirrorMaker was asked for there."""
        path = self.migration.host_folder / "journal"
        return path.exists() and "starting" in path.read_text()

    def is_alive(self) -> bool:
        """Whether anything of it is alive there."""
        return any(True for _ in marked_pids(self.migration))

    def require_never_two(self) -> int:
        """I5: no two MirrorMakers ever were there at once; return how many there were."""
        return require_never_two(self.migration, self.sampler)

    def require_quiet(self) -> None:
        """I4: the reservation is free, and nothing is alive there."""
        assert (None, []) == (self.migration.reservation, self.migration.mirror_pids())

    def require_end_without_airflow(self, within_s: float) -> None:
        """From now on Airflow does nothing: MirrorMaker must end all the same."""
        self.require_gone(moment(), within_s)

    def mend(self) -> None:
        """Let every part run again."""
        self.faults.mend()

    # ---------------------------------------------------------------- what came of it

    def require_gone(self, since: float, within_s: float = GONE_WITHIN_S) -> None:
        """I4: nothing is alive so long after that moment (Unix time); how long it took is reported."""
        words = f"I4: within {within_s:.0f} s nothing of {self.migration.name} to be alive"
        wait_until(lambda: not self.is_alive(), max(1.0, since + within_s - time.time()), words)
        self._gone_s = max(0.0, (self.sampler.last_alive_at or 0) - since)

    def conclude(self, run: DagRun | None) -> Measured:
        """Hold what is there against the invariants and the scenario's row, and report it.

        Unless `require_gone` was asked before, MirrorMaker must be gone by the run's end. `run` is `None` where
        Airflow has forgotten it, and a later run has ended.
        """
        if self._gone_s is None:
            self.require_gone(self.api.timeline(run.dag_id, run.run_id).run.end.timestamp() if run else moment())
        self.require_quiet()
        jvms = self.require_never_two()
        copy = require_complete_copy(self.migration)
        require_true_verdict(self.migration, copy)
        outcome, codes = self._outcome(run, jvms)
        measured = Measured(outcome, codes, jvms, copy.duplicates, round(self._gone_s or 0))
        expected = SCENARIOS[self._test]
        assert (expected.outcome, expected.codes) == (measured.outcome, measured.codes)
        self._report(measured)
        return measured

    def _outcome(self, run: DagRun | None, jvms: int) -> tuple[str, tuple[str, ...]]:
        if run is None:
            return "STOP-SAFE", ()
        codes = tuple(sorted(set(self.migration.codes(run.run_id, self.attempt))))
        if run.state == "success":
            return "RECOVER" if any(task.try_number > self.attempt for task in run.tasks) else "SURVIVE", codes
        return "STOP-SAFE" if jvms else "REFUSE", codes

    @property
    def attempt(self) -> int:
        """The number of the run's last attempt that ended; those before it need not have."""
        documents = self.migration.evidence(self.run_id).folder.parent.glob("attempt-*/run.json")
        return max(int(path.parent.name.split("-")[1]) for path in documents)

    def require_goes_on(self) -> None:
        """STOP-SAFE means that the next run needs no repair: it copies the rest and everything is proved."""
        self.silence()
        after = self.migration.run()
        sent = self._sent or self.copied_records()
        copy = require_complete_copy(self.migration)
        verdict = "WARN" if copy.duplicates else "PASS"
        assert ("success", verdict) == (after["state"], after["verdict"]), after["findings"]
        require_true_verdict(self.migration, copy)
        assert sent == self.copied_records() - copy.duplicates
        self.require_quiet()

    def _report(self, measured: Measured) -> None:
        MEASURED.mkdir(parents=True, exist_ok=True)
        (MEASURED / f"{self._test}{self.suffix}.json").write_text(json.dumps(measured.to_document()))


@contextmanager
def running(scenario: Scenario) -> Iterator[None]:
    """Let a test do what it does; afterwards no run of it is left, and every part runs again."""
    migration, api = scenario.migration, scenario.api
    try:
        yield
    finally:
        scenario.silence()
        scenario.mend()
        for run_id, state in api.run_states(migration.dag_id).items():
            if state not in {"success", "failed"}:
                api.set_run_state(migration.dag_id, run_id, "failed")


@contextmanager
def host_scenario(test: str, migration: LiveMigration, api: AirflowApi, faults: Faults) -> Iterator[Scenario]:
    """Give a scenario whose MirrorMaker runs on the host, which is watched."""
    scenario = Scenario(test, migration, api, faults)
    with running(scenario), scenario.sampler:
        yield scenario


def moment() -> float:
    """Return now as Unix time, for `require_gone`."""
    return time.time()
