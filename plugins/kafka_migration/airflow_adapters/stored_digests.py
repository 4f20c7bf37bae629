"""What the tasks of a run stored about their evidence, read from Airflow's database by a process that is no task."""

from __future__ import annotations

from typing import Any

from kafka_migration.adapters.store.digest_keeper import KEY
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.run.run_identity import RunIdentity

# Far more than the tasks of a run.
_MOST_VALUES = 1000


def stored_by_tasks(dag_id: str, run_id: str) -> list[Any]:
    """Return what the tasks of a run stored in XCom about their evidence."""
    from airflow.models.xcom import XComModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    # PostgreSQL takes no text with a zero byte.
    if "\0" in f"{dag_id}{run_id}":
        return []
    wanted = select(XComModel).where(
        XComModel.dag_id == dag_id, XComModel.run_id == run_id, XComModel.key.startswith(KEY)
    )
    with create_session() as session:
        return [XComModel.deserialize_value(row) for row in session.scalars(wanted.limit(_MOST_VALUES))]


def stored_of(run: RunIdentity) -> list[Any]:
    """Return what the tasks of a run stored, for the command line; raises `TransientError` without an answer."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        return stored_by_tasks(run.dag_id, run.run_id)
    except SQLAlchemyError as error:
        # The other lines are the whole query.
        raise TransientError(f"database: {str(error).splitlines()[0]}") from error
