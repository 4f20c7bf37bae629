"""What Airflow's database keeps of migrations; the API server reads it directly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kafka_migration.airflow_adapters.stored_digests import stored_by_tasks as stored_by_tasks
from kafka_migration.core.run.run_identity import MANUAL_DAG_PREFIX, NIGHTLY_DAG_PREFIX, migration_of


@dataclass(frozen=True, slots=True)
class TaskTimes:
    """A task of a run: its state in Airflow, and when it began and ended; `None`: not yet."""

    task: str
    state: str | None
    began_at: datetime | None
    ended_at: datetime | None


@dataclass(frozen=True, slots=True)
class KnownDag:
    """A migration's DAG for people, and when Airflow starts its nightly sync next; `None`: it has no schedule."""

    dag_id: str
    migration: str
    next_sync: datetime | None


def task_times(dag_id: str, run_id: str) -> list[TaskTimes]:
    """Return the tasks of a run that Airflow knows."""
    from airflow.models.taskinstance import TaskInstance
    from airflow.utils.session import create_session
    from sqlalchemy import select

    of = (TaskInstance.task_id, TaskInstance.state, TaskInstance.start_date, TaskInstance.end_date)
    wanted = select(*of).where(TaskInstance.dag_id == dag_id, TaskInstance.run_id == run_id)
    with create_session() as session:
        return [TaskTimes(row[0], row[1] and str(row[1]), row[2], row[3]) for row in session.execute(wanted)]


def all_of(dag_id: str, run_id: str) -> tuple[object, ...]:
    """Return all that Airflow keeps of a run, to see whether something has changed."""
    return run_state(dag_id, run_id), *task_times(dag_id, run_id), *stored_by_tasks(dag_id, run_id)


def run_state(dag_id: str, run_id: str) -> str | None:
    """Return the state of a run in Airflow; `None` if Airflow has no such run."""
    from airflow.models.dagrun import DagRun
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        state = session.scalar(select(DagRun.state).where(DagRun.dag_id == dag_id, DagRun.run_id == run_id))
    return None if state is None else str(state)


def known_dags() -> list[KnownDag]:
    """Return the DAGs for people of all migrations, by name."""
    from airflow.models.dag import DagModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    of = (DagModel.dag_id, DagModel.is_paused, DagModel.next_dagrun_create_after)
    prefixes = (MANUAL_DAG_PREFIX, NIGHTLY_DAG_PREFIX)
    with create_session() as session:
        rows = list(session.execute(select(*of).where(DagModel.is_stale.is_(False))))
    return dags_of([(*row,) for row in rows if str(row[0]).startswith(prefixes)])


def dags_of(rows: Iterable[Sequence[Any]]) -> list[KnownDag]:
    """Return the migrations of DAGs: their id, whether they are paused, and when they start next."""
    found = {str(dag_id): None if is_paused else start for dag_id, is_paused, start in rows}
    names = {name for dag_id in found if dag_id.startswith(MANUAL_DAG_PREFIX) and (name := migration_of(dag_id))}
    return [
        KnownDag(f"{MANUAL_DAG_PREFIX}{name}", name, found.get(f"{NIGHTLY_DAG_PREFIX}{name}")) for name in sorted(names)
    ]
