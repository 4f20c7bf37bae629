"""The benchmark of the orchestration compares a sync with a DAG of as many empty tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.orchestration import SEQUENTIAL_TASKS
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.migration.task_steps import expected_skips
from kafka_migration.orchestration import factory

pytestmark = pytest.mark.airflow


def test_empty_dag_has_as_many_tasks_as_a_sync_runs_in_sequence(tmp_path: Path, migration_text: str) -> None:
    """Regression: it had one more, so the overhead of a sync seemed smaller than it was."""
    (tmp_path / "shop.yaml").write_text(migration_text)
    dag = factory.migration_dags(tmp_path)["kafka_migration__shop"]
    longest: dict[str, int] = {}
    for task in dag.topological_sort():
        if task.task_id not in expected_skips(Mode.SYNC):
            longest[task.task_id] = 1 + max((longest.get(before, 0) for before in task.upstream_task_ids), default=0)

    assert SEQUENTIAL_TASKS == longest["finish"] == len(longest)
