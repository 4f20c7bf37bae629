"""Rules of the question whether the producers have stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowSkipException, TaskDeferred

from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.mirror.producers_question import ABORT, STOPPED
from kafka_migration.orchestration import asking_producers
from kafka_migration.orchestration.failing import FailedForGood
from kafka_migration.orchestration.operators.hook import HookOperator
from kafka_migration.orchestration.triggers.announcement import AnnouncementTrigger, has_ended
from kafka_migration.steps.mirror.cutover_guide import Stage
from tests.airflow.tasks import BEFORE_START
from tests.airflow.world import World

ANNOUNCED_AT = datetime(2030, 1, 1, 22, 0, tzinfo=UTC)


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was put to people so far, as Airflow was told."""
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(asking_producers, "upsert_hitl_detail", lambda **detail: made.append(detail))
    return made


@pytest.fixture
def mirroring(world: World, asks: list[dict[str, Any]]) -> World:
    """A cutover without hooks whose MirrorMaker runs and whose watch has announced that the producers are to stop."""
    world.params = {"mode": "cutover"}
    world.source.produce("orders", 0, (b"k", b"v"))
    world.start()
    announce(world)
    return world


def announce(world: World, at: datetime = ANNOUNCED_AT) -> None:
    document = {"stage": str(Stage.ANNOUNCED), "generation": 1, "announced_at": at.isoformat(), "lag": "0"}
    world.run.evidence.write(Kind.WATCH, document)


def operator() -> HookOperator:
    return HookOperator(task_id="stop_producers", migration="shop", hook="stop_producers")


def ask(world: World) -> TaskDeferred:
    """Resume the task after the announcement; return what it is deferred by."""
    with pytest.raises(TaskDeferred) as deferred:
        operator().announced(world.context(), {"announced": True})
    return deferred.value


def answer(world: World, option: str) -> Any:
    """Resume the task as Airflow does when somebody answers."""
    event = {
        "chosen_options": [option],
        "params_input": {},
        "responded_at": ANNOUNCED_AT + timedelta(minutes=1),
        "responded_by_user": {"id": "7", "name": "ada"},
        "timedout": False,
    }
    return operator().answered(world.context(), event)


def test_question_comes_with_the_announcement(world: World, asks: list[dict[str, Any]]) -> None:
    """Until the copy is near the task waits without a slot, and nobody is asked."""
    world.params = {"mode": "cutover"}
    world.do(*BEFORE_START)

    with pytest.raises(TaskDeferred) as deferred:
        operator().execute(world.context())

    assert isinstance(deferred.value.trigger, AnnouncementTrigger)
    assert ("announced", []) == (deferred.value.method_name, asks)


def test_question_names_topics_and_deadline(mirroring: World, asks: list[dict[str, Any]]) -> None:
    """Who answers reads which topics, until when, what proves it, and what each answer does."""
    deferred = ask(mirroring)

    (asked,) = asks
    assert [STOPPED, ABORT] == asked["options"]
    assert "Have you stopped the producers of shop?" == asked["subject"]
    for text in ("`orders`, `audit`", "`old_kafka`", "Deadline: 2030-01-01T23:00:00+00:00 (", "No group is moved"):
        assert text in asked["body"]
    assert asked.get("defaults") is None
    assert ("answered", True) == (deferred.method_name, deferred.trigger.serialize()[1]["is_over"])


def test_yes_is_kept_and_ends_nothing(mirroring: World) -> None:
    """That they have stopped is information: it goes into the evidence and the report, and the watch goes on."""
    ask(mirroring)

    assert {"chosen": STOPPED, "by": "ada"} == answer(mirroring, STOPPED)

    kept = mirroring.run.evidence.of_attempt(Kind.PRODUCERS)
    assert [None, STOPPED] == [document["chosen"] for document in kept]
    assert mirroring.run.stop_requests.find(1) is None
    assert not has_ended(mirroring.run)


@pytest.mark.parametrize("option", [STOPPED, ABORT])
def test_task_tried_again_asks_no_second_time(mirroring: World, asks: list[dict[str, Any]], option: str) -> None:
    """Airflow may try a task again whose answer came quickly: what was answered holds, and a no stays a no."""
    ask(mirroring)
    outcomes = [_outcome(lambda: answer(mirroring, option))]

    outcomes.append(_outcome(lambda: operator().execute(mirroring.context())))

    assert outcomes[0] == outcomes[1]
    assert 1 == len(asks)


def _outcome(act: Callable[[], Any]) -> str:
    try:
        return str(act())
    except FailedForGood as failed:
        return str(failed)


def test_abort_ends_the_watch_and_fails_the_task(mirroring: World) -> None:
    """Who aborts gets MirrorMaker stopped at the next poll, by the request that the command line would make."""
    ask(mirroring)

    with pytest.raises(FailedForGood, match=r"CUTOVER_ABORTED · .*'Abort the cutover' by ada"):
        answer(mirroring, ABORT)

    request = mirroring.run.stop_requests.find(1)
    assert request is not None
    assert ("ada", mirroring.run.identity.holder) == (request.by, request.run)
    assert ["CUTOVER_ABORTED"] == mirroring.refusal_codes


def test_abort_ends_the_watch_also_when_it_is_tried_again(mirroring: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that died before it could ask the watch to end asks it when it is tried again."""
    ask(mirroring)
    with monkeypatch.context() as patch:
        patch.setattr(asking_producers, "_end_mirroring", lambda run, by: None)
        with pytest.raises(FailedForGood):
            answer(mirroring, ABORT)
    assert mirroring.run.stop_requests.find(1) is None

    with pytest.raises(FailedForGood, match="CUTOVER_ABORTED"):
        operator().execute(mirroring.context())

    assert mirroring.run.stop_requests.find(1) is not None


def test_abort_of_a_run_that_was_cleared_meanwhile_ends_the_watch(mirroring: World) -> None:
    """The attempt of a run may have changed since the question was put: the answer counts all the same."""
    ask(mirroring)
    mirroring.dag_run.clear_number = 1

    with pytest.raises(FailedForGood, match="CUTOVER_ABORTED"):
        answer(mirroring, ABORT)

    assert mirroring.run.stop_requests.find(1) is not None


def test_late_abort_stops_no_other_run(mirroring: World) -> None:
    """An abort of a run whose MirrorMaker is another run's by now ends only its own run."""
    ask(mirroring)
    mirroring.next_run()
    mirroring.do("preflight")
    announce(mirroring)

    with pytest.raises(FailedForGood, match="CUTOVER_ABORTED"):
        answer(mirroring, ABORT)

    assert mirroring.run.stop_requests.find(1) is None


def test_question_closes_with_the_watch(mirroring: World) -> None:
    """Nobody need answer once the watch is over: the trigger ends, and the task goes on without an answer."""
    trigger = ask(mirroring).trigger
    mirroring.run.evidence.write(Kind.WATCH, {"outcome": "drained", "generation": 1})

    assert {"announced": True} == asyncio.run(_told(trigger))
    assert {"chosen": None} == operator().answered(mirroring.context(), {"announced": True})


async def _told(trigger: Any) -> Any:
    return (await anext(trigger.run())).payload


def test_watch_that_announces_nothing_asks_nobody(mirroring: World, asks: list[dict[str, Any]]) -> None:
    """A watch that failed before the copy was near leaves nothing to ask."""
    with pytest.raises(AirflowSkipException):
        operator().announced(mirroring.context(), {"announced": False})

    assert not asks


def test_answer_is_in_the_report(mirroring: World) -> None:
    """The report says who said what when, for who asks afterwards whether the producers were stopped."""
    ask(mirroring)
    answer(mirroring, STOPPED)
    states: dict[str, Any] = {"preflight": "success"}
    mirroring.finish_fails(**states, watch_lag="failed")

    text = next(mirroring.root.rglob("report.md")).read_text()
    assert "- Producers: ada answered “They have stopped” at 2030-01-01T22:01:00+00:00" in text


def test_abort_ends_the_watch_also_where_the_ledger_cannot_be_read(mirroring: World) -> None:
    """The run's own documents name the generation that must end; the task fails for the ledger."""
    ask(mirroring)
    (mirroring.root / "shop" / "ledger" / "000001.json").write_text("{")

    with pytest.raises(FailedForGood, match="LEDGER_BROKEN"):
        answer(mirroring, ABORT)

    assert mirroring.run.stop_requests.find(1) is not None
