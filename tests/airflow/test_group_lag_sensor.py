"""Rules of the sensors that wait for consumer groups, with their triggers, on a fake cluster and a fake clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from airflow.sdk import BaseSensorOperator
from airflow.sdk.exceptions import AirflowSensorTimeout, AirflowSkipException

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.kafka.cluster import IsolationLevel, NewTopic, Probe
from kafka_migration.core.kafka.offsets import CommittedOffset, Offsets, TopicPartition
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.orchestration.sensors import group_lag as sensor_module
from kafka_migration.orchestration.sensors.group_lag import ConsumerGroupLagSensor
from kafka_migration.orchestration.task.failures import FailedForGood
from kafka_migration.orchestration.triggers import group_lag_trigger as trigger_module
from kafka_migration.orchestration.triggers.group_lag_trigger import ConsumerGroupLagTrigger
from tests.airflow.driving import TriggerLog, deferred_by, event_of, let_time_pass, revived
from tests.airflow.notifying import with_alerts
from tests.airflow.world import World
from tests.contract.fake_cluster import FakeCluster
from tests.steps.clock import FakeClock
from tests.steps.world import AUDIT, P0, P1, RECORD
from tests.stored_examples import judged

CONTEXT: Any = {}
EVERYTHING = {P0: 3, P1: 3}


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
    monkeypatch.setattr(trigger_module, "cluster_at", lambda connection_id, insecure: made.cluster)
    for module in (trigger_module, sensor_module):
        monkeypatch.setattr(module, "SystemClock", lambda: made.clock)
    monkeypatch.setattr(ConsumerGroupLagTrigger, "log", made.log)
    let_time_pass(monkeypatch, trigger_module, made.clock, lambda: made.script())
    return made


@pytest.fixture
def caught_up(scene: Scene) -> Scene:
    """The group `shop-app` has read all of `orders`."""
    scene.cluster.commit("shop-app", EVERYTHING)
    return scene


def a_sensor(*group_ids: str, **arguments: Any) -> ConsumerGroupLagSensor:
    return ConsumerGroupLagSensor(
        task_id="lag", kafka_conn_id="old_kafka", group_ids=group_ids or ("shop-app",), **{"timeout": 600, **arguments}
    )


def waited(sensor: BaseSensorOperator, context: Any = CONTEXT) -> dict[str, Any]:
    """Run the sensor to its end, with a trigger that is made from its serialized form."""
    deferred = deferred_by(sensor, context)
    summary: dict[str, Any] = sensor.execute_complete(context, event_of(revived(deferred.trigger)))
    return summary


def test_sensor_defers_with_an_absolute_deadline_and_no_secret(scene: Scene) -> None:
    """The trigger holds ids, the rule and a deadline; Airflow's own time limit is later."""
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


def test_group_that_has_read_everything(caught_up: Scene) -> None:
    """The sensor succeeds after three samples in a row with lag 0."""
    assert "Lag: 0; Within 0 offsets: 3 of 3 samples" in waited(a_sensor())["progress"]
    assert caught_up.clock.elapsed_s == 30


def test_samples_must_be_in_a_row(caught_up: Scene) -> None:
    """A record that arrives between two samples restarts the count."""

    def script() -> None:
        if caught_up.clock.elapsed_s == 30:
            caught_up.cluster.produce("orders", 1, RECORD)
        if caught_up.clock.elapsed_s == 45:
            caught_up.cluster.commit("shop-app", {P1: 4})

    caught_up.script = script
    waited(a_sensor())

    assert caught_up.clock.elapsed_s == 75
    assert "shop-app: orders[1] lag 1" in caught_up.log.states


def test_limit_is_per_partition(scene: Scene) -> None:
    """The limit applies to each partition, not to their sum."""
    scene.cluster.commit("shop-app", {P0: 1, P1: 1})

    assert "Lag: 4; Within 2 offsets" in waited(a_sensor(limit_offsets=2))["progress"]


def test_time_out_names_group_partition_and_lag(caught_up: Scene) -> None:
    """A time-out names each group that has not caught up, with the lag of each partition."""
    caught_up.cluster.commit("billing", {P0: 1})

    with pytest.raises(
        AirflowSensorTimeout,
        match=r"within 600 s: group billing: orders\[0\] lag 2, orders\[1\] lag unknown \(nothing committed\)$",
    ):
        waited(a_sensor("shop-app", "billing"))


def test_group_without_commits_has_not_caught_up(scene: Scene) -> None:
    """A group that does not exist has no committed offset, which is not a lag of 0."""
    with pytest.raises(AirflowSensorTimeout, match="group shop-app: no committed offset"):
        waited(a_sensor())


def test_lag_without_a_commit_is_unknown_unless_the_partition_is_empty(caught_up: Scene) -> None:
    """An empty partition needs no commit; a topic that does not exist has an unknown lag."""
    waited(a_sensor(topics=["orders", "audit"]))

    with pytest.raises(AirflowSensorTimeout, match=r"absent\[0\] lag unknown \(the partition's ends cannot be read\)"):
        waited(a_sensor(topics=["orders", "absent"]))


def test_transaction_markers_are_no_lag(caught_up: Scene) -> None:
    """If only transaction markers follow the committed offset, a temporary consumer proves it."""
    caught_up.cluster.leave_holes("orders", 0, 2)
    waited(a_sensor())

    assert "shop-app: orders[0] lag 2" == caught_up.log.states[0]


def test_record_after_markers_is_a_lag(caught_up: Scene) -> None:
    """Markers that are followed by a record count as lag."""
    caught_up.cluster.leave_holes("orders", 0, 2)
    caught_up.cluster.produce("orders", 0, RECORD)

    with pytest.raises(AirflowSensorTimeout, match=r"orders\[0\] lag 3"):
        waited(a_sensor())


def test_only_groups_that_stand_still_are_probed(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A consumer is opened only for a partition with lag whose offset did not move since the last sample."""
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


def test_cluster_that_does_not_answer_is_waited_for(caught_up: Scene) -> None:
    """A sample without an answer restarts the count, and the log has the reason."""

    def script() -> None:
        caught_up.cluster.is_down = caught_up.clock.elapsed_s == 30

    caught_up.script = script
    waited(a_sensor())

    assert caught_up.clock.elapsed_s == 75
    assert "waiting, old did not answer within 20 s" in caught_up.log.states


def test_denied_request_fails_without_a_retry(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """A denied request fails the sensor without a retry."""

    def deny(group: str) -> dict[TopicPartition, CommittedOffset]:
        raise Refused([Finding(Code.CONNECTION_INVALID, "old", "not authorised", "a login", "Grant it.")])

    monkeypatch.setattr(scene.cluster, "committed_offsets", deny)

    with pytest.raises(FailedForGood, match="CONNECTION_INVALID · old: found not authorised"):
        waited(a_sensor())


def test_soft_fail_skips(scene: Scene) -> None:
    """With `soft_fail` a time-out skips the task."""
    sensor = a_sensor(soft_fail=True)
    event = event_of(deferred_by(sensor, CONTEXT).trigger)

    with pytest.raises(AirflowSkipException):
        sensor.resume_execution("execute_complete", {"event": event}, CONTEXT)


@pytest.mark.parametrize("arguments", [{"poll_interval_s": 60}, {"poll_interval_s": 0}, {"samples": 0}])
def test_arguments_that_could_never_pass_are_refused(arguments: dict[str, Any]) -> None:
    """Arguments that no group could satisfy are an error of the DAG."""
    with pytest.raises(ValueError, match="needed"):
        a_sensor(**arguments)


def test_no_groups_is_no_success(scene: Scene) -> None:
    """An empty list of groups, as a template may render it, fails."""
    sensor = a_sensor()
    sensor.group_ids = []

    with pytest.raises(FailedForGood, match="group_ids is empty"):
        sensor.execute(CONTEXT)


@pytest.fixture
def cutover(world: World, scene: Scene) -> World:
    """A cutover whose file asks for drained groups, on the cluster of the scene."""
    world.source = scene.cluster
    world.deployed["clock"] = scene.clock
    world.extend_file("cutover:\n  groups: [shop-.*]\n  drain_groups: 10m\n")
    world.params["mode"] = "cutover"
    world.do("preflight")
    world.run.evidence.write(Stored.JUDGE, judged())
    return world


def drain(world: World) -> dict[str, Any]:
    return waited(world.task("drain_groups"), world.context())


def test_drain_waits_for_the_groups_of_the_migration(cutover: World) -> None:
    """The task waits for the groups of the file, on the topics of the migration that they read."""
    cutover.source.create_topics([NewTopic("other", 1, 1, {})])
    cutover.source.commit("shop-app", {P0: 3, P1: 3, TopicPartition("other", 0): 0})
    cutover.source.commit("shop-audit", {AUDIT: 0})
    cutover.source.commit("billing", {P0: 0})
    cutover.source.commit("shop-elsewhere", {TopicPartition("other", 0): 0})
    _, arguments = deferred_by(cutover.task("drain_groups"), cutover.context()).trigger.serialize()

    assert {"shop-app": ["orders"], "shop-audit": ["audit"]} == arguments["groups"]
    assert ("old_kafka", 0, "2030-01-01T00:10:00+00:00") == (
        arguments["kafka_conn_id"],
        arguments["limit_offsets"],
        arguments["deadline"],
    )
    assert drain(cutover)["outcome"] == "caught_up"


def test_drain_ends_when_the_groups_have_read_everything(cutover: World) -> None:
    """Consumers stand still from the first poll that found them at the end; later polls only confirm it."""
    cutover.source.commit("shop-app", EVERYTHING)
    begun = cutover.run.now()
    drain(cutover)

    assert begun == cutover.run.evidence.require(Stored.DRAINED).at
    assert begun < cutover.run.now()


def test_drain_is_limited_to_the_groups_asked_for(cutover: World) -> None:
    """The task waits only for the groups that were chosen on the form."""
    cutover.source.commit("shop-app", EVERYTHING)
    cutover.source.commit("shop-slow", {P0: 0, P1: 0})
    cutover.params["groups"] = ["shop-app"]

    assert drain(cutover)["outcome"] == "caught_up"


def test_drain_refuses_with_every_group_that_is_behind(cutover: World) -> None:
    """A time-out refuses with a finding per group that has its partitions and lags."""
    cutover.source.commit("shop-app", {P0: 1, P1: 3})
    cutover.source.commit("shop-slow", {P0: 3})

    with pytest.raises(
        FailedForGood, match=r"GROUPS_NOT_DRAINED · group shop-app: Within 10m00s .*: orders\[0\] lag 2\."
    ):
        drain(cutover)

    (refusal,) = cutover.run.evidence.of_attempt(Kind.REFUSAL)
    assert [
        ("group shop-app", "orders[0] lag 2"),
        ("group shop-slow", "orders[1] lag unknown (nothing committed)"),
    ] == [(finding["subject"], finding["found"]) for finding in refusal["findings"]]


def test_cluster_that_does_not_answer_fails_the_sensor(scene: Scene) -> None:
    """The log warns after `stall_after_s`, and the sensor fails after `unreachable_after_s` with the cause first."""
    scene.cluster.is_down = True
    sensor = a_sensor(timeout=3600, stall_after_s=60, unreachable_after_s=120)
    with pytest.raises(
        FailedForGood, match="UNREACHABLE · cluster: There was no answer from the cluster since 2030-01-01T00:00:00"
    ):
        waited(sensor)

    (warning,) = scene.log.warnings
    assert "old did not answer" in warning
    assert scene.clock.elapsed_s == 120
    assert 160 >= max(map(len, scene.log.infos))


def test_source_that_does_not_answer_fails_the_drain(cutover: World, scene: Scene) -> None:
    """A cutover sends one alert, and is refused after the file's limit (3 x 60 s)."""
    sent = with_alerts(cutover)
    cutover.freeze()
    cutover.source.commit("shop-app", EVERYTHING)
    deferred = deferred_by(cutover.task("drain_groups"), cutover.context())
    cutover.source.is_down = True
    event = event_of(revived(deferred.trigger))

    assert (["unreachable"], 180) == ([text.partition(" · ")[0] for text in sent], scene.clock.elapsed_s)
    assert ["UNREACHABLE"] == [finding["code"] for finding in event["findings"]]
    assert "source cluster" == event["findings"][0]["subject"]


def test_drain_refuses_when_nothing_could_be_read(cutover: World, scene: Scene) -> None:
    """A time-out during which the source did not answer refuses with that reason."""
    cutover.edit_file("  time_limit", "  unreachable_after: 20m\n  time_limit")
    cutover.freeze()
    cutover.source.commit("shop-app", EVERYTHING)
    deferred = deferred_by(cutover.task("drain_groups"), cutover.context())
    cutover.source.is_down = True
    event = event_of(deferred.trigger)
    cutover.source.is_down = False

    with pytest.raises(FailedForGood, match=r"GROUPS_NOT_DRAINED.*waiting, old did not answer"):
        cutover.task("drain_groups").execute_complete(cutover.context(), event)


def test_drain_has_nothing_to_wait_for_without_groups(cutover: World) -> None:
    """If no named group reads the migration's topics, the task succeeds at once."""
    cutover.source.commit("billing", {P0: 0})

    assert {"outcome": "caught_up", "progress": ""} == cutover.do("drain_groups")


def test_drain_succeeds_at_once_without_its_setting(cutover: World) -> None:
    """A rehearsal, and a cutover without `drain_groups` in its file, do not wait."""
    cutover.source.commit("shop-app", {P0: 0, P1: 0})
    cutover.params["mode"] = "rehearse"
    assert {"outcome": "caught_up", "progress": ""} == cutover.do("drain_groups")

    cutover.params["mode"] = "cutover"
    cutover.edit_file("  drain_groups: 10m\n", "")
    cutover.freeze()
    assert {"outcome": "caught_up", "progress": ""} == cutover.do("drain_groups")


@pytest.mark.parametrize("mode", ["sync", "validate"])
def test_drain_is_skipped_in_modes_without_groups(cutover: World, mode: str) -> None:
    """A mode that plans no groups skips the task."""
    cutover.params["mode"] = mode

    cutover.skips("drain_groups", match=mode)
