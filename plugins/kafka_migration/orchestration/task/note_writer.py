"""Sets the note of a run in Airflow when the run ends.

A task cannot set the note: the Task SDK has no call for it, and a task has no access to the database or the API. So
`finish` pushes the text as an XCom. Airflow calls this listener in the scheduler when a run ends, and the listener
copies the text into the run's note. It reads only that XCom, in the scheduler's own transaction, and never raises.
"""

from __future__ import annotations

import logging
from typing import Any

from airflow.listeners import hookimpl

from kafka_migration.core.report.run_status import joined_notes
from kafka_migration.core.run.run_identity import migration_of

log = logging.getLogger(__name__)

NOTE_KEY = "kafka_migration_note"


class RunNoteListener:
    """Copies the text that `finish` pushed into the note of the run."""

    @hookimpl
    def on_dag_run_success(self, dag_run: Any) -> None:
        """Set the note of a successful run."""
        _note(dag_run)

    @hookimpl
    def on_dag_run_failed(self, dag_run: Any) -> None:
        """Set the note of a failed run."""
        _note(dag_run)


def _note(dag_run: Any) -> None:
    if migration_of(dag_run.dag_id) is None:
        return
    try:
        if text := _left_by_finish(dag_run):
            _write(dag_run, text)
    except Exception:
        # A note must never disturb the scheduler.
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
