"""Rules of a watch over several generations, and of what it proves: the whole trigger on fakes and a fake clock."""

from __future__ import annotations

import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.steps.mirror.watching import watcher_of
from tests.steps.engines import ALARM, lossy
from tests.steps.watching import Restart, Scene, a_watch, codes, found, started, watch
from tests.steps.world import AUDIT, P0, P1, World


@pytest.fixture
def scene(world: World, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A sync with five records to copy that polls every 15 seconds; a stall is 180 seconds without progress."""
    return started(world, {"mode": "sync"}, records=5)


def script(scene: Scene, *acts: Callable[[], Any]) -> None:
    """Do one act before each next poll."""
    left = list(acts)
    scene.script = lambda now: left.pop(0)() if left else None


def test_event_names_the_generation_that_is_to_be_stopped(scene: Scene) -> None:
    """A MirrorMaker that died is started again during the watch, and the event names the new generation."""
    script(scene, scene.world.host.die, lambda: None, lambda: None, lambda: scene.world.assign(), scene.copy)
    event = watch(scene)

    assert ("drained", 2, []) == (event["outcome"], event["generation"], event["findings"])
    assert any("it is started again in 5 s" in state for state in scene.states)
    assert any("started again as generation 2" in state for state in scene.states)
    assert [1] == [death["generation"] for death in scene.world.run.evidence.of_attempt(Kind.RESTART)]


@pytest.mark.parametrize("refusing", ["source", "target"])
def test_login_that_is_refused_by_now_ends_the_watch(scene: Scene, refusing: str) -> None:
    """Before MirrorMaker is started again, each connection is read again and used: a refusal ends the watch."""
    world = scene.world
    clusters: dict[str, Any] = {"source": world.source, "target": world.target}

    def refuse() -> Any:
        raise Refused([Finding(Code.LOGIN_REFUSED, refusing, "a refusal", "a login", "Correct it.")])

    def rotate_and_die() -> None:
        clusters[refusing] = SimpleNamespace(facts=refuse, close=list)
        world.host.die()

    world.deployed["open_cluster"] = lambda side, _: clusters[side]
    script(scene, rotate_and_die)
    event = watch(scene)

    assert ("failed", [Code.LOGIN_REFUSED]) == (event["outcome"], codes(event))
    assert 1 == world.host.last


def test_restarted_trigger_watches_the_newest_generation(scene: Scene) -> None:
    """A restarted trigger, whose arguments name the first generation, watches the newest one of the ledger."""
    trigger = a_watch(scene.world)

    def restart() -> None:
        raise Restart

    script(scene, scene.world.host.die, lambda: None, lambda: None, restart)
    with pytest.raises(Restart):
        watch(scene, trigger)
    assert 2 == scene.world.host.last

    script(scene, scene.copy)
    event = watch(scene, trigger)
    assert ("drained", 2) == (event["outcome"], event["generation"])
    assert scene.world.host.processes[2].renewals > 0


def test_request_to_stop_an_earlier_generation_holds(scene: Scene) -> None:
    """A request to stop ends the watch also if the generation that it named has died since."""
    world = scene.world
    request = StopRequest(1, "t", "ada", "enough")
    script(scene, world.host.die, lambda: None, lambda: world.run.stop_requests.request(request))
    event = watch(scene)

    assert ("behind", 2) == (event["outcome"], event["generation"])
    assert "ada" in event["reason"]


def test_death_after_a_request_to_stop_is_not_undone(scene: Scene) -> None:
    """Regression: a MirrorMaker that died after a request to stop was started again."""
    world = scene.world
    request = StopRequest(1, "t", "t", "ada", "enough")

    def ask_and_die() -> None:
        world.run.stop_requests.request(request)
        world.host.die()

    script(scene, ask_and_die)

    assert ("behind", 1) == (watch(scene)["outcome"], world.host.last)


def test_stopped_under_the_watch_is_failed_and_not_started_again(scene: Scene) -> None:
    """A stop on the host fails the watch, and nothing is started again."""
    world = scene.world
    script(scene, lambda: world.host.stop(world.run.identity.holder, 1, 90))

    assert ["MIRROR_DEAD"] == codes(watch(scene))
    assert 1 == world.host.last


@pytest.mark.parametrize("dies", [False, True])
def test_marker_that_was_proved_and_then_deleted_is_no_gap(
    world: World, monkeypatch: pytest.MonkeyPatch, dies: bool
) -> None:
    """Regression: a marker that a probe had passed and retention then deleted was taken for a gap."""
    world.source.produce("orders", 0, *[(b"k", b"v")] * 5)
    world.source.leave_holes("orders", 0, 2)
    scene = started(world, {"mode": "sync"}, records=1)
    world.store_position(4)

    acts = [lambda: None, lambda: world.source.purge("orders", 0, 7), *[world.host.die] * dies]
    script(scene, *acts, lambda: None, lambda: None, lambda: world.assign(), lambda: world.store_position(7))
    event = watch(scene)

    assert ("drained", [], 1 + dies) == (event["outcome"], event["findings"], event["generation"])
    assert 8 == event["proved"]["orders"]["0"]


def test_proof_ends_with_the_positions_it_began_at(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: after positions were set back, offsets proved from the old positions counted as copied."""
    engine = lossy(world)
    scene = started(world, {"mode": "sync"}, records=5)
    engine.assigned = frozenset((P0, P1, AUDIT))
    engine.positions[P0] = 4
    world.source.compact("orders", 0, 4)
    scene.produce()
    watcher = watcher_of(world.run, 1, None)
    polls = [watcher.poll(), watcher.poll()]
    world.host.log = ALARM
    world.host.die()
    assert ([None] * 2, 5) == (polls, watcher.watch.proved[P0])

    polls = [watcher.poll()]
    scene.clock.elapsed_s += 5
    polls += [watcher.poll() for _ in range(3)]
    assert ([None] * 4, 2, 0) == (polls, watcher.generation, engine.positions[P0])
    assert "Lag: 5" in watcher.progress


def test_gap_ends_the_watch(scene: Scene) -> None:
    """If the source deletes records before they are copied, the watch fails; stop_mirror says what is lost."""
    scene.world.store_position(1)
    script(scene, lambda: scene.world.source.purge("orders", 0, 4))
    event = watch(scene)

    assert ["GAP_DURING_RUN"] == codes(event)
    assert "The task stop_mirror names the offsets" in event["findings"][0]["remedy"]
    assert {"orders": {"0": [2, 4]}} == event["gaps"]


def test_source_that_deletes_while_it_is_probed_hides_no_gap(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe whose start was deleted finds the first remaining record, which proves nothing."""
    world = scene.world
    real = world.source.probe

    def deleting(*asked: Any) -> Any:
        world.source.purge("orders", 0, 4)
        return real(*asked)

    monkeypatch.setattr(world.source, "probe", deleting)

    assert ["GAP_DURING_RUN"] == codes(watch(scene))


def test_partition_that_no_task_has_is_never_drained(scene: Scene) -> None:
    """A watch with all goals reached waits until each partition is assigned, and fails with those that are not."""
    scene.copy()
    configs, task = InternalTopics.of("shop", 1).configs, b"task-MirrorSourceConnector-0"
    row = json.loads(dict(scene.world.target.read_table(configs))[task] or b"")
    row["properties"]["task.assigned.partitions"] = "orders-0,audit-0"
    scene.world.target.produce(configs, 0, (task, json.dumps(row).encode()))
    event = watch(scene)

    assert [("PARTITION_NOT_ASSIGNED", "orders[1]")] == found(event)
    assert "waiting, 1 partition(s) not assigned to a task yet" in scene.states


@pytest.mark.parametrize(
    ("log", "stable", "cause"),
    [
        (
            "WARN Got error NOT_ENOUGH_REPLICAS",
            None,
            "the target has not enough replicas in sync; MirrorMaker says: WARN Got",
        ),
        ("INFO well", None, "a quota on MirrorMaker's user, because"),
        ("WARN Got error NOT_ENOUGH_REPLICAS", 2, "an open transaction on the source"),
    ],
)
def test_stall_is_reported_with_its_likely_cause(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, log: str, stable: int | None, cause: str
) -> None:
    """The finding of a stalled partition has MirrorMaker's log line, or the open transaction."""
    scene.world.host.log = log
    source, real = scene.world.source, scene.world.source.log_end_offsets

    def ends(partitions: Any, isolation: Any) -> Any:
        is_behind = stable is not None and isolation == "read_committed"
        return {p: stable if is_behind and end else end for p, end in real(partitions, isolation).items()}

    monkeypatch.setattr(source, "log_end_offsets", ends)
    (finding,) = watch(scene)["findings"]

    assert ("MIRROR_STALLED", "orders[0]") == (finding["code"], finding["subject"])
    assert f"; likely cause: {cause}" in finding["found"]


def test_stall_is_reported_without_a_cause_if_the_host_does_not_answer(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stall is reported without a cause if the host does not answer."""
    monkeypatch.setattr(scene.world.host, "logs", lambda *a: (_ for _ in ()).throw(Refused([])))
    (finding,) = watch(scene)["findings"]

    assert "likely cause" not in finding["found"]


UNFIT = (
    "org.apache.kafka.common.config.ConfigException: Topic 'mm2-offsets.shop-source.internal' supplied via the "
    "'offset.storage.topic' property is required to have 'cleanup.policy=compact'"
)


def test_dead_worker_in_a_living_process_ends_the_watch_at_its_first_poll(scene: Scene) -> None:
    """MirrorMaker 2 may hang in its own shutdown: the cause is named at once, without a wait and without a restart."""
    host = scene.world.host
    host.alarm = "[2026-01-01 10:00:00,000] ERROR Uncaught exception in herder work thread, exiting:  (x)"
    host.log = f"{host.alarm}\n{UNFIT}\n\tat x\n[2026-01-01 10:00:01,000] INFO Kafka MirrorMaker stopping (x)\n"
    began_s = scene.clock.monotonic_s()
    event = watch(scene)

    (finding,) = event["findings"]
    assert ("MIRROR_TOPIC_UNFIT", True) == (finding["code"], UNFIT in finding["found"])
    assert scene.clock.monotonic_s() - began_s < 60
    assert 1 == len(scene.world.ledger.generations)


@pytest.mark.parametrize("code", ["MIRROR_STALLED", "PARTITION_NOT_ASSIGNED"])
def test_certain_cause_of_a_stall_is_what_the_finding_is_called_after(scene: Scene, code: str) -> None:
    """A right that is missing has its code, whether partitions have no task or make no progress; one for all."""
    scene.world.host.log = (
        "[2026-01-01 10:00:00,000] ERROR x\no.TopicAuthorizationException: Not authorized: [orders]\n"
    )
    if code == "PARTITION_NOT_ASSIGNED":
        scene.world.target.topics.pop(InternalTopics.of("shop", 1).configs, None)

    assert ["RIGHT_MISSING"] == codes(watch(scene))
