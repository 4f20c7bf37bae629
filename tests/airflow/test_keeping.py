"""Rules of what Airflow keeps of a run's evidence, over tries, attempts, parallel tasks and triggers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kafka_migration.adapters.store.digest_keeper import TaskKeeper
from kafka_migration.core.evidence.digests import ANNOUNCED
from kafka_migration.core.run.run_identity import RunIdentity
from kafka_migration.orchestration.task import digest_store as keeping
from kafka_migration.orchestration.task.digest_store import TaskShelf, TriggerShelf
from tests.airflow.conftest import FakeStateStore, FakeTaskInstance, FakeXCom
from tests.steps.kept import KeptValues

TASKS = ("preflight", "plan", "watch_lag", "finish")


class Run:
    """A run of a DAG whose tasks begin, end and begin again."""

    def __init__(self) -> None:
        self.kept = KeptValues()
        self.clear_number = 0
        self.states: dict[str, str | None] = {}
        # The tasks whose values were asked for.
        self.asked: list[str] = []

    def begin(self, task_id: str, migration: str = "shop") -> TaskKeeper:
        """Begin a task, for the first time or again."""
        self._instance(task_id).begin(task_id)
        return self.resume(task_id, migration)

    def resume(self, task_id: str, migration: str = "shop") -> TaskKeeper:
        """Resume a deferred task."""
        instance = self._instance(task_id)
        tasks = [SimpleNamespace(task_id=each, template_fields=("migration",)) for each in TASKS]
        dag = SimpleNamespace(tasks=[SimpleNamespace(task_id="a_users", template_fields=()), *tasks])
        context: Any = {
            "ti": instance,
            "dag": dag,
            "dag_run": SimpleNamespace(clear_number=self.clear_number),
            "task_state_store": FakeStateStore(instance),
        }
        return TaskKeeper(TaskShelf(context, migration), migration)

    def trigger(self, known: dict[str, str]) -> TaskKeeper:
        """Begin the trigger of a deferred task."""
        shelf = TriggerShelf(RunIdentity("dag", "run", 1), TASKS, "shop")
        return TaskKeeper(shelf, "shop", known)

    def _instance(self, task_id: str) -> FakeTaskInstance:
        return FakeTaskInstance(
            kept=self.kept, task_id=task_id, run="dag run", task_states=self.states, pulled=self.asked
        )


@pytest.fixture(params=[True, False], ids=["state stores", "no state stores"])
def run(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Run:
    made = Run()
    monkeypatch.setattr(keeping, "HAS_STATE_STORE", request.param)
    monkeypatch.setattr(keeping, "XCom", FakeXCom(made.kept))
    return made


def test_later_task_knows_what_earlier_ones_wrote(run: Run) -> None:
    """Every task of the run knows the digests of all others."""
    run.begin("preflight").keep({"a": "1"})
    run.begin("plan").keep({"b": "2"})

    assert {"a": "1", "b": "2"} == run.begin("finish").kept().digests


def test_try_knows_what_the_try_before_wrote(run: Run) -> None:
    """What an earlier try of a task wrote is known, although Airflow empties the task's XCom."""
    run.begin("plan").keep({"b": "2"})
    again = run.begin("plan")

    assert {"b": "2"} == again.kept().digests == run.begin("finish").kept().digests
    again.keep({"c": "3"})
    assert {"b": "2", "c": "3"} == run.begin("finish").kept().digests


def test_document_that_a_task_announced_is_known_to_others(run: Run) -> None:
    """A document that is being written is known to other tasks."""
    writer, reader = run.begin("plan"), run.begin("watch_lag")
    assert {} == reader.kept().digests
    writer.keep({"b": ""})

    assert {} == reader.kept().digests
    assert {"b": ""} == reader.look_again().digests
    writer.keep({"b": "2"})
    assert {"b": "2"} == reader.look_again().digests


def test_only_tasks_that_have_begun_are_asked(run: Run) -> None:
    """A task asks those that have a state, and mapped ones, whose states have other names; a second look asks all."""
    run.states.update({"preflight": "success", "watch_lag": None, "finish": None})
    run.begin("preflight").keep({"a": "1"})
    task = run.begin("plan")
    run.asked.clear()

    assert {"a": "1"} == task.kept().digests
    assert {"preflight", "plan"} == set(run.asked)
    task.look_again()
    assert set(TASKS) == set(run.asked)


def test_run_that_was_cleared_asks_all_tasks(run: Run) -> None:
    """A task without a state has begun if the run was cleared, so it is asked."""
    run.begin("finish").keep({"f": "3"})
    run.states.update(dict.fromkeys(TASKS))
    run.clear_number = 1

    assert {"f": "3"} == run.begin("plan").kept().digests


def test_cleared_run_knows_its_earlier_attempt_without_state_stores(run: Run) -> None:
    """Without state stores a cleared run knows what another task has seen, because each task passes it on."""
    run.begin("plan").keep({"b": "2"})
    run.begin("finish").keep({"f": "3"})
    run.kept.states.clear()

    assert {"b": "2", "f": "3"} == run.begin("plan").kept().digests


def test_trigger_is_known_to_its_task_when_that_begins_again(run: Run) -> None:
    """What a trigger wrote is known to the next try of its task and to a later trigger."""
    waiting = run.begin("watch_lag")
    waiting.keep({"s": "1"})
    trigger = run.trigger({"s": "1"})
    trigger.keep({"w": "2"})

    assert {"s": "1", "w": "2"} == run.trigger({"s": "1"}).kept().digests == run.resume("watch_lag").kept().digests
    assert {"s": "1", "w": "2"} == run.begin("watch_lag").kept().digests


def test_trigger_knows_what_others_write_meanwhile(run: Run) -> None:
    """A trigger that looks again knows what parallel tasks wrote."""
    trigger = run.trigger({})
    run.begin("plan").keep({"b": "2"})

    assert {"b": "2"} == trigger.look_again().digests


def test_file_and_answer_are_their_tasks_newest(run: Run) -> None:
    """The frozen file is kept, and a question that is asked again replaces the earlier answer."""
    run.begin("preflight").keep_migration("name: shop", {"attempt-1/migration.yaml": ANNOUNCED})
    asking = run.begin("plan")
    asking.keep_answer({"asked_at": "1", "chosen": None})
    run.resume("plan").keep_answer({"asked_at": "1", "chosen": "Approve"})
    run.resume("plan").keep({"b": "2"})

    kept = run.begin("finish").kept()
    assert ("name: shop", {"asked_at": "1", "chosen": "Approve"}) == (kept.migration, kept.answer)
    run.begin("plan").keep_answer({"asked_at": "2", "chosen": None})
    answer = run.begin("finish").kept().answer
    assert answer is not None
    assert answer["chosen"] is None


def test_answer_does_not_outlive_the_task_that_got_it(run: Run) -> None:
    """A cleared `approve` has no answer until it has asked again."""
    run.begin("plan").keep_answer({"asked_at": "1", "chosen": "Approve"})

    assert run.begin("plan").kept().answer is None


def test_migrations_of_one_dag_are_told_apart(run: Run) -> None:
    """Two migrations in a user's own DAG are kept apart."""
    run.begin("preflight", "shop").keep({"a": "1"})
    run.begin("plan", "other").keep({"a": "2"})

    assert [{"a": "1"}, {"a": "2"}] == [run.begin("finish", name).kept().digests for name in ("shop", "other")]


def test_second_process_of_a_try_puts_back_what_the_first_one_kept(run: Run) -> None:
    """What Airflow deleted when it started the second process is there for all again, also what came meanwhile."""
    first = run.begin("plan")
    first.keep({"a": "1"})
    second = run.begin("plan")
    assert {} == run.begin("finish").kept().digests
    read = second._shelf.for_tries

    def read_before_the_first_keeps_more() -> Any:
        found = dict(read())
        if len(first.kept().digests) == 1:
            first.keep({"b": "2"})
        return found

    vars(second._shelf)["for_tries"] = read_before_the_first_keeps_more
    second.put_back()

    assert {"a": "1", "b": "2"} == run.begin("finish").kept().digests
    assert {"a": "1", "b": "2"} == run.begin("plan").kept().digests


def test_nothing_is_put_back_for_a_process_that_kept_nothing(run: Run) -> None:
    """Where the first process has not kept anything, the second one stores nothing."""
    run.begin("plan").put_back()

    assert {} == run.kept.xcoms
