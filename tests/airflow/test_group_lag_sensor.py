"""Rules of the sensors that wait for consumer groups: whole triggers over a fake cluster and a clock of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from airflow.sdk import BaseSensorOperator
from airflow.sdk.exceptions import AirflowSensorTimeout, AirflowSkipException

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import CommittedOffset, IsolationLevel, NewTopic, Probe
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.sensors import group_lag as sensor_module
from kafka_migration.orchestration.sensors.drain_groups import DrainGroupsSensor
from kafka_migration.orchestration.sensors.group_lag import ConsumerGroupLagSensor
from kafka_migration.orchestration.triggers import group_lag as trigger_module
from kafka_migration.orchestration.triggers.group_lag import ConsumerGroupLagTrigger
from tests.airflow.driving import FakeClock, TriggerLog, deferred_by, event_of, let_time_pass, revived
from tests.airflow.notifying import with_alerts
from tests.airflow.world import AUDIT, P0, P1, RECORD, World
from tests.contract.fake_cluster import FakeCluster

CONTEXT: Any = {}


@dataclass
class Scene:
    """A cluster with `orders` (two partitions) and `audit`; `script` is what happens between two samples."""

    cluster: FakeCluster
    clock: FakeClock
    log: TriggerLog
    script: Callable[[], None] = lambda: None


@pytest.fixture
def scene(monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Three records in each of the partitions of orders, none in audit, no group."""
    made = Scene(FakeCluster("old"), FakeClock(), TriggerLog())
    made.cluster.create_topics([NewTopic("orders", 2, 1, {}), NewTopic("audit", 1, 1, {})])
    for partition in (0, 1):
        made.cluster.produce("orders", partition, *[RECORD] * 3)
    _connect(made, monkeypatch)
    return made


def _connect(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trigger_module, "cluster_at", lambda connection_id, insecure: scene.cluster)
    monkeypatch.setattr(trigger_module, "SystemClock", lambda: scene.clock)
    monkeypatch.setattr(sensor_module, "SystemClock", lambda: scene.clock)
    monkeypatch.setattr(ConsumerGroupLagTrigger, "log", scene.log)
    let_time_pass(monkeypatch, trigger_module, scene.clock, lambda: scene.script())


def a_sensor(*group_ids: str, **arguments: Any) -> ConsumerGroupLagSensor:
    return ConsumerGroupLagSensor(
        task_id="lag", kafka_conn_id="old_kafka", group_ids=group_ids or ("shop-app",), **{"timeout": 600, **arguments}
    )


def waited(sensor: BaseSensorOperator, context: Any = CONTEXT) -> dict[str, Any]:
    """Run the sensor wholly, its trigger made anew from what was serialized."""
    deferred = deferred_by(sensor, context)
    summary: dict[str, Any] = sensor.execute_complete(context, event_of(revived(deferred.trigger)))
    return summary


def test_sensor_defers_with_an_absolute_deadline_and_no_secret(scene: Scene) -> None:
    """The trigger holds ids, the rule and a deadline; Airflow's own limit lies above it."""
    deferred = deferred_by(a_sensor("shop-app", "billing", topics=["orders"], limit_offsets=5), CONTEXT)
    _, arguments = deferred.trigger.serialize()

    assert {
        "kafka_conn_id": "old_kafka",
        "groups": {"shop-app": ["orders"], "billing": ["orders"]},
        "limit_offsets": 5,
        "samples": 3,
        "freshness_s": 60.0,
        "poll_interval_s": 15.0,
        "deadline": "2030-01-01T00:10:00+00:00",
        "stall_after_s": 600.0,
        "unreachable_after_s": 1800.0,
        "run": None,
        "insecure": [],
    } == arguments
    assert deferred.timeout is not None
    assert deferred.timeout > timedelta(seconds=600)


def test_group_that_has_read_everything(scene: Scene) -> None:
    """With lag 0 in three samples in a row the sensor succeeds."""
    scene.cluster.commit("shop-app", {P0: 3, P1: 3})

    assert "Lag: 0; Within 0 offsets: 3 of 3 samples" in waited(a_sensor())["progress"]
    assert scene.clock.elapsed_s == 30


def test_samples_must_be_in_a_row(scene: Scene) -> None:
    """A record that arrives in between begins the count anew."""
    scene.cluster.commit("shop-app", {P0: 3, P1: 3})

    def script() -> None:
        if scene.clock.elapsed_s == 30:
            scene.cluster.produce("orders", 1, RECORD)
        if scene.clock.elapsed_s == 45:
            scene.cluster.commit("shop-app", {P1: 4})

    scene.script = script
    waited(a_sensor())

    assert scene.clock.elapsed_s == 75
    assert "shop-app: orders[1] lag 1" in scene.log.states


def test_limit_is_per_partition(scene: Scene) -> None:
    """A lag of two on each partition is within a limit of two."""
    scene.cluster.commit("shop-app", {P0: 1, P1: 1})

    assert "Lag: 4; Within 2 offsets" in waited(a_sensor(limit_offsets=2))["progress"]


def test_time_out_names_group_partition_and_lag(scene: Scene) -> None:
    """All groups must have caught up; those that have not are named with each partition's lag."""
    scene.cluster.commit("shop-app", {P0: 3, P1: 3})
    scene.cluster.commit("billing", {P0: 1})

    with pytest.raises(
        AirflowSensorTimeout,
        match=r"within 600 s: group billing: orders\[0\] lag 2, orders\[1\] lag unknown \(nothing committed\)$",
    ):
        waited(a_sensor("shop-app", "billing"))


def test_group_without_commits_has_not_caught_up(scene: Scene) -> None:
    """A group that does not exist has no lag of 0."""
    with pytest.raises(AirflowSensorTimeout, match="group shop-app: no committed offset"):
        waited(a_sensor())


def test_nothing_committed_is_unknown_unless_nothing_is_there(scene: Scene) -> None:
    """Of a topic that is asked for, an empty partition needs no commit, and a topic that is not there is unknown."""
    scene.cluster.commit("shop-app", {P0: 3, P1: 3})
    waited(a_sensor(topics=["orders", "audit"]))

    with pytest.raises(AirflowSensorTimeout, match=r"absent\[0\] lag unknown \(the partition's ends cannot be read\)"):
        waited(a_sensor(topics=["orders", "absent"]))


def test_residue_of_markers_is_read_by_proof(scene: Scene) -> None:
    """Where only transaction markers follow the committed offset, a throw-away reader proves it."""
    scene.cluster.commit("shop-app", {P0: 3, P1: 3})
    scene.cluster.leave_holes("orders", 0, 2)
    waited(a_sensor())

    assert "shop-app: orders[0] lag 2" == scene.log.states[0]


def test_record_behind_markers_is_not_read(scene: Scene) -> None:
    """A residue that ends with a record is a lag."""
    scene.cluster.commit("shop-app", {P0: 3, P1: 3})
    scene.cluster.leave_holes("orders", 0, 2)
    scene.cluster.produce("orders", 0, RECORD)

    with pytest.raises(AirflowSensorTimeout, match=r"orders\[0\] lag 3"):
        waited(a_sensor())


def test_only_standing_groups_are_probed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader is opened only where a group is behind and did not move since the last sample."""
    asked: list[Offsets] = []
    probe = scene.cluster.probe

    def noted(start: Offsets, level: IsolationLevel) -> Mapping[TopicPartition, Probe]:
        asked.append(start)
        return probe(start, level)

    monkeypatch.setattr(scene.cluster, "probe", noted)
    scene.cluster.commit("shop-app", {P0: 0, P1: 1})
    steps = iter([{P0: 1}, {P0: 2}, {P0: 3, P1: 3}])
    scene.script = lambda: scene.cluster.commit("shop-app", next(steps, {}))
    waited(a_sensor())

    assert [{P1: 1}, {P1: 1}] == asked


def test_cluster_that_does_not_answer_is_waited_for(scene: Scene) -> None:
    """While nothing can be read the count begins anew, and the reason is told."""
    scene.cluster.commit("shop-app", {P0: 3, P1: 3})

    def script() -> None:
        scene.cluster.is_down = scene.clock.elapsed_s == 30

    scene.script = script
    waited(a_sensor())

    assert scene.clock.elapsed_s == 75
    assert "waiting, old did not answer within 20 s" in scene.log.states


def test_denied_request_fails_without_a_retry(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster that denies the request will deny it again."""
    denial = Refused([Finding(Code.CONNECTION_INVALID, "old", "not authorised", "a login", "Grant it.")])

    def deny(group: str) -> dict[TopicPartition, CommittedOffset]:
        raise denial

    monkeypatch.setattr(scene.cluster, "committed_offsets", deny)

    with pytest.raises(FailedForGood, match="CONNECTION_INVALID · old: found not authorised"):
        waited(a_sensor())


def test_soft_fail_skips(scene: Scene) -> None:
    """`soft_fail` works as for every sensor."""
    sensor = a_sensor(soft_fail=True)
    event = event_of(deferred_by(sensor, CONTEXT).trigger)

    with pytest.raises(AirflowSkipException):
        sensor.resume_execution("execute_complete", {"event": event}, CONTEXT)


@pytest.mark.parametrize("arguments", [{"poll_interval_s": 60}, {"poll_interval_s": 0}, {"samples": 0}])
def test_arguments_that_could_never_pass_are_refused(arguments: dict[str, Any]) -> None:
    """A rule that no group could meet is an error of the DAG, not a wait for its whole time-out."""
    with pytest.raises(ValueError, match="needed"):
        a_sensor(**arguments)


def test_no_groups_is_no_success(scene: Scene) -> None:
    """An empty list, as a template may render it, fails."""
    sensor = a_sensor()
    sensor.group_ids = []

    with pytest.raises(FailedForGood, match="group_ids is empty"):
        sensor.execute(CONTEXT)


@pytest.fixture
def cutover(world: World, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> World:
    """A cutover whose file asks for drained groups, on the cluster of the scene."""
    world.source = scene.cluster
    world.deployed["clock"] = scene.clock
    world.extend_file("cutover:\n  groups: [shop-.*]\n  drain_groups: 10m\n")
    world.params["mode"] = "cutover"
    world.do("preflight")
    return world


def drain(world: World) -> dict[str, Any]:
    return waited(DrainGroupsSensor(task_id="drain_groups", migration="shop"), world.context())


def at_once(world: World) -> Any:
    return world.task("drain_groups").execute(world.context())


def test_drain_waits_for_the_groups_of_the_migration(cutover: World) -> None:
    """Waited for are the named groups, on those topics of the migration that they read; others are left alone."""
    cutover.source.create_topics([NewTopic("other", 1, 1, {})])
    cutover.source.commit("shop-app", {P0: 3, P1: 3, TopicPartition("other", 0): 0})
    cutover.source.commit("shop-audit", {AUDIT: 0})
    cutover.source.commit("billing", {P0: 0})
    cutover.source.commit("shop-elsewhere", {TopicPartition("other", 0): 0})
    sensor = DrainGroupsSensor(task_id="drain_groups", migration="shop")
    _, arguments = deferred_by(sensor, cutover.context()).trigger.serialize()

    assert {"shop-app": ["orders"], "shop-audit": ["audit"]} == arguments["groups"]
    assert ("old_kafka", 0, "2030-01-01T00:10:00+00:00") == (
        arguments["kafka_conn_id"],
        arguments["limit_offsets"],
        arguments["deadline"],
    )
    assert drain(cutover)["outcome"] == "caught_up"


def test_drain_is_limited_to_the_groups_asked_for(cutover: World) -> None:
    """Groups chosen on the form are the only ones waited for."""
    cutover.source.commit("shop-app", {P0: 3, P1: 3})
    cutover.source.commit("shop-slow", {P0: 0, P1: 0})
    cutover.params["groups"] = ["shop-app"]

    assert drain(cutover)["outcome"] == "caught_up"


def test_drain_refuses_with_every_group_that_is_behind(cutover: World) -> None:
    """On time-out each group is named with its partitions and lags, in the log and in the evidence."""
    cutover.source.commit("shop-app", {P0: 1, P1: 3})
    cutover.source.commit("shop-slow", {P0: 3})

    with pytest.raises(FailedForGood, match=r"GROUPS_NOT_DRAINED · group shop-app: found orders\[0\] lag 2"):
        drain(cutover)

    (refusal,) = cutover.run.evidence.of_attempt(Kind.REFUSAL)
    assert [
        ("group shop-app", "orders[0] lag 2"),
        ("group shop-slow", "orders[1] lag unknown (nothing committed)"),
    ] == [(finding["subject"], finding["found"]) for finding in refusal["findings"]]


def test_silent_cluster_is_warned_of_and_ends_the_wait(scene: Scene) -> None:
    """After `stall_after_s` the log tells of it, after `unreachable_after_s` the sensor fails, the cause first."""
    scene.cluster.is_down = True
    sensor = a_sensor(timeout=3600, stall_after_s=60, unreachable_after_s=120)
    with pytest.raises(FailedForGood, match="UNREACHABLE · cluster: found no answer since 2030-01-01T00:00:00"):
        waited(sensor)

    (warning,) = scene.log.warnings
    assert "old did not answer" in warning
    assert scene.clock.elapsed_s == 120
    assert 160 >= max(map(len, scene.log.infos))


def test_silent_source_of_a_drain_is_told(cutover: World, scene: Scene) -> None:
    """The run of a cutover sends an alert, once, and is refused after the limit of its file (3 x 60 s)."""
    sent = with_alerts(cutover)
    cutover.freeze()
    cutover.source.commit("shop-app", {P0: 3, P1: 3})
    deferred = deferred_by(DrainGroupsSensor(task_id="drain_groups", migration="shop"), cutover.context())
    cutover.source.is_down = True
    event = event_of(revived(deferred.trigger))

    assert (["unreachable"], 180) == ([text.partition(" · ")[0] for text in sent], scene.clock.elapsed_s)
    assert ["UNREACHABLE"] == [finding["code"] for finding in event["findings"]]
    assert "source cluster" == event["findings"][0]["subject"]


def test_drain_refuses_when_nothing_could_be_read(cutover: World, scene: Scene) -> None:
    """A cluster that does not answer until the time is over is a refusal with that reason."""
    text = cutover.run.evidence.frozen_migration()
    cutover.freeze(text.replace("  time_limit", "  unreachable_after: 20m\n  time_limit"))
    cutover.source.commit("shop-app", {P0: 3, P1: 3})
    deferred = deferred_by(DrainGroupsSensor(task_id="drain_groups", migration="shop"), cutover.context())
    cutover.source.is_down = True
    event = event_of(deferred.trigger)
    cutover.source.is_down = False

    with pytest.raises(FailedForGood, match=r"GROUPS_NOT_DRAINED.*waiting, old did not answer"):
        cutover.task("drain_groups").execute_complete(cutover.context(), event)


def test_drain_has_nothing_to_wait_for_without_groups(cutover: World) -> None:
    """Where no named group reads the migration's topics the task succeeds at once."""
    cutover.source.commit("billing", {P0: 0})

    assert {"outcome": "caught_up", "progress": ""} == at_once(cutover)


def test_drain_succeeds_at_once_where_it_is_not_asked_for(cutover: World) -> None:
    """A rehearsal waits for nobody, and neither does a cutover whose file does not ask."""
    cutover.source.commit("shop-app", {P0: 0, P1: 0})
    cutover.params["mode"] = "rehearse"
    assert {"outcome": "caught_up", "progress": ""} == at_once(cutover)

    cutover.params["mode"] = "cutover"
    frozen = cutover.run.evidence
    cutover.freeze(frozen.frozen_migration().replace("  drain_groups: 10m\n", ""))
    assert {"outcome": "caught_up", "progress": ""} == at_once(cutover)


@pytest.mark.parametrize("mode", ["sync", "validate"])
def test_drain_is_skipped_in_modes_without_groups(cutover: World, mode: str) -> None:
    """A mode that plans no groups skips the task, and with it what follows."""
    cutover.params["mode"] = mode

    with pytest.raises(AirflowSkipException, match=mode):
        at_once(cutover)
