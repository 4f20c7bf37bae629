"""Rules of a watch over more than one generation, and of what it proves: the whole trigger over fakes and a clock."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from airflow.sdk.exceptions import TaskDeferred
from airflow.triggers.base import BaseTrigger

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.stop_request import StopRequest
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.orchestration.operators.reserve import ReserveOperator
from kafka_migration.orchestration.sensors.watch_lag import MirrorLagSensor
from tests.airflow.driving import revived
from tests.airflow.engines import ALARM, lossy
from tests.airflow.watching import Scene, a_trigger, started, watch
from tests.airflow.world import P0, World


@pytest.fixture
def scene(world: World, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A sync that has five records to copy, and polls every 15 seconds; a partition may stand still for 180."""
    return started(world, monkeypatch, {"mode": "sync"}, records=5)


def script(scene: Scene, *acts: Callable[[], Any]) -> None:
    """Do one act before each next poll, and nothing more when they are done."""
    left = list(acts)
    scene.script = lambda now: left.pop(0)() if left else None


def codes(event: dict[str, Any]) -> list[str]:
    return [finding["code"] for finding in event["findings"]]


def test_event_names_the_generation_that_is_to_be_stopped(scene: Scene) -> None:
    """A MirrorMaker that died is started again within the watch, which goes on to its end with the next generation."""
    script(scene, scene.world.host.die, lambda: None, lambda: None, lambda: scene.world.assign(), scene.copy)
    event = watch(scene)

    assert ("drained", 2, []) == (event["outcome"], event["generation"], event["findings"])
    assert any("it is started again in 5 s" in state for state in scene.log.states)
    assert any("started again as generation 2" in state for state in scene.log.states)
    assert [1] == [death["generation"] for death in scene.world.run.evidence.of_attempt(Kind.RESTART)]


def test_restarted_trigger_watches_the_newest_generation(scene: Scene) -> None:
    """Its arguments name the first generation; the ledger knows which one runs now."""
    trigger = a_trigger(scene)

    class Restart(BaseException):
        """The triggerer is gone."""

    def restart() -> None:
        raise Restart

    script(scene, scene.world.host.die, lambda: None, lambda: None, restart)
    with pytest.raises(Restart):
        watch(scene, trigger)
    assert 2 == scene.world.host.last

    script(scene, scene.copy)
    event = watch(scene, revived(trigger))
    assert ("drained", 2) == (event["outcome"], event["generation"])
    assert scene.world.host.processes[2].renewals > 0


def test_request_to_stop_an_earlier_generation_holds(scene: Scene) -> None:
    """A person asked while the first generation ran; that it has died since does not take it back."""
    world = scene.world
    request = StopRequest(1, "t", "ada", "enough")
    script(scene, world.host.die, lambda: None, lambda: world.run.stop_requests.request(request))
    event = watch(scene)

    assert ("behind", 2) == (event["outcome"], event["generation"])
    assert "ada" in event["reason"]


def test_death_after_a_request_to_stop_is_not_undone(scene: Scene) -> None:
    """Regression: what was asked to end was started again when it died first, and the request was forgotten."""
    world = scene.world
    request = StopRequest(1, "t", "t", "ada", "enough")

    def ask_and_die() -> None:
        world.run.stop_requests.request(request)
        world.host.die()

    script(scene, ask_and_die)

    assert ("behind", 1) == (watch(scene)["outcome"], world.host.last)


def test_event_of_an_earlier_attempt_is_waited_past(scene: Scene) -> None:
    """Regression: Airflow handed the event of the cleared attempt's trigger to the new one, which failed by it."""
    scene.copy()
    event = watch(scene)
    world = scene.world
    world.dag_run.clear_number = 1
    world.task("reserve").execute(world.context())
    sensor = MirrorLagSensor(task_id="watch_lag", migration="shop")

    with pytest.raises(TaskDeferred):
        sensor.execute_complete(world.context(), event)


def test_stopped_under_the_watch_is_failed_and_not_started_again(scene: Scene) -> None:
    """Somebody on the host said stop: the watch ends, and nothing starts."""
    world = scene.world
    script(scene, lambda: world.host.stop(world.run.identity.holder, 1, 90))

    assert ["MIRROR_DEAD"] == codes(watch(scene))
    assert 1 == world.host.last


@pytest.mark.parametrize("dies", [False, True])
def test_marker_that_was_proved_and_then_deleted_is_no_gap(
    world: World, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    """Regression: retention took a marker that a probe had passed over; also where MirrorMaker died thereafter."""
    world.source.produce("orders", 0, *[(b"k", b"v")] * 5)
    world.source.leave_holes("orders", 0, 2)
    scene = started(world, monkeypatch, {"mode": "sync"}, records=1)
    world.store_position(4)

    acts = [lambda: None, lambda: world.source.purge("orders", 0, 7), *[world.host.die] * dies]
    script(scene, *acts, lambda: None, lambda: None, lambda: world.assign(), lambda: world.store_position(7))
    event = watch(scene)

    assert ("drained", [], 1 + dies) == (event["outcome"], event["findings"], event["generation"])
    assert 8 == event["proved"]["orders"]["0"]


def test_proof_ends_with_the_positions_it_began_at(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: set back after lost records, what had been proved behind the old position counted as copied."""
    engine = lossy(world, monkeypatch)
    scene = started(world, monkeypatch, {"mode": "sync"}, records=5)
    engine.assigned = frozenset(TopicPartition(*p) for p in (("orders", 0), ("orders", 1), ("audit", 0)))
    engine.positions[P0] = 4
    world.source.compact("orders", 0, 4)
    scene.produce()
    watcher = a_trigger(scene)._watcher(world.run)
    polls = [watcher.poll(), watcher.poll()]
    world.host.log = ALARM
    world.host.die()
    assert ([None] * 2, 5) == (polls, watcher.watch.proved[P0])

    polls = [watcher.poll()]
    scene.clock.elapsed_s += 5
    polls += [watcher.poll() for _ in range(3)]
    assert ([None] * 4, 2, 0) == (polls, watcher.generation, engine.positions[P0])
    assert "Lag: 5" in watcher.progress


def test_overtaken_at_a_poll_ends_with_the_exact_range(scene: Scene) -> None:
    """MirrorMaker stands at 2 and the source begins at 4: two records are lost, and named."""
    scene.world.store_position(1)
    script(scene, lambda: scene.world.source.purge("orders", 0, 4))
    event = watch(scene)

    assert ["GAP_DURING_RUN"] == codes(event)
    assert "offsets 2–3" in event["findings"][0]["remedy"]
    assert {"orders": {"0": [2, 4]}} == event["gaps"]


def test_source_that_deletes_while_it_is_probed_hides_no_gap(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe whose start is gone meets the first record left; that is not taken for a proof."""
    world = scene.world
    real = world.source.probe

    def deleting(*asked: Any) -> Any:
        world.source.purge("orders", 0, 4)
        return real(*asked)

    monkeypatch.setattr(world.source, "probe", deleting)

    assert ["GAP_DURING_RUN"] == codes(watch(scene))


def test_partition_that_no_task_has_is_never_drained(scene: Scene) -> None:
    """With everything at its goal the watch waits for the assignment, and names what nobody copies."""
    scene.copy()
    configs, task = InternalTopics.of("shop", 1).configs, b"task-MirrorSourceConnector-0"
    row = json.loads(dict(scene.world.target.read_table(configs))[task] or b"")
    row["properties"]["task.assigned.partitions"] = "orders-0,audit-0"
    scene.world.target.produce(configs, 0, (task, json.dumps(row).encode()))
    event = watch(scene)

    assert [("PARTITION_NOT_ASSIGNED", "orders[1]")] == [(f["code"], f["subject"]) for f in event["findings"]]
    assert "waiting, 1 partition(s) not assigned to a task yet" in scene.log.states


@pytest.mark.parametrize(
    ("log", "stable", "cause"),
    [
        ("WARN Got error NOT_ENOUGH_REPLICAS", None, "the target has not enough replicas in sync; its log: WARN Got"),
        ("INFO well", None, "nothing in its log; a quota"),
        ("WARN Got error NOT_ENOUGH_REPLICAS", 2, "an open transaction on the source"),
    ],
)
def test_stall_is_told_with_its_likely_cause(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, log: str, stable: int | None, cause: str
) -> None:
    """The finding of a stalled partition carries MirrorMaker's log line, or the open transaction."""
    scene.world.host.log = log
    source, real = scene.world.source, scene.world.source.log_end_offsets

    def ends(partitions: Any, isolation: Any) -> Any:
        is_behind = stable is not None and isolation == "read_committed"
        return {p: stable if is_behind and end else end for p, end in real(partitions, isolation).items()}

    monkeypatch.setattr(source, "log_end_offsets", ends)
    (finding,) = watch(scene)["findings"]

    assert ("MIRROR_STALLED", "orders[0]") == (finding["code"], finding["subject"])
    assert f"; likely cause: {cause}" in finding["found"]


def test_stall_is_told_without_a_cause_where_nobody_answers(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """That the log cannot be read does not change how the watch ends."""
    monkeypatch.setattr(scene.world.host, "logs", lambda *a: (_ for _ in ()).throw(Refused([])))
    (finding,) = watch(scene)["findings"]

    assert "likely cause" not in finding["found"]


def killed(trigger: BaseTrigger) -> None:
    asyncio.run(trigger.on_kill())


def test_kill_stops_the_newest_generation(scene: Scene) -> None:
    """A person marked the waiting task: what runs now is stopped at once, not what the watch began with."""
    trigger = a_trigger(scene)
    script(scene, scene.world.host.die, lambda: None, lambda: None, scene.copy)
    watch(scene, trigger)
    killed(trigger)

    assert "stopped" == scene.world.host.processes[2].exit_reason


def test_late_kill_does_not_hit_the_next_attempt(scene: Scene) -> None:
    """Airflow calls it after a cleared task has begun anew: the host refuses it to whom it does not belong."""
    trigger, world = a_trigger(scene), scene.world
    world.dag_run.clear_number = 1
    reserve = ReserveOperator(task_id="reserve", migration="shop")
    reserve.execute(world.context())

    killed(trigger)

    assert any("RESERVED_BY" in line for line in scene.log.infos)
    assert world.host.status().is_running
