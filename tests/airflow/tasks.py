"""The operators and sensors of the tasks, by task id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.orchestration.dag.building import OPERATORS, ROLLBACK_OPERATORS

TASKS: Mapping[str, Callable[..., Any]] = {
    **{task.value: make for task, make in OPERATORS.items()},
    "approve_rollback": ROLLBACK_OPERATORS[TaskId.APPROVE],
}
