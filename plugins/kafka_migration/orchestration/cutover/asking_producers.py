"""Asks whether the producers have stopped, while the watch continues to prove it.

The task is deferred. The trigger resumes it when the watch ends; Airflow resumes it when a user answers. Airflow before
3.3 does not, so there the trigger looks for the answer too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from airflow.sdk import Context
from airflow.sdk.exceptions import TaskDeferred
from airflow.sdk.execution_time.hitl import upsert_hitl_detail

from kafka_migration.airflow_adapters.deployed_airflow import RESUMES_TASKS_WITH_ANSWERS
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.run.stop_request import StopRequest
from kafka_migration.core.stored.stored_documents import MirrorStarted, Stored
from kafka_migration.core.watching.producers_question import ABORT, OPTIONS, ProducersAsk, aborted, question_body
from kafka_migration.core.watching.watch import TRIGGER_MARGIN, Announced
from kafka_migration.orchestration.triggers.announcement import AnnouncementTrigger
from kafka_migration.steps.run.alert_sending import stop_producers
from kafka_migration.steps.run.migration_run import MigrationRun


def waiting_for_watch(
    run: MigrationRun, method_name: str, *, is_over: bool = False, asked: Context | None = None
) -> TaskDeferred:
    """Return the deferral of a task until the watch announces that the producers must stop, or until it ends.

    `asked` is the context of a task that has asked; it is also resumed when a user answers.
    """
    question = None if asked is None or RESUMES_TASKS_WITH_ANSWERS else str(asked["task_instance"].id)
    time_limit_s = run.migration.watch.time_limit_s + run.migration.cutover.fence_wait_s
    deadline = run.clock.now() + timedelta(seconds=time_limit_s)
    return TaskDeferred(
        trigger=AnnouncementTrigger(
            run=run.to_arguments(), deadline=deadline.isoformat(), is_over=is_over, question=question
        ),
        method_name=method_name,
        timeout=deadline - run.clock.now() + TRIGGER_MARGIN,
    )


def ask(run: MigrationRun, context: Context) -> None:
    """Ask whether the producers have stopped. An earlier answer is discarded."""
    asked = _asked(run)
    run.evidence.write(Stored.PRODUCERS, asked)
    stop = stop_producers(run, datetime.fromisoformat(asked.announced_at))
    upsert_hitl_detail(
        ti_id=context["task_instance"].id,
        options=list(OPTIONS),
        subject=f"{stop.instruction}. Have they stopped?",
        body=question_body(stop),
        params={},
    )


def known_answer(run: MigrationRun) -> ProducersAsk | None:
    """Return the answer that this attempt received before the task was retried.

    Airflow retries a task if the answer arrives while Airflow is still recording the question. Raises `Refused` if the
    answer aborts the cutover.
    """
    asks = run.evidence.of_attempt(Stored.PRODUCERS)
    answered = asks[-1] if asks and asks[-1].chosen is not None else None
    if answered is not None and answered.chosen == ABORT:
        _end_mirroring(run, str(answered.by))
        raise Refused([aborted(answered)])
    return answered


def take_answer(run: MigrationRun, event: Mapping[str, Any]) -> ProducersAsk | None:
    """Record and return the event's answer, or `None` if it has none. Raises `Refused` if it aborts the cutover."""
    if not event.get("chosen_options"):
        return None
    user = event.get("responded_by_user") or {}
    chosen, by = event["chosen_options"][0], user.get("name") or user.get("id") or "an unnamed user"
    if chosen == ABORT:
        # First, because every later step may fail.
        _end_mirroring(run, by)
    at = event["responded_at"].isoformat(timespec="seconds")
    answered = replace(_asked(run), chosen=chosen, answered_at=at, by=by)
    run.evidence.write(Stored.PRODUCERS, answered)
    if chosen == ABORT:
        raise Refused([aborted(answered)])
    return answered


def _asked(run: MigrationRun) -> ProducersAsk:
    """Return the question for the newest announcement of the run, possibly from an earlier attempt."""
    watch = run.evidence.of_run(Stored.WATCH)
    announced_at = [document.announced_at for document in watch if isinstance(document, Announced)][-1]
    until = stop_producers(run, datetime.fromisoformat(announced_at)).until
    return ProducersAsk(announced_at, until.isoformat(timespec="seconds"))


def _end_mirroring(run: MigrationRun, by: str) -> None:
    """Ask this run's watch to end, like `kafka-migration stop`, even if the ledger cannot be read."""

    def ask(number: int, holder: str) -> None:
        run.stop_requests.request(StopRequest(number, holder, run.now(), by, ABORT))

    try:
        generation = run.ledger.read().open_generation_of(run.identity)
    except Exception:
        start = run.evidence.newest(Stored.START)
        if isinstance(start, MirrorStarted):
            ask(start.generation, run.identity.holder)
        raise
    if generation is not None:
        ask(generation.number, generation.start.run)
