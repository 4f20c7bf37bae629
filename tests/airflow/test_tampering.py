"""Evidence that somebody tampered with, at each step of a cutover, document by document: refused, nothing written."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk.exceptions import AirflowSkipException, TaskAwaitingInput, TaskDeferred

from kafka_migration.core.evidence.documents import Kind, document_name, parse_document_name
from kafka_migration.core.migration.settings import HookName
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.approve import ApproveOperator
from kafka_migration.orchestration.operators.confirm_cutover import ConfirmCutoverOperator
from kafka_migration.orchestration.operators.create_topics import CreateTopicsOperator
from kafka_migration.orchestration.operators.finish import FinishOperator
from kafka_migration.orchestration.operators.hook import HookOperator
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan import PlanOperator
from kafka_migration.orchestration.operators.plan_offsets import PlanOffsetsOperator
from kafka_migration.orchestration.operators.plan_rollback import PlanRollbackOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.reserve import ReserveOperator
from kafka_migration.orchestration.operators.restore_settings import RestoreSettingsOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.stop_mirror import StopMirrorOperator
from kafka_migration.orchestration.operators.sync_offsets import SyncOffsetsOperator
from kafka_migration.orchestration.operators.translate_offsets import TranslateOffsetsOperator
from kafka_migration.orchestration.operators.validate_topics import ValidateTopicsOperator
from kafka_migration.orchestration.sensors.drain_groups import DrainGroupsSensor
from kafka_migration.orchestration.sensors.watch_lag import MirrorLagSensor
from tests.airflow.conftest import World
from tests.airflow.cutover import BILLING, P0, P1, answer, approved
from tests.airflow.driving import event_of
from tests.airflow.running import do, finish, mirror, refusal_codes, validated, watch_event

pytestmark = pytest.mark.airflow

CONTENT = "cutover:\n  hooks:\n    after_cutover:\n      callable: builtins.dict\n"


def _reads(path: Path) -> bytes:
    return path.read_bytes()


def _changed(path: Path) -> None:
    """Change one value, and leave a document that can be read."""
    if path.suffix == ".yaml":
        path.write_text(path.read_text().replace("mirror_host", "other_host"))
    else:
        path.write_text(json.dumps({**json.loads(_reads(path)), "at": "another time"}))


def _older(path: Path) -> None:
    """Put what an earlier version of the document may have said in its place."""
    path.write_text('{"at": "earlier"}' if path.suffix == ".json" else "version: 1\n")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "changed": _changed,
    "deleted": lambda path: path.unlink(),
    "cut in half": lambda path: path.write_bytes(_reads(path)[: path.stat().st_size // 2]),
    "emptied": lambda path: path.write_bytes(b""),
    "older version restored": _older,
}


def _event(world: World, operator: type[Any], event: dict[str, Any]) -> None:
    sensor = operator(task_id=operator.__name__, migration="shop")
    sensor.execute_complete(world.context(), event)


def _watched(world: World) -> None:
    _event(world, MirrorLagSensor, watch_event(world, "drained"))


def _hook(world: World, name: HookName) -> None:
    HookOperator(task_id=name, migration="shop", hook=name).execute(world.context())


# The steps of a cutover that act, in order; waits end as Airflow ends them.
STEPS: dict[str, Callable[[World], object]] = {
    "preflight": lambda world: do(world, PreflightOperator),
    "reserve": lambda world: do(world, ReserveOperator),
    "plan": lambda world: do(world, PlanOperator),
    "create_topics": lambda world: do(world, CreateTopicsOperator),
    "start_mirror": lambda world: do(world, StartMirrorOperator),
    "stop_producers": lambda world: _hook(world, HookName.STOP_PRODUCERS),
    "watch_lag": lambda world: do(world, MirrorLagSensor),
    "copy": lambda world: mirror(world, {P0: 4, P1: 1}),
    "watch_lag ends": _watched,
    "stop_mirror": lambda world: do(world, StopMirrorOperator),
    "validate_topics": lambda world: do(world, ValidateTopicsOperator),
    "judge": lambda world: do(world, JudgeOperator),
    "drain_groups": lambda world: do(world, DrainGroupsSensor),
    "translate_offsets": lambda world: do(world, TranslateOffsetsOperator),
    "plan_offsets": lambda world: do(world, PlanOffsetsOperator),
    "approve": lambda world: do(world, ApproveOperator),
    "approve is answered": answer,
    "sync_offsets": lambda world: do(world, SyncOffsetsOperator),
    "confirm_cutover": lambda world: do(world, ConfirmCutoverOperator),
    "after_cutover": lambda world: _hook(world, HookName.AFTER_CUTOVER),
    "restore_settings": lambda world: do(world, RestoreSettingsOperator),
}
# MirrorMaker itself reads no evidence, and stopping it is never refused: see below.
REFUSING = tuple(step for step in STEPS if step not in {"preflight", "copy", "stop_mirror"})


@pytest.fixture
def cutover(world: World, asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> World:
    """A cutover before its first step."""
    path = world.migrations / "shop.yaml"
    path.write_text(path.read_text() + CONTENT)
    world.params = {"mode": "cutover"}
    for number in range(4):
        world.source.produce("orders", 0, (b"k%d" % number, b"v"))
    world.source.produce("orders", 1, (b"k", b"v"))
    world.source.commit("billing", BILLING)

    def submit(operator: Any, context: Any) -> None:
        validated(world, submitted=operator.application_args)

    monkeypatch.setattr(SparkSubmitOperator, "execute", submit)
    return world


def until(world: World, step: str) -> None:
    """Do what comes before a step."""
    for name, act in STEPS.items():
        if name == step:
            return
        perform(world, act)


def perform(world: World, act: Callable[[World], object]) -> None:
    """Do a step; one that waits has done what it does until then."""
    try:
        act(world)
    except (TaskDeferred, TaskAwaitingInput, AirflowSkipException):
        return


def documents(world: World) -> Iterator[Path]:
    """Yield the run's documents."""
    for path in sorted(world.run.evidence.folder.glob("*")):
        if parse_document_name(path.name) or path.name == "migration.yaml":
            yield path


def outside(world: World) -> dict[str, Any]:
    """Return everything that a step may change beside the run's evidence."""
    ledger = world.run.ledger.folder
    return copy.deepcopy(
        {
            "clusters": [(side.topics, side.groups) for side in (world.source, world.target)],
            "host": (world.host.processes, world.host.holder),
            "ledger": {path.name: path.read_bytes() for path in ledger.iterdir()} if ledger.exists() else {},
        }
    )


def assert_refused(world: World, act: Callable[[World], object], name: str) -> None:
    """The step refuses by the document's name, and has changed nothing; what it recorded of that is taken away."""
    before, kept, there = outside(world), copy.deepcopy(world.task_instance.kept), set(documents(world))
    with pytest.raises(FailedForGood, match=rf"EVIDENCE_CHANGED · document attempt-1/{name}: found "):
        act(world)
    assert before == outside(world)
    (refusal,) = set(documents(world)) - there
    assert f"-{Kind.REFUSAL}-" in refusal.name
    refusal.unlink()
    vars(world.task_instance.kept).update(vars(kept))


@pytest.mark.parametrize("step", REFUSING)
def test_step_refuses_damage_to_any_document(cutover: World, step: str) -> None:
    """Each step names each document that was damaged, and goes on with everything as it was.

    What is done to a document is another thing at each of five steps in a row; all of it at one step is below.
    """
    until(cutover, step)
    for number, path in enumerate(list(documents(cutover)), REFUSING.index(step)):
        content = _reads(path)
        list(DAMAGES.values())[number % len(DAMAGES)](path)
        assert_refused(cutover, STEPS[step], path.name)
        path.write_bytes(content)
    perform(cutover, STEPS[step])


@pytest.mark.parametrize("step", REFUSING)
def test_step_refuses_a_document_that_no_task_wrote(cutover: World, step: str) -> None:
    """A document beside the run's own, such as a forged answer or a newer copy of one that is there, is named."""
    until(cutover, step)
    folder = cutover.run.evidence.folder
    there = {parsed[0] for path in documents(cutover) if (parsed := parse_document_name(path.name))}
    for kind in {Kind.APPROVE, Kind.OFFSETS_BEFORE, *there}:
        path = folder / document_name(kind, 99)
        path.write_bytes(max(folder.glob(f"??-{kind}-*.json"), default=folder / "migration.yaml").read_bytes())
        assert_refused(cutover, STEPS[step], path.name)
        path.unlink()
    perform(cutover, STEPS[step])


@pytest.mark.parametrize("kind", Kind)
def test_document_of_every_kind_is_vouched_for(scene: World, kind: Kind) -> None:
    """Of whatever kind a document is, nothing is written over one that is not what the run wrote, or beside it."""
    approved(scene)
    path = Path(scene.run.evidence.write(kind, {"at": "now"}))
    content = path.read_bytes()
    for damage in DAMAGES.values():
        damage(path)
        assert_refused(scene, STEPS["sync_offsets"], path.name)
        path.write_bytes(content)
    doubled = path.with_name(document_name(kind, 99))
    doubled.write_bytes(content)
    assert_refused(scene, STEPS["sync_offsets"], doubled.name)


def test_run_that_is_cleared_refuses_what_was_done_to_its_earlier_attempt(scene: World) -> None:
    """The documents of earlier attempts are checked as well."""
    path = next(path for path in documents(scene) if path.name.startswith(document_name(Kind.JUDGE, 1)[:2]))
    scene.dag_run.clear_number = 1
    _changed(path)

    assert_refused(scene, STEPS["plan_offsets"], path.name)


@pytest.fixture
def hosts(world: World) -> set[str]:
    """The connections by which a MirrorMaker host was asked for."""
    seen: set[str] = set()

    def host(migration: str, connection_id: str) -> Any:
        seen.add(connection_id)
        return world.host

    world.deployed["open_host"] = host
    return seen


@pytest.mark.parametrize("step", ["stop_producers", "watch_lag", "watch_lag ends", "stop_mirror"])
def test_mirrormaker_is_stopped_whatever_was_done(cutover: World, hosts: set[str], step: str) -> None:
    """With every document damaged the right MirrorMaker is stopped and certified, and freed; the run fails."""
    until(cutover, step)
    for number, path in enumerate(list(documents(cutover))):
        list(DAMAGES.values())[number % len(DAMAGES)](path)
    (cutover.run.evidence.folder / "migration.yaml").write_text("mirror: {connection: mallory}")

    assert do(cutover, StopMirrorOperator)["stopped"]
    with pytest.raises(FailedForGood, match=r"EVIDENCE_CHANGED · document attempt-1/migration\.yaml"):
        finish(cutover, stop_mirror="success", validate_topics="failed")

    run = json.loads((cutover.run.evidence.folder / "run.json").read_text())
    assert {"mirror_host"} == hosts
    assert ("failed", "") == (run["outcome"], cutover.host.holder)
    assert "EVIDENCE_CHANGED" in {finding["code"] for finding in run["findings"]}
    assert cutover.run.ledger.read().open_generation is None


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


def _file_for_a_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("elsewhere"))
    path.parent.write_text("no folder")


@pytest.mark.parametrize("damage", [_loop, _file_for_a_folder])
@pytest.mark.parametrize("operator", [StopMirrorOperator, FinishOperator])
def test_no_damage_to_the_evidence_keeps_mirrormaker_alive(
    cutover: World, damage: Callable[[Path], None], operator: type[Any]
) -> None:
    """Where documents cannot even be opened, each of both teardowns alone stops MirrorMaker before it fails."""
    until(cutover, "stop_mirror")
    damage(cutover.run.evidence.folder / document_name(Kind.PLAN, 1))

    with suppress(FailedForGood, OSError):
        finish(cutover) if operator is FinishOperator else do(cutover, operator)

    assert not cutover.host.status().is_running


def test_run_whose_evidence_was_changed_at_its_very_end_fails(cutover: World) -> None:
    """The last task finds what was changed after all others, and says so."""
    until(cutover, "")
    path = cutover.run.evidence.folder / document_name(Kind.OFFSETS_RESULT, 1)
    _changed(path)

    with pytest.raises(FailedForGood, match=f"EVIDENCE_CHANGED · document attempt-1/{path.name}"):
        finish(cutover, **dict.fromkeys(("preflight", "sync_offsets"), "success"))
    assert ["EVIDENCE_CHANGED"] == refusal_codes(cutover)


def test_watch_says_what_was_changed(cutover: World) -> None:
    """The trigger itself ends the watch when the plan is not the run's own; nothing is started again."""
    until(cutover, "watch_lag")
    with pytest.raises(TaskDeferred) as deferred:
        do(cutover, MirrorLagSensor)
    _changed(cutover.run.evidence.folder / document_name(Kind.PLAN, 1))
    event = event_of(deferred.value.trigger)

    assert "failed" == event["outcome"]
    assert ["EVIDENCE_CHANGED"] == [finding["code"] for finding in event["findings"]]


def test_rollback_reads_a_cutovers_evidence_as_the_ledger_knows_it(cutover: World) -> None:
    """Offsets that were saved before a cutover and changed since are put back nowhere."""
    until(cutover, "")
    finish(cutover, sync_offsets="success")
    saved = cutover.run.evidence.folder / document_name(Kind.OFFSETS_BEFORE, 1)
    _changed(saved)
    cutover.task_instance.run_states[cutover.dag_run.run_id] = "success"
    cutover.dag_run.other_dag_id, cutover.dag_run.run_id = "kafka_rollback__shop", "manual__2"
    cutover.params = {"mode": "restore"}
    do(cutover, PreflightOperator, ReserveOperator)

    assert_refused(cutover, lambda world: do(world, PlanRollbackOperator), saved.name)
