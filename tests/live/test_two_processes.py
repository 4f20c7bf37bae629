"""Two real processes make one try of a task at once, over real brokers and a real host: one of them acts."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from uuid import uuid4

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Phase
from kafka_migration.orchestration.task import context as context_module
from kafka_migration.steps.answers.kept_migration import MigrationStore
from kafka_migration.steps.answers.report_check import AskedAirflow, ReportState, checked_report
from kafka_migration.steps.answers.run_folders import run_folder
from sandbox.sandbox import Sandbox
from tests.airflow.conftest import FakeTaskInstance
from tests.live.dag_stage import DagStage, set_the_stage_of_dags
from tests.live.faults import jvm_pids
from tests.live.groups import commit, committed
from tests.live.two_processes import Airflow, Rows, Stops, meet
from tests.steps.kept import KEY, KeptValues
from tests.steps.turns import Moment, orders

pytestmark = [pytest.mark.live, pytest.mark.campaign]

# Whole cutovers, in each of which seven tasks are tried by two processes.
CUTOVERS = 2
RECORDS = 50
# More stops than any of the tasks makes: an order that comes later changes the turn after the end of a process.
STOPS = 60
HOOK = """\
cutover:
  groups: ["{name}-group"]
  fence_quiet: 3s
  fence_wait: 10m
  hooks:
    stop_producers:
      callable: tests.live.test_whole_migration_with_kills.stop_no_producer
"""


@dataclass
class SharedStage(DagStage):
    """A cutover whose rows in Airflow are those of several processes."""

    chance: random.Random = field(default_factory=lambda: random.Random(59378))
    met: set[tuple[str, tuple[Moment, ...]]] = field(default_factory=set)

    def write_file(self, topics: object = None) -> None:
        """Write the migration file."""
        super().write_file(None)
        with (self.folder / "migrations" / f"{self.name}.yaml").open("a") as file:
            file.write(HOOK.format(name=self.name))

    def twice(self, task_id: str) -> None:
        """Make a try of a task with two processes in an order by chance; one acts, and nothing is lost."""
        some = [order for order, _ in zip(orders(STOPS, self.chance), range(2 * STOPS), strict=False)]
        killed_at = self.chance.choice([0, 0, self.chance.randint(1, 20)])
        self.try_id = str(uuid4())
        moments, ends = meet(lambda: self.attempt(task_id), self.chance.choice(some), killed_at)
        self.try_id = ""
        self.met.add((task_id, tuple(moments)))
        _require_one_acted(ends, moments)
        if "succeeded" not in ends:
            self.attempt_until_settled(task_id)
        self.states[task_id] = "success"
        assert () == self.run.evidence.changes(), moments


def _require_one_acted(ends: tuple[str, str], moments: list[Moment]) -> None:
    """One process has succeeded, unless it was killed; the other one says that the first one acts."""
    acted = [end for end in ends if Code.TRY_RUNS_TWICE not in end]
    assert acted in (["succeeded"], ["killed"], ["killed", "succeeded"], ["succeeded", "killed"]), (ends, moments)


@pytest.fixture
def stages(brokers: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Iterator[SharedStage]]:
    """Cutovers of one topic and one group each, whose rows in Airflow a server of their own has."""
    set_the_stage_of_dags(brokers, tmp_path, monkeypatch)
    with Airflow() as airflow:
        names = [f"twice-{number}-{uuid4().hex[:6]}" for number in range(CUTOVERS)]
        anchors = {name: airflow.anchor() for name in names}
        Stops.add(monkeypatch, anchors[names[0]])
        deployed = replace(context_module.deployment(), anchor=anchors.__getitem__)
        monkeypatch.setattr(context_module, "deployment", lambda: deployed)

        def made() -> Generator[SharedStage, None, None]:
            for name in names:
                rows = FakeTaskInstance(kept=KeptValues(Rows(airflow.dict()), Rows(airflow.dict())), max_tries=5)
                stage = SharedStage(
                    brokers, name, tmp_path, [f"{name}-a"], params={"mode": "cutover"}, task_instance=rows
                )
                try:
                    yield stage
                finally:
                    stage.end()

        stages = made()
        yield stages
        # A test that fails leaves its stage to this.
        stages.close()


def cut_over(stage: SharedStage) -> None:
    """Do a whole cutover, in which two processes make each try of seven tasks."""
    (topic,), group = stage.topics, f"{stage.name}-group"
    stage.create(topic)
    stage.produce(topic, *(b"%d" % number for number in range(RECORDS)))
    commit(stage.source, group, topic, {0: 20})
    stage.attempt("preflight")
    stage.twice("reserve")
    stage.attempt("plan")
    stage.twice("create_topics")
    stage.twice("start_mirror")
    assert 1 == len(jvm_pids(stage))
    watching, producers = stage.waiting("watch_lag"), stage.waiting("stop_producers")
    stage.resume("stop_producers", producers.event(), "announced")
    stage.resume("watch_lag", watching.event())
    stage.twice("stop_mirror")
    assert [] == jvm_pids(stage)
    stage.attempt("validate_topics")
    stage.twice("judge")
    stage.attempt("drain_groups", "translate_offsets", "plan_offsets")
    stage.approve()
    stage.twice("sync_offsets")
    stage.attempt("confirm_cutover", "after_cutover", "restore_settings")
    stage.twice("finish")


def require_whole(stage: SharedStage) -> None:
    """Records, group, ledger and report are those of a cutover in which each try had one process."""
    (topic,), ledger = stage.topics, stage.run.ledger.read()
    assert [b"%d" % number for number in range(RECORDS)] == stage.copied_values(topic)
    plan = OffsetsPlan.from_document(stage.run.evidence.require(Kind.OFFSETS_PLAN)["plan"])
    planned = plan.planned[0].proposed[TopicPartition(topic, 0)].offset
    assert (20, {0: planned}) == (planned, committed(stage.target, f"{stage.name}-group", topic))
    assert (Phase.CUT_OVER, None, 1) == (ledger.phase, ledger.open_generation, len(ledger.judgements))
    assert not (stage.host_folder / "reservation").exists()
    anchor = context_module.deployment().anchor
    kept = [value for (_, _, key), value in stage.task_instance.kept.xcoms.items() if key == KEY]
    store = MigrationStore(stage.run.deployment.evidence_root, stage.name, anchor)
    checked = checked_report(store, run_folder(store, None), AskedAirflow(lambda _: kept))
    assert ReportState.UNCHANGED is checked.answer, checked


def test_two_processes_of_a_try(stages: Iterator[SharedStage]) -> None:
    """Stopped against each other at their writes, one process acts and the other one says so; the next run passes."""
    met = 0
    for stage in stages:
        cut_over(stage)
        require_whole(stage)
        stage.next_run()
        stage.params = {"mode": "validate"}
        stage.attempt("preflight", "reserve", "plan", "stop_mirror", "validate_topics", "judge", "finish")
        met += len(stage.met)

    assert 7 * CUTOVERS == met
