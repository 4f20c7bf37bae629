"""Which metrics a run sends at which step, so that a monitor sees its state also after a kill."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.report.metrics import Metric
from tests.steps.cutover import cut_over, judge_cutover
from tests.steps.watching import started, watch
from tests.steps.world import P0, RECORD, World


class Sent(list[Metric]):
    """The metrics that were sent, oldest first."""

    def take(self, *metrics: Metric) -> None:
        """Take what is sent."""
        self.extend(metrics)

    def known(self) -> dict[str, float]:
        """Return the newest value of each, as a gauge shows it, without those that are 0."""
        newest = {metric.name_with_tags.removeprefix("kafka_migration."): metric.value for metric in self}
        return {name.removesuffix(".shop"): value for name, value in newest.items() if value}

    def after(self, *names: str) -> set[str]:
        """Return which of these have a value that is not 0."""
        return set(names) & set(self.known())


STATES = ("active.sync", "active.cutover", "watched", "waits.approval", "waits.producers")


@pytest.fixture
def sent(world: World) -> Sent:
    """The metrics that the runs of the world send."""
    world.deployed["send_metrics"] = (sent := Sent()).take
    return sent


def test_course_of_a_sync(world: World, sent: Sent) -> None:
    """A run is active from its reservation to its end, and watched while MirrorMaker runs."""
    world.source.produce("orders", 0, RECORD)

    world.do("preflight")
    assert set() == sent.after(*STATES)
    world.do("reserve")
    assert {"active.sync"} == sent.after(*STATES)
    world.do("plan", "create_topics", "start_mirror")
    assert {"active.sync", "watched"} == sent.after(*STATES)
    world.mirror({P0: 1})
    world.do("stop_mirror")
    assert {"active.sync"} == sent.after(*STATES)
    world.judge()
    world.finish()

    assert set() == sent.after(*STATES)
    assert {"judged.pass", "verdict.pass", "ended.success", "run.success", "phase.syncing"} <= set(sent.known())


def test_end_of_a_cutover(world: World, sent: Sent) -> None:
    """After a cutover of all topics the phase says so, and no further run has to start."""
    judge_cutover(world)
    assert "active.cutover" in sent.known()
    sent.take(*(metric for metric in sent if metric.name == "next_start_before"))
    cut_over(world)
    world.finish()

    assert {"phase.cut_over"} == sent.after("phase.cut_over", "phase.syncing", "next_start_before", *STATES)


def test_run_that_waits_for_its_producers(world: World, sent: Sent) -> None:
    """A cutover waits for a person from the announcement until the fence is proved."""
    scene = started(world, {"mode": "cutover"})
    seen: list[tuple[tuple[str, ...], bool]] = []
    scene.script = lambda now: seen.append((tuple(now.stages()), "waits.producers" in sent.known()))

    watch(scene)

    assert {(("announced",), True), (("announced", "fenced"), False)} == set(seen)
    assert {"watched", "active.cutover"} == sent.after(*STATES)


def test_refused_run_beside_an_active_one_changes_no_state(world: World, sent: Sent) -> None:
    """A run that never held the reservation ends, but the active run stays active and watched."""
    world.source.produce("orders", 0, RECORD)
    world.start()
    active = sent.after(*STATES)

    world.next_run()
    world.task_instance.run_states = {"manual__1": "running"}
    world.finish_fails(preflight="failed")

    assert {"active.sync", "watched"} == active == sent.after(*STATES)
    assert "ended.failed" in sent.known()


def test_reservation_that_may_still_be_held_keeps_the_states(
    world: World, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the host does not answer at the end, it is unknown what runs: nothing is sent as stopped."""
    world.source.produce("orders", 0, RECORD)
    world.start()

    def unreachable(*_: Any) -> Any:
        raise TransientError("no answer")

    monkeypatch.setattr(world.host, "release", unreachable)
    world.finish_fails()

    assert {"active.sync", "watched"} == sent.after(*STATES)
