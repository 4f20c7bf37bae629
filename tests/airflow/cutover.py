"""How Airflow asks for approvals, and how it resumes a task with an answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from airflow.sdk.exceptions import TaskDeferred

from kafka_migration.airflow_adapters.deployed_airflow import RESUMES_TASKS_WITH_ANSWERS

# How a task waits for an answer: before Airflow 3.3 it is deferred.
Waits: type[BaseException] = TaskDeferred
if RESUMES_TASKS_WITH_ANSWERS:
    from airflow.sdk.exceptions import TaskAwaitingInput

    Waits = TaskAwaitingInput


def time_limit_s(waiting: Any) -> float:
    """Return how long a task waits for an answer; before Airflow 3.3 its trigger knows only until when."""
    if RESUMES_TASKS_WITH_ANSWERS:
        return float(waiting.timeout.total_seconds())
    return float(round((waiting.trigger.timeout_datetime - datetime.now(UTC)).total_seconds(), -2))


def answer_event(option: str | None = "Approve", user: str = "grace") -> dict[str, Any]:
    """Return the event with which Airflow resumes approve; no option is a time-out."""
    if not option:
        return {"error": "too late", "error_type": "timeout"}
    return {
        "chosen_options": [option],
        "params_input": {},
        "responded_at": datetime(2030, 1, 1, tzinfo=UTC),
        "responded_by_user": {"id": user, "name": user},
        "timedout": False,
    }
