"""What is kept of all runs outside the evidence root, and what a run knows of itself."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.contract.memory_anchor import MemoryAnchor

DAG_ID = "kafka_migration__shop"
NIGHTLY_DAG_ID = "kafka_nightly_sync__shop"
KEY = "kafka_migration_evidence"


@dataclass
class DagRun:
    """What is known of a run."""

    run_id: str = "manual__1"
    clear_number: int = 0
    triggering_user_name: str | None = "ada"
    run_type: str = "manual"
    data_interval_start: datetime | None = None
    data_interval_end: datetime | None = None
    other_dag_id: str = ""

    @property
    def dag_id(self) -> str:
        """The id of the manual DAG, of the nightly DAG for scheduled and backfill runs, or of another DAG."""
        return self.other_dag_id or (DAG_ID if self.run_type == "manual" else NIGHTLY_DAG_ID)


@dataclass
class KeptValues:
    """What tasks have pushed for others, and what outlives their tries, by run, task and key."""

    xcoms: MutableMapping[tuple[str, str, str], Any] = field(default_factory=dict)
    states: MutableMapping[tuple[str, str, str], Any] = field(default_factory=dict)


@dataclass
class Tasks:
    """The tasks of all runs: the present one, what they have kept, and how runs and tasks have ended."""

    run_states: dict[str, str] = field(default_factory=dict)
    task_states: dict[str, str | None] = field(default_factory=dict)
    kept: KeptValues = field(default_factory=KeptValues)
    task_id: str = "task"
    run: str = ""

    def begin(self, task_id: str) -> None:
        """Begin a task of the run, for the first time or again: what it has pushed is then gone."""
        self.task_id = task_id
        # In place, because a trigger may write meanwhile.
        for at in [at for at in tuple(self.kept.xcoms) if at[:2] == (self.run, task_id)]:
            del self.kept.xcoms[at]

    def begun(self) -> list[str]:
        """Return the tasks of the run that have pushed something."""
        return sorted({at[1] for at in self.kept.xcoms if at[0] == self.run})


@dataclass
class TaskShelf:
    """The storage of the present task (`Shelf`)."""

    tasks: Tasks

    def own(self) -> Mapping[str, Any]:
        """Return what earlier tries of this task stored; empty if nothing."""
        return self.tasks.kept.xcoms.get(self._at) or self.for_tries()

    def for_tries(self) -> Mapping[str, Any]:
        """Return what this task stored for its later tries; empty if nothing."""
        found: Mapping[str, Any] = self.tasks.kept.states.get(self._at, {})
        return found

    def begun(self) -> Iterable[Any]:
        """Return what all tasks of the run have stored."""
        return self.all()

    def all(self) -> Iterable[Any]:
        """Return what all tasks of the run have stored."""
        return [value for (run, _, key), value in self.tasks.kept.xcoms.items() if (run, key) == (self.tasks.run, KEY)]

    def put(self, value: Mapping[str, Any], own: Mapping[str, Any]) -> None:
        """Store a value for all tasks, and what later tries of this task need."""
        self.put_own(own)
        self.put_back(value)

    def put_own(self, value: Mapping[str, Any]) -> None:
        """Store what later tries of this task need."""
        self.tasks.kept.states[self._at] = json.loads(json.dumps(value))

    def put_back(self, value: Mapping[str, Any]) -> None:
        """Store a value for all tasks."""
        self.tasks.kept.xcoms[self._at] = json.loads(json.dumps(value))

    @property
    def _at(self) -> tuple[str, str, str]:
        return self.tasks.run, self.tasks.task_id, KEY


@dataclass
class FakeAnchor:
    """Keeps the heads and announcements of all ledgers, as Airflow's variables do."""

    anchors: dict[str, MemoryAnchor] = field(default_factory=dict)

    def of(self, migration: str) -> MemoryAnchor:
        """Return the anchor of one migration."""
        return self.anchors.setdefault(migration, MemoryAnchor())
