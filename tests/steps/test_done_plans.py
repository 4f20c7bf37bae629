"""Rules of a plan with nothing to create and nothing to copy: it says so, and only then may its tasks be skipped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kafka_migration.core.ledger.cutovers import AnnouncedTopic, SettingsRestored, TopicsAnnounced
from kafka_migration.core.stored.stored_documents import MirrorNotStarted, MirrorStarted, Stored
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
    """The plan is done, MirrorMaker is recorded as not started, and the tasks after it find what they need."""
    assert planned(copied, mode)["is_done"]
    assert copied.run.evidence.require(Stored.PLAN).is_done
    assert copied.run.evidence.require(Stored.START).started is False
    assert copied.do("stop_mirror")["stopped"] is False
    copied.validated()
    assert copied.do("judge")["verdict"] == "PASS"


@pytest.mark.parametrize("mode", ["follow", "cutover"])
def test_mode_that_follows_the_source_is_never_done(copied: World, mode: str) -> None:
    """Records may arrive until the producers stop, so MirrorMaker is started."""
    assert not planned(copied, mode)["is_done"]
    assert copied.do("create_topics", "start_mirror")["generation"] == 2


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


def test_cleared_run_forgets_the_start_of_its_first_attempt(world: World) -> None:
    """A run that is cleared after its copy finds nothing to do; its start is not that of the first attempt."""
    world.source.produce("orders", 0, RECORD)
    world.copy_and_judge({P0: 1})
    assert isinstance(world.run.evidence.newest(Stored.START), MirrorStarted)
    world.dag_run.clear_number += 1

    assert planned(world)["is_done"]
    assert isinstance(world.run.evidence.newest(Stored.START), MirrorNotStarted)


def test_skipped_tasks_do_nothing_if_they_are_cleared_alone(copied: World) -> None:
    """A person may clear one of them; it changes nothing."""
    planned(copied)

    assert copied.do("create_topics") == {"created": 0, "grown": 0}
    assert copied.do("start_mirror")["generation"] is None
    assert copied.do("watch_lag")["outcome"] == "drained"
    assert copied.host.last == 1
