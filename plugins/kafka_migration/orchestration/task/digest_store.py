"""Stores evidence digests in Airflow: in XCom, which other tasks read, and in the state store, which survives retries.

Airflow clears the XCom of a task when the task starts again. So each task pushes all digests that it knows, and reads
those of its earlier tries from its state store, or from the XCom of another task where Airflow has no state store. A
trigger has no state store, and its task may start again before the trigger does. So the trigger pushes its XCom under
the run's first task.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from airflow.sdk import Context
from airflow.sdk.execution_time.xcom import XCom

from kafka_migration.adapters.store.digest_keeper import KEY
from kafka_migration.airflow_adapters.deployed_airflow import HAS_STATE_STORE
from kafka_migration.core.run.run_identity import RunIdentity


class TaskShelf:
    """The storage of a running task."""

    def __init__(self, context: Context, migration: str) -> None:
        self._ti: Any = context["ti"]
        self._dag_run: Any = context["dag_run"]
        self._trigger_key = _trigger_key(migration)
        self.tasks = tasks_of(context)
        self._store: Any = context.get("task_state_store") if HAS_STATE_STORE else self._store_elsewhere(migration)

    def own(self) -> Mapping[str, Any]:
        """Return what earlier tries of this task stored; empty if nothing."""
        # A deferred task that resumes still has its XCom.
        waited = self._ti.xcom_pull(task_ids=[self._ti.task_id], key=KEY)[0]
        return waited or self.for_tries()

    def for_tries(self) -> Mapping[str, Any]:
        """Return what this task stored for its later tries; empty if nothing."""
        return (self._store.get(KEY) if self._store is not None else None) or {}

    def begun(self) -> Iterable[Any]:
        """Return what the tasks that have begun have stored.

        Airflow answers one question per task. A task without a state has not begun, unless the run was cleared.
        """
        if self._dag_run.clear_number:
            return self.all()
        states = self._ti.get_task_states(dag_id=self._ti.dag_id, run_ids=[self._ti.run_id])[self._ti.run_id]
        # A mapped task has a state per migration, under other names.
        return self._stored_by([task for task in self.tasks if states.get(task, "mapped") is not None])

    def all(self) -> Iterable[Any]:
        """Return what all tasks of the run have stored."""
        return self._stored_by(self.tasks)

    def _stored_by(self, tasks: list[str]) -> Iterator[Any]:
        yield from self._ti.xcom_pull(task_ids=tasks, key=KEY)
        yield from self._ti.xcom_pull(task_ids=self.tasks[:1], key=self._trigger_key)

    def put(self, value: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        """Store a value for all tasks, and what later tries of this task need."""
        if self._store is not None:
            self._store.set(KEY, dict(own))
        self.put_back(value)

    def put_back(self, value: Mapping[str, Any]) -> None:
        """Store a value for all tasks only."""
        self._ti.xcom_push(KEY, dict(value))

    def _store_elsewhere(self, migration: str) -> XComStore | None:
        # The first task does not start again within an attempt, nor does any other task before the first has ended.
        others = [task for task in self.tasks if task != self._ti.task_id]
        run = {"dag_id": self._ti.dag_id, "run_id": self._ti.run_id}
        return XComStore(f"{self._ti.task_id}_{migration}", {**run, "task_id": others[0]}) if others else None


class XComStore:
    """Replaces the state store of a task by XCom under another task, which Airflow does not clear with the task."""

    def __init__(self, owner: str, place: Mapping[str, str]) -> None:
        self._owner = owner
        self._place = place

    def get(self, key: str) -> Any:
        """Return what an earlier try stored; `None` if nothing."""
        return XCom.get_one(key=f"{key}_of_{self._owner}", map_index=-1, **self._place)

    def set(self, key: str, value: Mapping[str, Any]) -> None:
        """Store a value for later tries."""
        XCom.set(key=f"{key}_of_{self._owner}", value=dict(value), **self._place)


class TriggerShelf:
    """The storage of a deferred task's trigger, under the run's first task, which has ended for good by then."""

    def __init__(self, identity: RunIdentity, tasks: Sequence[str], migration: str) -> None:
        self._run = {"dag_id": identity.dag_id, "run_id": identity.run_id}
        self._trigger_key = _trigger_key(migration)
        self._tasks = tasks

    def own(self) -> Mapping[str, Any]:
        """Return what this trigger stored before its triggerer was restarted."""
        return self._one(self._tasks[0], self._trigger_key) or {}

    for_tries = own

    def begun(self) -> Iterable[Any]:
        """Return what all tasks of the run have stored: a trigger cannot ask which have begun."""
        return self.all()

    def all(self) -> Iterable[Any]:
        """Return what all tasks of the run and its trigger have stored."""
        return [*(self._one(task, KEY) for task in self._tasks), self._one(self._tasks[0], self._trigger_key)]

    def put(self, value: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        """Store a value for all tasks."""
        self.put_back(own)

    def put_back(self, value: Mapping[str, Any]) -> None:
        """Store a value for all tasks."""
        XCom.set(key=self._trigger_key, value=dict(value), task_id=self._tasks[0], **self._run)

    def _one(self, task: str, key: str) -> Any:
        return XCom.get_one(key=key, task_id=task, map_index=-1, **self._run)


def _trigger_key(migration: str) -> str:
    return f"{KEY}_of_trigger_{migration}"


def tasks_of(context: Context) -> list[str]:
    """Return the tasks of the run's DAG that belong to a migration, in the order of the DAG file."""
    dag: Any = context["dag"]
    mine = [task.task_id for task in dag.tasks if "migration" in (task.template_fields or ())]
    own = context["ti"].task_id
    return mine if own in mine else [*mine, own]
