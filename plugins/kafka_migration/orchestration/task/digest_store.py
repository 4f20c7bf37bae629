"""Stores evidence digests in Airflow: in XCom, which other tasks read, and in the state store, which survives retries.

Airflow clears the XCom of a task when the task starts again. So each task pushes all digests that it knows, and reads
those of its earlier tries from its state store, or from the XCom of another task where Airflow has no state store. A
trigger has no state store, and its task may start again before the trigger does. So the trigger pushes its XCom under
the run's first task.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from airflow.sdk import Context
from airflow.sdk.execution_time.xcom import XCom

from kafka_migration.airflow_adapters.deployed_airflow import HAS_STATE_STORE
from kafka_migration.core.evidence.digests import Kept, joined
from kafka_migration.core.run.run_identity import RunIdentity

KEY = "kafka_migration_evidence"
_EXTRA = ("migration_file", "answer", "refusal")


def digests_in(values: Iterable[Any], migration: str) -> dict[str, str]:
    """Return the digests in what the tasks of a run stored under `KEY`; a value of another form has none."""
    mine = (value for value in values if isinstance(value, Mapping) and value.get("migration") == migration)
    kept = (value["digests"] for value in mine if isinstance(value.get("digests"), Mapping))
    return joined(*({name: str(digest) for name, digest in each.items()} for each in kept))


class Shelf(Protocol):
    """The storage of one task (or its trigger) in Airflow's database, next to that of the run's other tasks."""

    def own(self) -> Mapping[str, Any]:
        """Return what earlier tries of this task stored; empty if nothing."""

    def all(self) -> Iterable[Any]:
        """Return what all tasks of the run have stored."""

    def put(self, value: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        """Store a value for all tasks, and what later tries of this task need."""


class AirflowKeeper:
    """Keeps the digests of a run's evidence in Airflow's database (`core.evidence.digests.Keeper`).

    `known` are the digests that a trigger was started with.
    """

    def __init__(self, shelf: Shelf, migration: str, known: Mapping[str, str] | None = None) -> None:
        self._shelf = shelf
        self._migration = migration
        self._known = dict(known or {})
        self._own: dict[str, str] = {}
        self._extra: dict[str, Any] = {}
        self._found: list[Mapping[str, Any]] | None = None
        self._current: Kept | None = None
        # A trigger sends alerts in parallel with its polls, and both write.
        self._lock = threading.RLock()

    def kept(self) -> Kept:
        """Return what all tasks of the run had stored at the last read."""
        with self._lock:
            return self._kept()

    def _kept(self) -> Kept:
        if self._current is None:
            if self._found is None:
                self._begin()
            self._current = self._gathered()
        return self._current

    def _gathered(self) -> Kept:
        values = [*(self._found or ()), self._extra]
        answers = [value["answer"] for value in values if value.get("answer")]
        return Kept(
            joined(self._others(), self._own),
            next((value["migration_file"] for value in reversed(values) if value.get("migration_file")), None),
            max(answers, key=lambda answer: str(answer["asked_at"]), default=None),
            tuple(value["refusal"] for value in values if value.get("refusal")),
        )

    def look_again(self) -> Kept:
        """Read the storage of all tasks of the run again."""
        with self._lock:
            self._kept()
            self._found, self._current = self._mine(self._shelf.all()), None
            return self._kept()

    def keep(self, digests: Mapping[str, str]) -> None:
        """Keep the digests of documents that this task writes."""
        with self._lock:
            self._kept()
            self._own |= digests
            self._put()

    def keep_migration(self, text: str) -> None:
        """Keep the text of the migration file."""
        self._keep_extra("migration_file", text)

    def keep_answer(self, answer: Mapping[str, Any]) -> None:
        """Keep the latest question and the user's answer."""
        self._keep_extra("answer", dict(answer))

    def keep_refusal(self, refusal: Mapping[str, Any]) -> None:
        """Keep why this task refused, because the evidence store did not take it."""
        self._keep_extra("refusal", dict(refusal))

    def _keep_extra(self, name: str, value: Any) -> None:
        with self._lock:
            self._kept()
            self._extra[name] = value
            self._put()

    def _begin(self) -> None:
        """Load what earlier tries stored; XCom was cleared when this try started."""
        self._found = self._mine(self._shelf.all())
        for value in self._mine([self._shelf.own()]):
            self._own = dict(value["digests"])
            self._extra = {name: value[name] for name in _EXTRA if name in value}
        if self._own.keys() - self._others().keys():
            self._put()

    def _mine(self, values: Iterable[Any]) -> list[Mapping[str, Any]]:
        """Return the values of this migration only: a mapped task has one per migration."""
        return [value for value in values if isinstance(value, Mapping) and value.get("migration") == self._migration]

    def _others(self) -> dict[str, str]:
        return joined(self._known, *(value["digests"] for value in self._found or ()))

    def _put(self) -> None:
        self._current = None
        mine = {"migration": self._migration, "digests": self._own}
        self._shelf.put({**mine, **self._extra, "digests": joined(self._others(), self._own)}, mine)


class TaskShelf:
    """The storage of a running task."""

    def __init__(self, context: Context, migration: str) -> None:
        self._ti: Any = context["ti"]
        self._trigger_key = _trigger_key(migration)
        self.tasks = tasks_of(context)
        self._store: Any = context.get("task_state_store") if HAS_STATE_STORE else self._store_elsewhere(migration)

    def own(self) -> Mapping[str, Any]:
        """Return what earlier tries of this task stored; empty if nothing."""
        # A deferred task that resumes still has its XCom.
        waited = self._ti.xcom_pull(task_ids=[self._ti.task_id], key=KEY)[0]
        return waited or (self._store.get(KEY) if self._store is not None else None) or {}

    def all(self) -> Iterable[Any]:
        """Return what all tasks of the run have stored."""
        yield from self._ti.xcom_pull(task_ids=self.tasks, key=KEY)
        yield from self._ti.xcom_pull(task_ids=self.tasks[:1], key=self._trigger_key)

    def put(self, value: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        """Store a value for all tasks, and what later tries of this task need."""
        if self._store is not None:
            self._store.set(KEY, dict(own))
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

    def all(self) -> Iterable[Any]:
        """Return what all tasks of the run and its trigger have stored."""
        return [*(self._one(task, KEY) for task in self._tasks), self._one(self._tasks[0], self._trigger_key)]

    def put(self, value: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        """Store a value for all tasks."""
        XCom.set(key=self._trigger_key, value=dict(own), task_id=self._tasks[0], **self._run)

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
