"""The trigger of `stop_producers`: waits until the watch announces that the producers must stop, or ends."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from datetime import datetime
from typing import Any
from uuid import UUID

from airflow.sdk.execution_time.hitl import get_hitl_detail_content_detail
from airflow.triggers.base import TriggerEvent
from asgiref.sync import sync_to_async

from kafka_migration.orchestration.task.context import run_from
from kafka_migration.orchestration.triggers.patient import PatientTrigger
from kafka_migration.steps.mirror.producers_answer import has_ended, was_announced

log = logging.getLogger(__name__)


class AnnouncementTrigger(PatientTrigger):
    """Wait until this attempt's watch announces that the producers must stop, or ends without it.

    :param is_over: wait until the watch is over, regardless of its result; then no answer is needed any more.
    :param question: the id of the task instance whose question the trigger looks at; its answer ends the wait too.

    The event is `{"announced": bool}`, or the answer. The trigger only reads. If the evidence or the question cannot be
    read, the wait continues.
    """

    def __init__(
        self, *, run: dict[str, Any], deadline: str, is_over: bool = False, question: str | None = None
    ) -> None:
        super().__init__(run=run, deadline=deadline, is_over=is_over, question=question)
        self.run_arguments = run
        self.deadline = deadline
        self.is_over = is_over
        self.question = question

    async def events(self) -> AsyncGenerator[TriggerEvent]:
        """Poll the evidence until the wait is over; yield its one event."""
        run = run_from(self.run_arguments)
        poll_interval_s = await sync_to_async(lambda: run.migration.watch.poll_interval_s)()
        while True:
            if self.question and (answer := await sync_to_async(answer_to)(self.question)):
                yield TriggerEvent(answer)
                return
            is_late = run.clock.now() >= datetime.fromisoformat(self.deadline)
            announced = await sync_to_async(was_announced, thread_sensitive=False)(run)
            is_reached = (
                await sync_to_async(has_ended, thread_sensitive=False)(run) if self.is_over else announced is not None
            )
            if is_reached or is_late:
                yield TriggerEvent({"announced": bool(announced)})
                return
            await asyncio.sleep(poll_interval_s)


def answer_to(question: str) -> dict[str, Any] | None:
    """Return the answer in the form in which Airflow 3.3 resumes a task with it; `None` if there is none yet."""
    try:
        found: Any = get_hitl_detail_content_detail(UUID(question))
    except Exception:
        # Like an unreadable store, no reason to give up.
        log.warning("The question cannot be read now.", exc_info=True)
        return None
    if not found.response_received:
        return None
    user = found.responded_by_user
    by = {"id": user.id, "name": user.name} if user else None
    return {"chosen_options": found.chosen_options, "responded_at": found.responded_at, "responded_by_user": by}
