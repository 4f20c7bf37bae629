"""Setting the note of a run in Airflow when it ends.

A task has no way to set it: the task SDK has none, and a task has neither the database nor a login to the API. So
`finish` leaves the text as an XCom, and this listener, which Airflow calls in the scheduler as a run ends, puts it into
the run's note. It reads nothing but that XCom, in the scheduler's own transaction, and never raises.
"""

from __future__ import annotations

import logging
from typing import Any

from airflow.listeners import hookimpl

from kafka_migration.core.migration.settings import migration_of
from kafka_migration.core.report.run_note import joined_notes

log = logging.getLogger(__name__)

NOTE_KEY = "kafka_migration_note"


class RunNoteListener:
    """Puts what `finish` said into the note of a run."""

    @hookimpl
    def on_dag_run_success(self, dag_run: Any) -> None:
        """Note a run that ended well."""
        _note(dag_run)

    @hookimpl
    def on_dag_run_failed(self, dag_run: Any) -> None:
        """Note a run that failed."""
        _note(dag_run)


def _note(dag_run: Any) -> None:
    if migration_of(dag_run.dag_id) is None:
        return
    try:
        if text := _left_by_finish(dag_run):
            _write(dag_run, text)
    except Exception:
        # Whatever it is: a note must not keep the scheduler from its work.
        log.warning("The note of run %s of %s was not set.", dag_run.run_id, dag_run.dag_id, exc_info=True)


def _left_by_finish(dag_run: Any) -> str:
    from airflow.models.xcom import XComModel
    from sqlalchemy import select
    from sqlalchemy.orm import object_session

    session = object_session(dag_run)
    if session is None:
        return ""
    wanted = select(XComModel).where(
        XComModel.dag_id == dag_run.dag_id, XComModel.run_id == dag_run.run_id, XComModel.key == NOTE_KEY
    )
    with session.no_autoflush:
        row = session.scalar(wanted.limit(1))
    value = None if row is None else XComModel.deserialize_value(row)
    return value if isinstance(value, str) else ""


def _write(dag_run: Any, text: str) -> None:
    known = dag_run.dag_run_note
    if known is None:
        dag_run.note = joined_notes(text, None)
    else:
        known.content = joined_notes(text, known.content)
