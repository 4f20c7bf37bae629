"""Rules of `watch_lag` in a cutover: the whole trigger on fakes and a fake clock."""

from __future__ import annotations

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import FindingsError
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.watching.fence import FenceProof
from kafka_migration.core.watching.watch import Announced, Fenced
from tests.steps.watching import Restart, Scene, a_watch, codes, started, watch
from tests.steps.world import AUDIT, P0, RECORD, World


@pytest.fixture
def scene(world: World, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """A cutover without records to copy, whose MirrorMaker runs."""
    return started(world, {"mode": "cutover"})


def test_cutover_starts_mirrormaker_with_nothing_to_copy(scene: Scene) -> None:
    """Records may arrive until the fence is proved, so MirrorMaker runs even at lag 0."""
    assert scene.world.run.evidence.require(Kind.PLAN)["offsets_to_copy"] == 0
    assert scene.world.host.status().is_running


def test_near_then_fence_then_drain(scene: Scene) -> None:
    """The producers are asked to stop when the copy is near, and the records they wrote until then are copied."""

    def script(now: Scene) -> None:
        if now.clock.elapsed_s <= 60:
            now.produce(3)
        if now.clock.elapsed_s in {15, 30, 45, 135}:
            now.copy()

    scene.produce(100)
    scene.script = script
    event = watch(scene)

    assert ("drained", {"0": 112, "1": 0}) == (event["outcome"], event["goals"]["orders"])
    fence = FenceProof.from_document(event["fence"])
    assert ("2030-01-01T00:00:15+00:00", 60, event["goals"]) == (
        fence.announced_at,
        fence.quiet_s,
        fence.to_document()["ends"],
    )
    # The last record was seen at 60 s, and the fence was proved 60 s later.
    assert ("2030-01-01T00:00:45+00:00", "2030-01-01T00:01:00+00:00") == (fence.grew_after, fence.grew_before)
    assert "2030-01-01T00:02:00+00:00" == fence.proved_at
    assert ["announced", "fenced"] == scene.stages()
    assert "near, fencing: orders[0] still moves (+3)" in scene.states
    assert scene.states[0].startswith("approaching, near is a lag of 5")
    assert scene.states[-1] == "fenced, at the goal, confirming"
    assert scene.world.host.processes[1].renewals == len(scene.infos)


def test_announcement_is_a_warning_and_evidence(scene: Scene) -> None:
    """The log at WARNING and the evidence say which producers must stop, and until when."""
    watch(scene)
    announced = scene.world.run.evidence.of_attempt(Kind.WATCH)[0]
    text, proved = scene.warnings

    assert text.startswith("Stop producers of 2 topics on old_kafka before 00:10 UTC (10 minutes).")
    assert "orders, audit" in text
    assert "by Tue 2030-01-01 00:10 UTC (cutover.fence_wait)" in text
    assert text.endswith("/tasks/stop_producers/required_actions")
    assert proved.startswith("The fence is proved")
    assert ("announced", 1, "2030-01-01T00:00:00+00:00", "0") == (
        announced["stage"],
        announced["generation"],
        announced["announced_at"],
        announced["lag"],
    )


def test_producer_that_does_not_stop_is_refused(scene: Scene) -> None:
    """After `fence_wait` the watch fails with the topic that still receives records, and its rate."""

    def script(now: Scene) -> None:
        now.produce(2, partition=1)
        now.copy()

    scene.script = script
    event = watch(scene)
    moves = r"FENCE_MOVING · topic orders: .* was not quiet .*: orders\[1\] 72 → 80 \(\+8, 0.1/s\)"
    with pytest.raises(FindingsError, match=moves):
        scene.world.end_watch(event)

    assert ("failed", {}) == (event["outcome"], event["goals"])
    assert scene.clock.elapsed_s == 600
    assert ["announced"] == scene.stages()
    assert [event["findings"][0]] == event["findings"]


def test_producers_are_not_told_to_stop_before_the_copy_is_near(scene: Scene) -> None:
    """If MirrorMaker cannot follow the traffic, nothing is announced, and the deadline ends the watch."""
    scene.produce(100)

    def script(now: Scene) -> None:
        now.copy()
        now.produce(100)

    scene.script = script
    event = watch(scene)

    assert ["MIRROR_TIMEOUT"] == codes(event)
    assert ([], []) == (scene.stages(), scene.warnings)


def test_failed_watch_announces_nothing(scene: Scene) -> None:
    """If MirrorMaker is dead, the producers are not asked to stop, however near the copy is."""
    scene.world.host.dies_at_start = True
    scene.world.host.die(1)
    event = watch(scene)

    assert ["MIRROR_DEAD"] == codes(event)
    others = [warning for warning in scene.warnings if "ended: exit code 1" not in warning]
    assert ([], []) == (scene.stages(), others)


def test_time_of_the_announcement_survives_a_restart(scene: Scene) -> None:
    """A restarted triggerer reads the announcement, so `fence_wait` does not start again."""
    trigger = a_watch(scene.world)

    def crash_at_300_s(now: Scene) -> None:
        now.produce()
        now.copy()
        if now.clock.elapsed_s == 300:
            raise Restart

    scene.script = crash_at_300_s
    with pytest.raises(Restart):
        watch(scene, trigger)
    scene.clock.elapsed_s = 480
    event = watch(scene, trigger)

    assert (["FENCE_MOVING"], 600) == (codes(event), scene.clock.elapsed_s)
    assert ["announced"] == scene.stages()
    assert 2 == len([line for line in scene.warnings if "by Tue 2030-01-01 00:10 UTC" in line])


def test_proved_fence_survives_a_restart(scene: Scene) -> None:
    """A triggerer that restarts after the fence, even after `fence_wait`, continues with the fenced ends."""
    trigger = a_watch(scene.world)

    def crash_when_fenced(now: Scene) -> None:
        if "fenced" in now.stages():
            raise Restart

    scene.script = crash_when_fenced
    with pytest.raises(Restart):
        watch(scene, trigger)
    scene.clock.elapsed_s, scene.script = 900, lambda now: None
    event = watch(scene, trigger)

    assert ("drained", 915) == (event["outcome"], scene.clock.elapsed_s)
    assert "2030-01-01T00:01:15+00:00" == event["fence"]["proved_at"]
    assert ["announced", "fenced"] == scene.stages()


def test_fence_that_breaks_while_draining_is_proved_again(scene: Scene) -> None:
    """A record after the fence breaks it; the fence is proved again, and the record is part of the goals."""

    def script(now: Scene) -> None:
        if now.stages() == ["announced", "fenced"] and not now.world.source.topics["audit"].partitions[0].records:
            now.world.source.produce("audit", 0, RECORD)
            now.world.target.produce("audit", 0, RECORD)
            now.world.store_position(0, AUDIT)

    scene.script = script
    event = watch(scene)

    assert ("drained", {"0": 1}) == (event["outcome"], event["goals"]["audit"])
    assert ["announced", "fenced", "fenced"] == scene.stages()
    assert any(line.startswith("THE FENCE BROKE") and "audit[0] still moves (+1)" in line for line in scene.warnings)


def test_partition_added_during_the_fence_is_fenced_and_drained(scene: Scene) -> None:
    """The fenced ends include a partition that was added after the plan."""

    def script(now: Scene) -> None:
        if now.clock.elapsed_s == 30:
            now.world.source.create_partitions({"orders": 3})
            now.world.target.create_partitions({"orders": 3})
            now.produce(4, partition=2)
            now.copy()

    scene.script = script

    assert {"0": 0, "1": 0, "2": 4} == watch(scene)["goals"]["orders"]


def test_source_that_does_not_answer_is_waited_for(scene: Scene) -> None:
    """While the source does not answer, the stage stays, and no partition counts as still or as moving."""

    def script(now: Scene) -> None:
        now.world.source.is_down = 15 <= now.clock.elapsed_s < 700

    scene.script = script

    assert watch(scene)["outcome"] == "drained"
    assert "near, waiting, old did not answer within 20 s" in scene.states


def test_cleared_run_announces_again(scene: Scene) -> None:
    """The announcement of another generation does not count."""
    document = Announced(at="now", generation=7, announced_at="2029-12-31T00:00:00+00:00", lag="0")
    scene.world.run.evidence.write(Stored.WATCH, document)
    event = watch(scene)

    assert (event["outcome"], event["fence"]["announced_at"]) == ("drained", "2030-01-01T00:00:00+00:00")


def test_fenced_ends_are_what_the_stop_certifies(scene: Scene) -> None:
    """The watch records fence and goals, and the stop certifies the proved positions."""
    scene.produce(3)
    scene.script = Scene.copy
    event = watch(scene)
    scene.world.end_watch(event)
    document = scene.world.run.evidence.require(Kind.WATCH)
    scene.world.do("stop_mirror")

    assert (event["goals"], event["fence"]) == (document["goals"], document["fence"])
    assert scene.world.certified.mirror_positions[P0] == 3


def test_stage_alone_proves_nothing(scene: Scene) -> None:
    """After a watch that did not end the stop certifies the positions that MirrorMaker stored."""
    fenced = Fenced(at="now", generation=1, announced_at="then", quiet_s=5, ends={P0: 99})
    scene.world.run.evidence.write(Stored.WATCH, fenced)
    scene.world.do("stop_mirror")

    assert scene.world.certified.mirror_positions[P0] == 0


@pytest.mark.parametrize("mode", ["sync", "rehearse"])
def test_sync_proves_the_goals_of_the_plan(scene: Scene, mode: str) -> None:
    """Without a cutover nothing is announced, and the event has the plan's goals."""
    scene.world.params["mode"] = mode
    event = watch(scene)

    assert {"outcome": "drained", "goals": {"audit": {"0": 0}, "orders": {"0": 0, "1": 0}}}.items() <= event.items()
    assert event["fence"] is None
    assert [] == scene.stages()
