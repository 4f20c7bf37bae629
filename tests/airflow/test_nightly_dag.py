"""Rules of the DAG that runs by the schedule."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from airflow.sdk import DAG, CronDataIntervalTimetable

from kafka_migration.orchestration import factory
from kafka_migration.steps.request import RunRequest

pytestmark = pytest.mark.airflow

SECTION = """\
nightly:
  cron: "0 1 * * *"
  timezone: Europe/Berlin
  until: "05:30"
"""
TASKS = [
    "preflight",
    "reserve",
    "plan",
    "create_topics",
    "start_mirror",
    "watch_lag",
    "stop_mirror",
    "validate_topics",
    "judge",
    "finish",
]


def dags(folder: Path, text: str, name: str = "shop") -> dict[str, DAG]:
    (folder / f"{name}.yaml").write_text(text)
    return factory.migration_dags(folder)


@pytest.fixture
def dag(tmp_path: Path, migration_text: str) -> DAG:
    """The nightly DAG of a file with a section `nightly`."""
    return dags(tmp_path, migration_text + SECTION)["kafka_nightly_sync__shop"]


def test_schedule_is_the_files(dag: DAG) -> None:
    """Cron and time zone are those of the migration file, and each run has the interval that ends with its tick."""
    assert isinstance(dag.timetable, CronDataIntervalTimetable)
    assert ("0 1 * * *", "Europe/Berlin") == (dag.timetable.expression, str(dag.timetable.timezone))


def test_nothing_blocks_a_backfill_and_nothing_is_caught_up(dag: DAG) -> None:
    """No start date, which might lie in a backfill's future; missed nights are one run; one run at a time."""
    assert (None, False, 1) == (dag.start_date, dag.catchup, dag.max_active_runs)
    assert dag.is_paused_upon_creation
    assert all(task.start_date is None for task in dag.tasks)


def test_nobody_triggers_it_by_hand(dag: DAG) -> None:
    """Its runs belong to an interval, so Airflow refuses any other."""
    assert {"scheduled", "backfill"} == {str(run_type.value) for run_type in dag.allowed_run_types or ()}


def test_tasks_end_with_the_verdict(dag: DAG) -> None:
    """A night mirrors, stops and validates; it has no task that could touch a consumer group."""
    assert TASKS == [task.task_id for task in dag.topological_sort()]


def test_shape_is_that_of_the_manual_dag(dag: DAG) -> None:
    """reserve is the setup of stop_mirror; finish the only leaf, below all but reserve; no time limit on the run."""
    reserve, stop, finish = (dag.get_task(name) for name in ("reserve", "stop_mirror", "finish"))

    assert (True, True, False) == (reserve.is_setup, stop.is_teardown, stop.on_failure_fail_dagrun)
    assert (True, True) == (finish.is_teardown, finish.on_failure_fail_dagrun)
    assert ["finish"] == [task.task_id for task in dag.leaves]
    assert set(TASKS) - {"reserve", "finish"} == finish.upstream_task_ids
    assert {"watch_lag", "stop_mirror"} == dag.get_task("validate_topics").upstream_task_ids
    assert dag.dagrun_timeout is None


def test_form_has_the_fields_of_a_backfill(dag: DAG) -> None:
    """The conf of a backfill may say two things, and says nothing by default."""
    assert {"mirror_outside_window": False, "note": None} == {name: dag.params[name] for name in dag.params}
    assert set(RunRequest.NIGHTLY_FIELDS) == set(dag.params)


def test_doc_tells_when_it_runs_and_how_to_backfill(dag: DAG) -> None:
    """Whoever looks at the DAG finds its times and the command, with what surprises people."""
    for text in (
        "at `0 1 * * *` (Europe/Berlin), until `05:30`",
        "airflow backfill create --dag-id kafka_nightly_sync__shop",
        "`--dry-run`",
        "paused",
        "Each waits at most 4h00m (`nightly.wait_limit`)",
        "`--reprocess-behavior completed`",
    ):
        assert text in (dag.doc_md or "")


def test_without_the_section_nothing_is_scheduled(tmp_path: Path, migration_text: str) -> None:
    """The DAG is there all the same, says what is missing, and runs nothing by itself."""
    dag = dags(tmp_path, migration_text)["kafka_nightly_sync__shop"]

    assert (None, None) == (dag.schedule, dag.allowed_run_types)
    assert "has no section `nightly`" in (dag.doc_md or "")
    assert TASKS == [task.task_id for task in dag.topological_sort()]


def test_files_with_a_common_topic_say_so(tmp_path: Path, migration_text: str) -> None:
    """Both DAGs of both files are tagged invalid, name the other file, and keep their tasks and their schedule."""
    dags(tmp_path, migration_text + SECTION)
    other = migration_text.replace("name: shop", "name: other").replace("[orders, audit]", "[audit]")

    found = dags(tmp_path, other, name="other")

    for name, its_other in (("shop", "other"), ("other", "shop")):
        for kind in ("kafka_migration", "kafka_nightly_sync"):
            assert "invalid" in found[f"{kind}__{name}"].tags
            assert f"MIGRATIONS_OVERLAP · {name}.yaml" in (found[f"{kind}__{name}"].doc_md or "")
            assert f"also in {its_other}.yaml" in (found[f"{kind}__{name}"].doc_md or "")
    assert isinstance(found["kafka_nightly_sync__shop"].timetable, CronDataIntervalTimetable)


def test_retries_of_the_stop_are_the_most(dag: DAG) -> None:
    """What ends something outside of Airflow is tried more often than what begins it."""
    assert dag.get_task("stop_mirror").retries > dag.get_task("start_mirror").retries
    assert timedelta(0) < dag.get_task("stop_mirror").retry_delay
