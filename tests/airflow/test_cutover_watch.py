"""Rules of `watch_lag` in a cutover: the whole trigger, driven over fakes and a clock of its own."""

from __future__ import annotations

import json

import pytest

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.orchestration.alerting import send
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.sensors.watch_lag import MirrorLagSensor
from kafka_migration.steps.alerts import producers_alert
from tests.airflow.driving import revived
from tests.airflow.notifying import with_alerts
from tests.airflow.watching import Scene, a_trigger, started, watch
from tests.airflow.world import P0, RECORD, World


@pytest.fixture
def scene(world: World, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A cutover in which nothing is to copy yet, with MirrorMaker started."""
    return started(world, monkeypatch, {"mode": "cutover"})


def test_cutover_starts_mirrormaker_with_nothing_to_copy(scene: Scene) -> None:
    """Records may arrive until the fence is proved, so MirrorMaker runs even at lag 0."""
    assert scene.world.run.evidence.require(Kind.PLAN)["offsets_to_copy"] == 0
    assert scene.world.host.status().is_running


def test_near_then_fence_then_drain(scene: Scene) -> None:
    """The producers are told to stop when the copy is near, and what they wrote until then is drained."""

    def script(now: Scene) -> None:
        if now.clock.elapsed_s <= 60:
            now.produce(3)
        if now.clock.elapsed_s in {15, 30, 45, 135}:
            now.copy()

    scene.produce(100)
    scene.script = script
    event = watch(scene)

    assert ("drained", {"0": 112, "1": 0}) == (event["outcome"], event["goals"]["orders"])
    assert {"announced_at": "2030-01-01T00:00:15+00:00", "quiet_s": 60, "ends": event["goals"]} == event["fence"]
    assert ["announced", "fenced"] == scene.stages()
    assert "near, fencing: orders[0] still moves (+3)" in scene.log.states
    assert scene.log.states[0].startswith("approaching, near is a lag of 5")
    assert scene.log.states[-1] == "fenced, at the goal, confirming"
    assert scene.world.host.processes[1].renewals == len(scene.log.infos)


def test_announcement_is_a_warning_and_evidence(scene: Scene) -> None:
    """Who has to stop what, and until when, stands in the log at WARNING and in the evidence."""
    watch(scene)
    announced = scene.world.run.evidence.of_attempt(Kind.WATCH)[0]
    text, proved = scene.log.warnings

    assert text.startswith("STOP YOUR PRODUCERS NOW.")
    assert "orders, audit" in text
    assert "until 2030-01-01T00:10:00+00:00 (cutover.fence_wait)" in text
    assert proved.startswith("The fence is proved")
    assert ("announced", 1, "2030-01-01T00:00:00+00:00", "0") == (
        announced["stage"],
        announced["generation"],
        announced["announced_at"],
        announced["lag"],
    )


def test_people_are_told_to_stop_the_producers(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the announcement an alert goes out, once, beside the polls; a restarted triggerer sends no other."""
    sent = with_alerts(scene.world)
    # What the run froze is from before.
    scene.world.freeze()

    watch(scene)
    send(scene.world.run, producers_alert(scene.world.run))

    assert ["producers"] == [text.partition(" · ")[0] for text in sent]
    assert "orders, audit" in sent[0]


def test_producer_that_goes_on_is_refused(scene: Scene) -> None:
    """After `fence_wait` the topic that still moves is named, and how fast; the copy is not called proved."""

    def script(now: Scene) -> None:
        now.produce(2, partition=1)
        now.copy()

    scene.script = script
    event = watch(scene)
    sensor = MirrorLagSensor(task_id="watch_lag", migration="shop")
    moves = r"FENCE_MOVING · topic orders: found orders\[1\] 72 → 80 \(\+8, 0.1/s\)"
    with pytest.raises(FailedForGood, match=moves):
        sensor.execute_complete(scene.world.context(), event)

    assert ("failed", {}) == (event["outcome"], event["goals"])
    assert scene.clock.elapsed_s == 600
    assert ["announced"] == scene.stages()
    assert [event["findings"][0]] == event["findings"]


def test_producers_are_not_told_to_stop_before_the_copy_is_near(scene: Scene) -> None:
    """Under traffic that MirrorMaker cannot follow nobody is asked for anything; the deadline ends the watch."""
    scene.produce(100)

    def script(now: Scene) -> None:
        now.copy()
        now.produce(100)

    scene.script = script
    event = watch(scene)

    assert ["MIRROR_TIMEOUT"] == [finding["code"] for finding in event["findings"]]
    assert ([], []) == (scene.stages(), scene.log.warnings)


def test_failed_watch_announces_nothing(scene: Scene) -> None:
    """With MirrorMaker dead the producers are not told to stop, however near the copy is."""
    scene.world.host.dies_at_start = True
    scene.world.host.die(1)
    event = watch(scene)

    assert ["MIRROR_DEAD"] == [finding["code"] for finding in event["findings"]]
    told = [warning for warning in scene.log.warnings if "ended: exit code 1" not in warning]
    assert ([], []) == (scene.stages(), told)


def test_time_of_the_announcement_survives_a_restart(scene: Scene) -> None:
    """A restarted triggerer reads the announcement back: the time to wait is not granted twice."""
    trigger = a_trigger(scene)

    def crash_at_300_s(now: Scene) -> None:
        now.produce()
        now.copy()
        if now.clock.elapsed_s == 300:
            raise ConnectionAbortedError

    scene.script = crash_at_300_s
    with pytest.raises(ConnectionAbortedError):
        watch(scene, trigger)
    scene.clock.elapsed_s = 480
    event = watch(scene, revived(trigger))

    assert (["FENCE_MOVING"], 600) == ([f["code"] for f in event["findings"]], scene.clock.elapsed_s)
    assert ["announced"] == scene.stages()
    assert 2 == len([line for line in scene.log.warnings if "until 2030-01-01T00:10:00+00:00" in line])


def test_proved_fence_survives_a_restart(scene: Scene) -> None:
    """A triggerer restarted while draining, even after the time to wait, goes on with the fenced ends."""
    trigger = a_trigger(scene)

    def crash_when_fenced(now: Scene) -> None:
        if "fenced" in now.stages():
            raise ConnectionAbortedError

    scene.script = crash_when_fenced
    with pytest.raises(ConnectionAbortedError):
        watch(scene, trigger)
    scene.clock.elapsed_s, scene.script = 900, lambda now: None
    event = watch(scene, revived(trigger))

    assert ("drained", 915) == (event["outcome"], scene.clock.elapsed_s)
    assert ["announced", "fenced"] == scene.stages()


def test_fence_that_breaks_while_draining_is_proved_again(scene: Scene) -> None:
    """A straggler after the proof is told of, waited out, and part of the goals."""

    def script(now: Scene) -> None:
        if now.stages() == ["announced", "fenced"] and not now.world.source.topics["audit"].partitions[0].records:
            now.world.source.produce("audit", 0, RECORD)
            now.world.target.produce("audit", 0, RECORD)
            _store_audit_position(now)

    scene.script = script
    event = watch(scene)

    assert ("drained", {"0": 1}) == (event["outcome"], event["goals"]["audit"])
    assert ["announced", "fenced", "fenced"] == scene.stages()
    assert any(
        line.startswith("THE FENCE BROKE") and "audit[0] still moves (+1)" in line for line in scene.log.warnings
    )


def _store_audit_position(scene: Scene) -> None:
    topics = InternalTopics.of(scene.world.run.name, 1)
    scene.world.target.create_topics([NewTopic(topics.offsets, 1, 1, {})])
    key = json.dumps(["MirrorSourceConnector", {"cluster": "shop-source", "partition": 0, "topic": "audit"}]).encode()
    scene.world.target.produce(topics.offsets, 0, (key, json.dumps({"offset": 0}).encode()))


def test_partition_added_during_the_fence_is_fenced_and_drained(scene: Scene) -> None:
    """A partition that the plan did not know belongs to the fenced ends too."""

    def script(now: Scene) -> None:
        if now.clock.elapsed_s == 30:
            now.world.source.create_partitions({"orders": 3})
            now.world.target.create_partitions({"orders": 3})
            now.produce(4, partition=2)
            now.copy()

    scene.script = script

    assert {"0": 0, "1": 0, "2": 4} == watch(scene)["goals"]["orders"]


def test_source_that_does_not_answer_is_waited_for(scene: Scene) -> None:
    """While the source cannot be asked the line keeps the stage, and nothing counts as still or as moving."""

    def script(now: Scene) -> None:
        now.world.source.is_down = 15 <= now.clock.elapsed_s < 700

    scene.script = script

    assert watch(scene)["outcome"] == "drained"
    assert "near, waiting, old did not answer within 20 s" in scene.log.states


def test_cleared_run_announces_anew(scene: Scene) -> None:
    """The announcement of an earlier attempt, or of another generation, counts for nothing."""
    document = {"stage": "announced", "announced_at": "2029-12-31T00:00:00+00:00", "lag": "0"}
    scene.world.run.evidence.write(Kind.WATCH, {**document, "generation": 7})
    event = watch(scene)

    assert (event["outcome"], event["fence"]["announced_at"]) == ("drained", "2030-01-01T00:00:00+00:00")


def test_fenced_ends_are_what_the_stop_certifies(scene: Scene) -> None:
    """The watch's document holds fence and goals, and the stop takes the proved positions from it."""
    scene.produce(3)
    scene.script = lambda now: now.copy()
    event = watch(scene)
    scene.world.task("watch_lag").execute_complete(scene.world.context(), event)
    document = scene.world.run.evidence.require(Kind.WATCH)
    scene.world.task("stop_mirror").execute(scene.world.context())
    stop = scene.world.ledger.last_stop

    assert (event["goals"], event["fence"]) == (document["goals"], document["fence"])
    assert stop is not None
    assert stop.mirror_positions[P0] == 3


def test_stage_alone_proves_nothing(scene: Scene) -> None:
    """A watch that never ended leaves its stages, and the stop certifies what MirrorMaker stored."""
    fenced = {"stage": "fenced", "generation": 1, "ends": {"orders": {"0": 99}}}
    scene.world.run.evidence.write(Kind.WATCH, fenced)
    scene.world.task("stop_mirror").execute(scene.world.context())
    stop = scene.world.ledger.last_stop

    assert stop is not None
    assert stop.mirror_positions[P0] == 0


@pytest.mark.parametrize("mode", ["sync", "rehearse"])
def test_sync_proves_the_goals_of_the_plan(scene: Scene, mode: str) -> None:
    """Without a cutover nobody is told to stop, and the event holds the plan's goals as proved."""
    scene.world.params["mode"] = mode
    event = watch(scene)

    assert {"outcome": "drained", "goals": {"audit": {"0": 0}, "orders": {"0": 0, "1": 0}}}.items() <= event.items()
    assert event["fence"] is None
    assert [] == scene.stages()
