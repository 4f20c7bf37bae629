"""Rules of the hooks of a cutover, and of the question whether the producers have stopped."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.providers.standard.operators.trigger_dagrun import DagIsPaused
from airflow.sdk.exceptions import AirflowSkipException, DagRunTriggerException, TaskDeferred

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.watching.producers_question import ABORT, STOPPED
from kafka_migration.core.watching.watch import Announced, Outcome
from kafka_migration.orchestration.task.failures import FailedForGood
from kafka_migration.orchestration.triggers.announcement import AnnouncementTrigger
from kafka_migration.steps.mirror import producers_answer
from kafka_migration.steps.mirror.producers_answer import has_ended, was_announced
from tests.airflow.driving import deferred_by
from tests.airflow.world import World
from tests.steps.tasks import BEFORE_START
from tests.steps.world import RECORD
from tests.stored_examples import stopped, watch_ended

HOOKS = """\
cutover:
  hooks:
    stop_producers:
      callable: builtins.dict
    after_cutover:
      dag: flip_configuration
"""
ANNOUNCED_AT = datetime(2030, 1, 1, 22, 0, tzinfo=UTC)


@pytest.fixture
def hooked(world: World) -> World:
    """A cutover whose file names a hook of each kind."""
    world.extend_file(HOOKS)
    world.params = {"mode": "cutover"}
    world.do("preflight")
    return world


@pytest.fixture
def mirroring(world: World, asked: list[dict[str, Any]]) -> World:
    """A cutover without hooks whose MirrorMaker runs, and whose watch has announced that the producers must stop."""
    world.params = {"mode": "cutover"}
    world.source.produce("orders", 0, RECORD)
    world.start()
    announce(world)
    return world


def announce(world: World) -> None:
    """Write what the watch writes when it tells the producers to stop."""
    at = ANNOUNCED_AT.isoformat()
    document = Announced(at=at, generation=1, announced_at=at, lag="0")
    world.run.evidence.write(Stored.WATCH, document)


def announced(world: World, *, is_announced: bool = True) -> Any:
    """Resume `stop_producers` after its wait for the announcement."""
    return world.task("stop_producers").announced(world.context(), {"announced": is_announced})


def ask(world: World) -> TaskDeferred:
    """Resume the task after the announcement; return what it is deferred by."""
    with pytest.raises(TaskDeferred) as deferred:
        announced(world)
    return deferred.value


def answer(world: World, option: str) -> Any:
    """Resume the task as Airflow does when a user answers."""
    event = {
        "chosen_options": [option],
        "params_input": {},
        "responded_at": ANNOUNCED_AT + timedelta(minutes=1),
        "responded_by_user": {"id": "7", "name": "ada"},
        "timedout": False,
    }
    return world.task("stop_producers").answered(world.context(), event)


def abort(world: World, match: str = "CUTOVER_ABORTED") -> None:
    """Answer with the abort of the cutover, which fails the task."""
    with pytest.raises(FailedForGood, match=match):
        answer(world, ABORT)


def payloads(trigger: Any) -> list[Any]:
    """Return the payloads of a trigger's events, once it has ended."""

    async def events() -> list[Any]:
        return [event.payload async for event in trigger.run()]

    return asyncio.run(events())


def test_stop_producers_waits_for_the_watch(hooked: World) -> None:
    """The hook is called after the announcement of the watch, with the run's data, and its result is recorded."""
    deferred = deferred_by(hooked.task("stop_producers"), hooked.context())
    assert isinstance(deferred.trigger, AnnouncementTrigger)
    assert was_announced(hooked.run) is None
    announce(hooked)
    assert was_announced(hooked.run)

    announced(hooked)

    (called,) = hooked.run.evidence.of_attempt(Kind.HOOK)
    assert ("stop_producers", "callable builtins.dict") == (called["hook"], called["called"])
    assert {"migration", "run", "topics", "source", "target"} == set(called["result"])
    assert ["orders", "audit"] == called["result"]["topics"]


def test_wait_ends_with_the_watch(hooked: World) -> None:
    """No hook is called if the watch ends without an announcement, or has announced nothing at the deadline."""
    arguments = hooked.run.to_arguments()
    late = AnnouncementTrigger(run=arguments, deadline=datetime(2020, 1, 1, tzinfo=UTC).isoformat())
    assert [{"announced": False}] == payloads(late)
    hooked.run.evidence.write(Stored.STOP, stopped())
    assert was_announced(hooked.run) is False
    ended = AnnouncementTrigger(run=arguments, deadline=datetime(2100, 1, 1, tzinfo=UTC).isoformat())
    assert [{"announced": False}] == payloads(ended)

    with pytest.raises(AirflowSkipException):
        announced(hooked, is_announced=False)


def name_function(world: World) -> None:
    """Let the run's file name a function that does not exist instead of the DAG."""
    text = world.file.read_text()
    world.freeze(text.replace("dag: flip_configuration", "callable: shop.no_such_module.start"))


def test_dag_is_run_and_waited_for(hooked: World) -> None:
    """The DAG's run has an id of its own per run, so that a retry clears it instead of creating another."""
    operator = hooked.task("after_cutover")
    with pytest.raises(DagRunTriggerException) as raised:
        operator.execute(hooked.context())

    asked = raised.value
    assert ("flip_configuration", "manual__1__shop__after_cutover") == (asked.trigger_dag_id, asked.dag_run_id)
    assert (True, True, True) == (asked.wait_for_completion, asked.deferrable, asked.reset_dag_run)
    assert "shop" == asked.conf["migration"]
    done = ("airflow", {"run_ids": [asked.dag_run_id], asked.dag_run_id: "success"})
    operator.execute_complete(hooked.context(), done)
    assert "DAG flip_configuration" == hooked.run.evidence.of_attempt(Kind.HOOK)[0]["called"]


def test_paused_dag_is_not_waited_for(hooked: World) -> None:
    """The task fails at once if the hook's DAG is paused, because its run would never start."""
    hooked.task_instance.paused_dags.add("flip_configuration")

    with pytest.raises(DagIsPaused, match="flip_configuration"):
        hooked.do("after_cutover")


def test_function_that_does_not_exist_is_refused(hooked: World) -> None:
    """A callable that cannot be imported is a finding."""
    name_function(hooked)
    hooked.refuses("after_cutover", match="HOOK_NOT_FOUND")


def test_hook_that_is_not_named_is_skipped(world: World) -> None:
    """Without a hook in the file the task is skipped."""
    world.params = {"mode": "cutover"}
    world.do("preflight")

    world.skips("after_cutover", match="has no after_cutover")


@pytest.mark.parametrize("name", ["stop_producers", "after_cutover"])
@pytest.mark.parametrize("mode", ["rehearse", "sync", "follow", "validate"])
def test_nothing_is_called_outside_of_a_cutover(hooked: World, mode: str, name: str) -> None:
    """In every other mode both tasks are skipped."""
    hooked.params = {"mode": mode}

    hooked.skips(name, match="moves no consumer groups")


def test_only_a_dag_that_runs_has_a_link(hooked: World) -> None:
    """Only a hook that is a DAG has a link to a run, because Airflow keeps the links of a task."""
    with_dag = hooked.task("after_cutover")
    with pytest.raises(DagRunTriggerException):
        with_dag.execute(hooked.context())
    assert ["Triggered DAG"] == [link.name for link in with_dag.operator_extra_links]

    name_function(hooked)
    without = hooked.task("after_cutover")
    with pytest.raises(FailedForGood):
        without.execute(hooked.context())
    assert [] == list(without.operator_extra_links)


def test_calls_are_in_the_report(hooked: World) -> None:
    """The report names the called hooks and their results."""
    announce(hooked)
    announced(hooked)
    hooked.finish(preflight="success")

    assert "callable builtins.dict" in hooked.report


def test_question_comes_with_the_announcement(world: World, asked: list[dict[str, Any]]) -> None:
    """The task is deferred until the copy is near, and no user is asked before."""
    world.params = {"mode": "cutover"}
    world.do(*BEFORE_START)

    deferred = deferred_by(world.task("stop_producers"), world.context())

    assert isinstance(deferred.trigger, AnnouncementTrigger)
    assert ("announced", []) == (deferred.method_name, asked)


def test_question_names_topics_and_deadline(mirroring: World, asked: list[dict[str, Any]]) -> None:
    """The question names the topics, the source, the deadline and what each answer does."""
    deferred = ask(mirroring)

    (question,) = asked
    assert [STOPPED, ABORT] == question["options"]
    assert "Stop producers of 2 topics on old_kafka before 23:00 UTC. Have they stopped?" == question["subject"]
    assert question["body"].startswith("**Stop producers of 2 topics on old_kafka before 23:00 UTC.**")
    for text in ("`orders`, `audit`", "Deadline: Tue 2030-01-01 23:00 UTC, ", "No group is moved"):
        assert text in question["body"]
    assert question.get("defaults") is None
    assert ("answered", True) == (deferred.method_name, deferred.trigger.serialize()[1]["is_over"])


def test_yes_is_kept_and_ends_nothing(mirroring: World) -> None:
    """The answer that the producers have stopped is recorded, and the watch continues."""
    ask(mirroring)

    assert {"chosen": STOPPED, "by": "ada"} == answer(mirroring, STOPPED)

    kept = mirroring.run.evidence.of_attempt(Kind.PRODUCERS)
    assert [None, STOPPED] == [document["chosen"] for document in kept]
    assert mirroring.run.stop_requests.find(1) is None
    assert not has_ended(mirroring.run)


@pytest.mark.parametrize("option", [STOPPED, ABORT])
def test_task_tried_again_asks_no_second_time(mirroring: World, asked: list[dict[str, Any]], option: str) -> None:
    """A task that is tried again after its answer has the same outcome and does not ask again."""
    ask(mirroring)
    outcomes = [_outcome(lambda: answer(mirroring, option))]

    outcomes.append(_outcome(lambda: mirroring.do("stop_producers")))

    assert outcomes[0] == outcomes[1]
    assert 1 == len(asked)


def _outcome(act: Callable[[], Any]) -> str:
    try:
        return str(act())
    except FailedForGood as failed:
        return str(failed)


def test_abort_ends_the_watch_and_fails_the_task(mirroring: World) -> None:
    """An abort fails the task and asks the watch to stop, as the command line does."""
    ask(mirroring)

    abort(mirroring, r"CUTOVER_ABORTED · .* was aborted by ada at ")

    request = mirroring.run.stop_requests.find(1)
    assert request is not None
    assert ("ada", mirroring.run.identity.holder) == (request.by, request.run)
    assert ["CUTOVER_ABORTED"] == mirroring.refusal_codes


def test_abort_ends_the_watch_also_when_it_is_tried_again(mirroring: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A task that died before it asked the watch to stop does so when it is tried again."""
    ask(mirroring)
    with monkeypatch.context() as patch:
        patch.setattr(producers_answer, "_end_mirroring", lambda run, by: None)
        abort(mirroring)
    assert mirroring.run.stop_requests.find(1) is None

    mirroring.refuses("stop_producers", match="CUTOVER_ABORTED")

    assert mirroring.run.stop_requests.find(1) is not None


def test_abort_of_a_run_that_was_cleared_meanwhile_ends_the_watch(mirroring: World) -> None:
    """An answer counts also if the run was cleared after the question."""
    ask(mirroring)
    mirroring.dag_run.clear_number = 1

    abort(mirroring)

    assert mirroring.run.stop_requests.find(1) is not None


def test_late_abort_stops_no_other_run(mirroring: World) -> None:
    """An abort does not stop the MirrorMaker of a later run."""
    ask(mirroring)
    mirroring.next_run()
    mirroring.do("preflight")
    announce(mirroring)

    abort(mirroring)

    assert mirroring.run.stop_requests.find(1) is None


def test_question_closes_with_the_watch(mirroring: World) -> None:
    """After the end of the watch the trigger ends, and the task succeeds without an answer."""
    trigger = ask(mirroring).trigger
    mirroring.run.evidence.write(Stored.WATCH, watch_ended(Outcome.DRAINED))

    (event,) = payloads(trigger)
    assert {"announced": True} == event
    assert {"chosen": None} == mirroring.task("stop_producers").answered(mirroring.context(), event)


def test_watch_that_announces_nothing_asks_no_question(mirroring: World, asked: list[dict[str, Any]]) -> None:
    """Without an announcement of the watch the task is skipped and asks nothing."""
    with pytest.raises(AirflowSkipException):
        announced(mirroring, is_announced=False)

    assert not asked


def test_answer_is_in_the_report(mirroring: World) -> None:
    """The report has the answer, the user and the time."""
    ask(mirroring)
    answer(mirroring, STOPPED)
    mirroring.finish_fails(preflight="success", watch_lag="failed")

    assert "- Producers: ada answered “They have stopped” at 2030-01-01 22:01:00 UTC" in mirroring.report


def test_abort_ends_the_watch_also_where_the_ledger_cannot_be_read(mirroring: World) -> None:
    """With a broken ledger the generation to stop is known from the run's documents; the task fails for the ledger."""
    ask(mirroring)
    (mirroring.root / "shop" / "ledger" / "000001.json").write_text("{")

    abort(mirroring, "LEDGER_BROKEN")

    assert mirroring.run.stop_requests.find(1) is not None
