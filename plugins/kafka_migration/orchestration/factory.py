"""The DAGs of a migration file, built by one factory that never raises.

An error while one file is read would take every other migration's DAGs away in mid-run, stop tasks included.
So a file that cannot be read still gives its DAGs, tagged `invalid`, with the findings where people look; its
first task refuses with all of them.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, BaseOperator, CronDataIntervalTimetable, TaskGroup, TriggerRule, chain, get_parsing_context
from airflow.utils.types import DagRunType

from kafka_migration.airflow_adapters import settings
from kafka_migration.core.findings.errors import FindingsError
from kafka_migration.core.migration.overlap import overlap_findings
from kafka_migration.core.migration.settings import (
    NIGHTLY_DAG_PREFIX,
    ROLLBACK_DAG_PREFIX,
    HookName,
    Migration,
)
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.orchestration.alerting import deadlines
from kafka_migration.orchestration.dag_docs import manual_doc, nightly_doc, page_of, rollback_doc
from kafka_migration.orchestration.forms import manual_form, nightly_form, rollback_form
from kafka_migration.orchestration.operators.approve import ApproveOperator
from kafka_migration.orchestration.operators.approve_rollback import ApproveRollbackOperator
from kafka_migration.orchestration.operators.confirm_cutover import ConfirmCutoverOperator
from kafka_migration.orchestration.operators.create_topics import CreateTopicsOperator
from kafka_migration.orchestration.operators.finish import FinishOperator
from kafka_migration.orchestration.operators.hook import HookOperator
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan import PlanOperator
from kafka_migration.orchestration.operators.plan_offsets import PlanOffsetsOperator
from kafka_migration.orchestration.operators.plan_rollback import PlanRollbackOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.reserve import ReserveOperator
from kafka_migration.orchestration.operators.restore_settings import RestoreSettingsOperator
from kafka_migration.orchestration.operators.roll_back import RollBackOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.stop_mirror import StopMirrorOperator
from kafka_migration.orchestration.operators.sync_offsets import SyncOffsetsOperator
from kafka_migration.orchestration.operators.translate_back import TranslateBackOperator
from kafka_migration.orchestration.operators.translate_offsets import TranslateOffsetsOperator
from kafka_migration.orchestration.operators.validate_topics import ValidateTopicsOperator
from kafka_migration.orchestration.sensors.drain_groups import DrainGroupsSensor
from kafka_migration.orchestration.sensors.watch_lag import MirrorLagSensor

log = logging.getLogger(__name__)

# Airflow takes DAG ids of less than 250 characters.
_LONGEST_NAME = 200
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_.-]")
# Transport errors pass by themselves; refusals never retry whatever this says.
RETRIES: dict[str, Any] = {"retries": 2, "retry_delay": timedelta(seconds=15)}
# Stopping is worth more tries than anything else.
STOP_RETRIES: dict[str, Any] = {"retries": 5, "retry_delay": timedelta(seconds=15)}
# Of what may be skipped before a task, something must have succeeded, so that a skipped line stays skipped.
_NONE_FAILED = TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS
_NIGHTLY_RUN_TYPES = (DagRunType.SCHEDULED, DagRunType.BACKFILL_JOB)


def migration_dags(folder: Path | None = None) -> dict[str, DAG]:
    """Return the DAGs of every `*.yaml` file in the folder, by DAG id.

    In a task's process only the DAG that the task belongs to is built, also when its file has been taken away since:
    its tasks read the run's frozen copy, and the teardowns must run.
    """
    wanted = get_parsing_context().dag_id
    root = folder or settings.migrations_folder()
    if not os.access(root, os.R_OK | os.X_OK):
        # Not to be told from an empty folder otherwise.
        log.warning("The folder of migration files cannot be read: %s", root)
    paths = sorted(root.glob("*.yaml")) if wanted is None else [_path_of(root, wanted)]
    files = {path: _read(path) for path in paths if wanted is None or wanted in _makers(path)}
    known = [migration for migration, _ in files.values() if migration]
    return {
        dag_id: make(dag_id, path, migration, problem or _overlaps(migration, known))
        for path, (migration, problem) in files.items()
        for dag_id, make in _makers(path).items()
        if wanted in {None, dag_id}
    }


def _path_of(root: Path, dag_id: str) -> Path:
    """Return the file that a DAG belongs to; it need not be there."""
    there = (path for path in sorted(root.glob("*.yaml")) if dag_id in _makers(path))
    return next(there, root / f"{dag_id.rpartition('__')[2]}.yaml")


def _makers(path: Path) -> dict[str, Callable[[str, Path, Migration | None, str], DAG]]:
    # A file with a name that no migration may have still gives its DAGs, which say so.
    name = _NOT_IN_AN_ID.sub("_", path.stem)[:_LONGEST_NAME]
    return {
        f"kafka_migration__{name}": migration_dag,
        f"{NIGHTLY_DAG_PREFIX}{name}": nightly_dag,
        f"{ROLLBACK_DAG_PREFIX}{name}": rollback_dag,
    }


def _overlaps(migration: Migration | None, known: list[Migration]) -> str:
    """Return what other files have in common with this one, one finding per line."""
    others = (other for other in known if other is not migration)
    return "\n".join(str(finding) for finding in overlap_findings(migration, others)) if migration else ""


def migration_dag(dag_id: str, path: Path, migration: Migration | None, problem: str) -> DAG:
    """Return the manual DAG of one migration file; `problem` says what is wrong with it, one finding per line."""
    with DAG(
        dag_id,
        schedule=None,
        catchup=False,
        max_active_runs=1,
        deadline=deadlines(path.stem, migration),
        tags=_tags(path, problem),
        doc_md=page_of(manual_doc, path.stem, migration, problem),
        params=manual_form(migration),
        default_args=RETRIES,
    ) as dag:
        copying = _copying_tasks(path.stem)
        moving = _moving_tasks(path.stem)
        copying[-1] >> moving[0]
        _finish(path.stem, [*copying, _stopping_task(path.stem, copying), *moving])
    return dag


def nightly_dag(dag_id: str, path: Path, migration: Migration | None, problem: str) -> DAG:
    """Return the DAG of one migration file that runs by its schedule, and by `airflow backfill`."""
    nightly = migration.nightly if migration else None
    with DAG(
        dag_id,
        # No start date: one in the future would block a backfill.
        schedule=CronDataIntervalTimetable(nightly.cron, timezone=nightly.timezone) if nightly else None,
        catchup=False,
        max_active_runs=1,
        deadline=deadlines(path.stem, migration),
        # Whatever Airflow is set to: nothing runs by itself before a person has said so.
        is_paused_upon_creation=True,
        # Airflow wants manual runs allowed where there is no schedule; preflight refuses them.
        allowed_run_types=_NIGHTLY_RUN_TYPES if nightly else None,
        tags=[*_tags(path, problem), "nightly"],
        doc_md=page_of(nightly_doc, path.stem, migration, problem),
        params=nightly_form(),
        default_args=RETRIES,
    ) as dag:
        _finish(path.stem, _copying_tasks(path.stem))
    return dag


def rollback_dag(dag_id: str, path: Path, migration: Migration | None, problem: str) -> DAG:
    """Return the DAG of one migration file that takes cutovers back; it runs by hand only."""
    with DAG(
        dag_id,
        schedule=None,
        catchup=False,
        max_active_runs=1,
        deadline=deadlines(path.stem, migration),
        tags=[*_tags(path, problem), "rollback"],
        doc_md=page_of(rollback_doc, path.stem, migration, problem),
        params=rollback_form(migration),
        default_args=RETRIES,
    ) as dag:
        _finish(path.stem, _rollback_tasks(path.stem))
    return dag


def _rollback_tasks(name: str) -> list[BaseOperator]:
    """Lay out the tasks that take cutovers back, in order."""
    tasks = [
        PreflightOperator(task_id="preflight", migration=name),
        ReserveOperator(task_id="reserve", migration=name),
        TranslateBackOperator(task_id="translate_back", migration=name),
        PlanRollbackOperator(task_id="plan_rollback", migration=name),
        ApproveRollbackOperator(task_id="approve", migration=name),
        RollBackOperator(task_id="roll_back", migration=name),
        RestoreSettingsOperator(task_id="restore_settings", migration=name),
    ]
    chain(*tasks)
    return tasks


def _copying_tasks(name: str) -> list[BaseOperator]:
    """Lay out the tasks that make a proved copy, in order; see ADR 0003 for the shape. `reserve` is not returned."""
    with _group("prepare", "Check everything, reserve the migration, plan the run, create the topics."):
        preflight = PreflightOperator(task_id="preflight", migration=name)
        reserve = ReserveOperator(task_id="reserve", migration=name).as_setup()
        plan = PlanOperator(task_id="plan", migration=name)
        create_topics = CreateTopicsOperator(task_id="create_topics", migration=name)
    with _group("mirror", "Start MirrorMaker, watch its lag, stop it."):
        start_mirror = StartMirrorOperator(task_id="start_mirror", migration=name)
        watch_lag = MirrorLagSensor(task_id="watch_lag", migration=name)
        stop_mirror = StopMirrorOperator(task_id="stop_mirror", migration=name, **STOP_RETRIES)
    with _group("validate", "Compare source and target, and judge the copy."):
        # Beside the watch there may be `stop_producers`, which skips itself where no producer is to be stopped.
        validate_topics = ValidateTopicsOperator(task_id="validate_topics", migration=name, trigger_rule=_NONE_FAILED)
        judge = JudgeOperator(task_id="judge", migration=name)

    preflight >> reserve >> plan >> create_topics >> start_mirror >> watch_lag >> stop_mirror
    stop_mirror.as_teardown(setups=reserve)
    [watch_lag, stop_mirror] >> validate_topics >> judge
    return [preflight, plan, create_topics, start_mirror, watch_lag, stop_mirror, validate_topics, judge]


def _moving_tasks(name: str) -> list[BaseOperator]:
    """Lay out the tasks that move the consumer groups, in order; see ADR 0004 for the modes."""
    with _group("move_consumers", "Plan, approve and write the offsets of the consumer groups; confirm the cutover."):
        planning = [
            DrainGroupsSensor(task_id="drain_groups", migration=name),
            TranslateOffsetsOperator(task_id="translate_offsets", migration=name),
            PlanOffsetsOperator(task_id="plan_offsets", migration=name),
            ApproveOperator(task_id="approve", migration=name),
            SyncOffsetsOperator(task_id="sync_offsets", migration=name),
        ]
        confirm = ConfirmCutoverOperator(task_id="confirm_cutover", migration=name)
        after = HookOperator(task_id="after_cutover", migration=name, hook=HookName.AFTER_CUTOVER)
        restore = RestoreSettingsOperator(task_id="restore_settings", migration=name, trigger_rule=_NONE_FAILED)
    chain(*planning, confirm, after, restore)
    # A hook that the file does not name is skipped, and must not skip what follows it.
    confirm >> restore
    return [*planning, confirm, after, restore]


def _stopping_task(name: str, copying: list[BaseOperator]) -> BaseOperator:
    """Lay out the call to stop the producers, beside the watch that tells when; nothing is validated if it failed."""
    by_id = {task.task_id: task for task in copying}
    with by_id["watch_lag"].task_group:
        stop_producers = HookOperator(task_id="stop_producers", migration=name, hook=HookName.STOP_PRODUCERS)
    by_id["start_mirror"] >> stop_producers >> by_id["validate_topics"]
    return stop_producers


def _group(group_id: str, tooltip: str) -> TaskGroup:
    """Return a group that the graph and the grid can fold; its tasks keep their ids."""
    return TaskGroup(group_id, prefix_group_id=False, tooltip=tooltip)


def _finish(name: str, tasks: list[BaseOperator]) -> None:
    """Lay out the last task below all others but `reserve`.

    With an arrow from it, `reserve` would become its setup, and a refusal in `preflight` would leave it unrun.
    """
    finish = FinishOperator(task_id="finish", migration=name, **STOP_RETRIES)
    tasks >> finish
    finish.as_teardown(on_failure_fail_dagrun=True)


def _tags(path: Path, problem: str) -> list[str]:
    # Airflow takes no longer tag; a name that long is invalid, and the DAG is there to say so.
    return ["kafka-migration", path.stem[:100], *(["invalid"] if problem else [])]


def _read(path: Path) -> tuple[Migration | None, str]:
    try:
        return load_migration_file(path)[1], ""
    except FindingsError as error:
        return None, str(error)
    except Exception as error:
        # Whatever it is, it must not take the other migrations' DAGs away.
        return None, f"{type(error).__name__}: {error}"
