"""Asks whether the producers have stopped, while the watch continues to prove it.

The task is deferred. The trigger resumes it when the watch ends; Airflow resumes it when a user answers. Airflow before
3.3 does not, so there the trigger looks for the answer too.
"""

from __future__ import annotations

from datetime import timedelta

from airflow.sdk import Context
from airflow.sdk.exceptions import TaskDeferred
from airflow.sdk.execution_time.hitl import upsert_hitl_detail

from kafka_migration.airflow_adapters.deployed_airflow import RESUMES_TASKS_WITH_ANSWERS
from kafka_migration.core.watching.producers_question import OPTIONS, question_body
from kafka_migration.core.watching.watch import TRIGGER_MARGIN
from kafka_migration.orchestration.triggers.announcement import AnnouncementTrigger
from kafka_migration.steps.mirror.producers_answer import ask_about_producers
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
    stop = ask_about_producers(run)
    upsert_hitl_detail(
        ti_id=context["task_instance"].id,
        options=list(OPTIONS),
        subject=f"{stop.instruction}. Have they stopped?",
        body=question_body(stop),
        params={},
    )
