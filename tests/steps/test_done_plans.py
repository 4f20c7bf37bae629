"""Rules of a plan with nothing to create and nothing to copy: it says so, and only then may its tasks be skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_migration.core.ledger.cutovers import AnnouncedTopic, SettingsRestored, TopicsAnnounced
from kafka_migration.core.report.standing_still import seconds_between, stand_still
from kafka_migration.core.run.stand_still import StillPhase
from kafka_migration.core.stored.stored_documents import MirrorNotStarted, MirrorStarted, Stored
from kafka_migration.core.watching.watch import Outcome, WatchEnded
from tests.present import present
from tests.steps.world import P0, RECORD, World

SKIPPED = dict.fromkeys(("create_topics", "start_mirror", "watch_lag"), "skipped")
DONE = {"preflight": "success", "plan": "success", **SKIPPED, "stop_mirror": "success", "judge": "success"}


@pytest.fixture
def copied(world: World) -> World:
    """A migration of which everything is copied and judged, before its next run."""
    world.source.produce("orders", 0, RECORD)
    world.copy_and_judge({P0: 1})
    world.next_run()
    return world


def planned(world: World, mode: str = "sync") -> Any:
    """Run the tasks up to the plan; return its summary."""
    world.params = {**world.params, "mode": mode}
    return world.do("preflight", "reserve", "plan")


@pytest.mark.parametrize("mode", ["sync", "rehearse", "validate"])
def test_plan_with_nothing_to_do_says_so(copied: World, mode: str) -> None:
    """The plan is done, the documents of the skipped tasks are there, and the tasks after it find what they need."""
    assert planned(copied, mode)["is_done"]
    found = copied.run.evidence
    assert found.require(Stored.PLAN).is_done
    assert found.require(Stored.START).started is False
    assert (found.require(Stored.TOPICS).created, found.require(Stored.TOPICS).grown) == ((), {})
    assert watched(copied).outcome is Outcome.DRAINED
    assert copied.do("stop_mirror")["stopped"] is False
    copied.validated()
    assert copied.do("judge")["verdict"] == "PASS"


@pytest.mark.parametrize("mode", ["follow", "cutover"])
def test_mode_that_follows_the_source_is_never_done(copied: World, mode: str) -> None:
    """Records may arrive until the producers stop, so MirrorMaker is started."""
    assert not planned(copied, mode)["is_done"]
    assert copied.do("create_topics", "start_mirror")["generation"] == 2


def watched(world: World) -> WatchEnded:
    """Return how the newest watch of the run ended."""
    found = world.run.evidence.newest(Stored.WATCH)
    assert isinstance(found, WatchEnded)
    return found


def _record(world: World) -> None:
    world.source.produce("orders", 0, RECORD)


def _grow(world: World) -> None:
    world.source.create_partitions({"orders": 3})


def _announce(world: World) -> None:
    announced = {"audit": AnnouncedTopic(1, {}, {})}
    world.run.ledger.append(TopicsAnnounced(world.run.identity.holder, world.run.now(), announced).to_document())


def _restore(world: World) -> None:
    restored = SettingsRestored(world.run.identity.holder, world.run.now(), ("orders",))
    world.run.ledger.append(restored.to_document())


@pytest.mark.parametrize("change", [_record, _grow, _announce, _restore])
def test_plan_with_work_is_not_done(copied: World, change: Callable[[World], None]) -> None:
    """There is a record to copy, a partition to add, an announced topic, or one to freeze again: the tasks run."""
    copied.do("preflight", "reserve")
    change(copied)

    assert not copied.do("plan")["is_done"]
    assert not copied.run.evidence.of_attempt(Stored.START)


def test_missing_topic_is_not_done(world: World) -> None:
    """A migration without records still creates its topics."""
    assert not planned(world)["is_done"]


def test_finish_accepts_the_skips_of_a_done_plan_only(copied: World) -> None:
    """If the plan had work, or was not made, a skipped task is one that did not do its work."""
    planned(copied)
    copied.do("stop_mirror")
    assert copied.finish(**DONE)["outcome"] == "success"

    copied.next_run(3)
    _record(copied)
    planned(copied)
    said = copied.finish_fails(**DONE)
    assert all(f"task {task}: it ended as skipped" in said for task in SKIPPED)


def test_finish_does_not_trust_a_plan_that_failed(copied: World) -> None:
    """An earlier try's plan excuses nothing if the task then failed."""
    planned(copied)

    assert "task start_mirror: it ended as skipped" in copied.finish_fails(**{**DONE, "plan": "failed"})


def test_cleared_run_forgets_the_copy_of_its_first_attempt(world: World) -> None:
    """A run that is cleared after its copy finds nothing to do; what it copied before is not of this attempt."""
    world.source.produce("orders", 0, RECORD)
    world.copy_and_judge({P0: 1})
    assert isinstance(world.run.evidence.newest(Stored.START), MirrorStarted)
    world.dag_run.clear_number += 1

    assert planned(world)["is_done"]
    found = world.run.evidence
    assert isinstance(found.newest(Stored.START), MirrorNotStarted)
    assert watched(world).generation is None
    assert found.require(Stored.TOPICS).created == ()


@pytest.mark.parametrize("is_cleared", [False, True])
def test_validation_of_a_rehearsal_is_measured_from_its_plan(scene: World, is_cleared: bool) -> None:
    """A rehearsal that copies nothing stops nothing either, so its validation begins when the plan is made."""
    scene.copy_and_judge({P0: 1})
    if is_cleared:
        scene.dag_run.clear_number += 1
    else:
        scene.next_run()
    assert planned(scene, "rehearse")["is_done"]
    scene.do("stop_mirror")
    scene.validated()
    scene.do("judge")

    still = present(stand_still("rehearse", scene.run.evidence.newest)).producers
    seconds = {each.phase: each.seconds for each in still.phases}
    judged_at = scene.run.evidence.require(Stored.JUDGE).at
    assert seconds_between(watched(scene).at, judged_at) == seconds[StillPhase.VALIDATION]


def test_skipped_tasks_do_nothing_if_they_are_cleared_alone(copied: World) -> None:
    """A person may clear one of them; it changes nothing."""
    planned(copied)

    assert copied.do("create_topics") == {"created": 0, "grown": 0}
    assert copied.do("start_mirror")["generation"] is None
    assert copied.do("watch_lag")["outcome"] == "drained"
    assert copied.host.last == 1
