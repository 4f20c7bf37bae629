"""Builds the DAGs of each migration file and never raises.

An error in one file would remove the DAGs of all other migrations during their runs, including the tasks that stop
MirrorMaker. So an invalid file still gets its DAGs. They are tagged `invalid`, show the findings on their page, and
fail in the first task with all findings.
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
from airflow.sdk.definitions.param import ParamsDict
from airflow.utils.types import DagRunType

from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.core.findings.errors import FindingsError
from kafka_migration.core.migration.settings import HookName, Migration
from kafka_migration.core.run.overlap import overlap_findings
from kafka_migration.core.run.run_identity import NIGHTLY_DAG_PREFIX, ROLLBACK_DAG_PREFIX
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.orchestration.cutover.approve import ApproveOperator
from kafka_migration.orchestration.cutover.approve_rollback import ApproveRollbackOperator
from kafka_migration.orchestration.cutover.confirm_cutover import ConfirmCutoverOperator
from kafka_migration.orchestration.cutover.hook import HookOperator
from kafka_migration.orchestration.cutover.plan_offsets import PlanOffsetsOperator
from kafka_migration.orchestration.cutover.plan_rollback import PlanRollbackOperator
from kafka_migration.orchestration.cutover.roll_back import RollBackOperator
from kafka_migration.orchestration.cutover.sync_offsets import SyncOffsetsOperator
from kafka_migration.orchestration.cutover.translate_back import TranslateBackOperator
from kafka_migration.orchestration.cutover.translate_offsets import TranslateOffsetsOperator
from kafka_migration.orchestration.dag.dag_docs import manual_doc, nightly_doc, page_of, rollback_doc
from kafka_migration.orchestration.dag.forms import manual_form, nightly_form, rollback_form
from kafka_migration.orchestration.operators.create_topics import CreateTopicsOperator
from kafka_migration.orchestration.operators.finish import FinishOperator
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan import PlanOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.reserve import ReserveOperator
from kafka_migration.orchestration.operators.restore_settings import RestoreSettingsOperator
from kafka_migration.orchestration.operators.start_mirror import StartMirrorOperator
from kafka_migration.orchestration.operators.stop_mirror import StopMirrorOperator
from kafka_migration.orchestration.operators.validate_topics import ValidateTopicsOperator
from kafka_migration.orchestration.sensors.drain_groups import DrainGroupsSensor
from kafka_migration.orchestration.sensors.watch_lag import MirrorLagSensor
from kafka_migration.orchestration.task.alerting import deadlines

log = logging.getLogger(__name__)

# Airflow requires DAG ids shorter than 250 characters.
_LONGEST_NAME = 200
_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_.-]")
# For transient transport errors. Refusals are never retried.
RETRIES: dict[str, Any] = {"retries": 2, "retry_delay": timedelta(seconds=15)}
# Stopping MirrorMaker gets more tries than any other task.
STOP_RETRIES: dict[str, Any] = {"retries": 5, "retry_delay": timedelta(seconds=15)}
# At least one upstream task must have succeeded, so that a fully skipped branch stays skipped.
_NONE_FAILED = TriggerRule.NONE_FAILED_MIN_ONE_SUCCESS
_NIGHTLY_RUN_TYPES = (DagRunType.SCHEDULED, DagRunType.BACKFILL_JOB)


def built_dags(folder: Path | None = None) -> dict[str, DAG]:
    """Return the DAGs of every `*.yaml` file in the folder, by DAG id.

    A task's process builds only its own DAG, even if the file has been removed: the tasks read the run's frozen copy,
    and the teardowns must run.
    """
    wanted = get_parsing_context().dag_id
    root = folder or settings.migrations_folder()
    if not os.access(root, os.R_OK | os.X_OK):
        # Otherwise it would look like an empty folder.
        log.warning("The folder of migration files cannot be read: %s", root)
    paths = sorted(root.glob("*.yaml")) if wanted is None else [_path_of(root, wanted)]
    files = {path: _read(path) for path in paths if wanted is None or wanted in _makers(path)}
    known = [migration for migration, _ in files.values() if migration]
    judged = {path: (found, problem or _overlaps(found, known)) for path, (found, problem) in files.items()}
    return {
        dag_id: make(dag_id, path, migration, problem)
        for path, (migration, problem) in judged.items()
        for dag_id, make in _makers(path).items()
        if wanted in {None, dag_id}
    }


def _path_of(root: Path, dag_id: str) -> Path:
    """Return the migration file of a DAG; the file may no longer exist."""
    there = (path for path in sorted(root.glob("*.yaml")) if dag_id in _makers(path))
    return next(there, root / f"{dag_id.rpartition('__')[2]}.yaml")


def _makers(path: Path) -> dict[str, Callable[[str, Path, Migration | None, str], DAG]]:
    # A file with an invalid name still gets its DAGs, which report the problem.
    name = _NOT_IN_AN_ID.sub("_", path.stem)[:_LONGEST_NAME]
    return {
        f"kafka_migration__{name}": migration_dag,
        f"{NIGHTLY_DAG_PREFIX}{name}": nightly_dag,
        f"{ROLLBACK_DAG_PREFIX}{name}": rollback_dag,
    }


def _overlaps(migration: Migration | None, known: list[Migration]) -> str:
    """Return the overlaps with other migration files, one finding per line."""
    others = (other for other in known if other is not migration)
    return "\n".join(str(finding) for finding in overlap_findings(migration, others)) if migration else ""


def migration_dag(dag_id: str, path: Path, migration: Migration | None, problem: str) -> DAG:
    """Return the manual DAG of one migration file; `problem` holds the findings about the file, one per line."""
    with DAG(
        dag_id,
        schedule=None,
        catchup=False,
        max_active_runs=1,
        deadline=deadlines(path.stem, migration),
        tags=_tags(path, problem),
        doc_md=page_of(manual_doc, path.stem, migration, problem),
        default_args=RETRIES,
    ) as dag:
        copying = _copying_tasks(path.stem)
        moving = _moving_tasks(path.stem)
        copying[-1] >> moving[0]
        _finish(path.stem, [*copying, _stopping_task(path.stem, copying), *moving])
    _set_form(dag, manual_form(migration))
    return dag


def nightly_dag(dag_id: str, path: Path, migration: Migration | None, problem: str) -> DAG:
    """Return the nightly DAG of one migration file; its runs come from the schedule or from `airflow backfill`."""
    nightly = migration.nightly if migration else None
    with DAG(
        dag_id,
        # No start date: one in the future would block a backfill.
        schedule=CronDataIntervalTimetable(nightly.cron, timezone=nightly.timezone) if nightly else None,
        catchup=False,
        max_active_runs=1,
        deadline=deadlines(path.stem, migration),
        # Overrides Airflow's default: nothing is scheduled before a user unpauses the DAG.
        is_paused_upon_creation=True,
        # Airflow requires manual runs to be allowed if there is no schedule; preflight refuses them.
        allowed_run_types=_NIGHTLY_RUN_TYPES if nightly else None,
        tags=[*_tags(path, problem), "nightly"],
        doc_md=page_of(nightly_doc, path.stem, migration, problem),
        default_args=RETRIES,
    ) as dag:
        _finish(path.stem, _copying_tasks(path.stem))
    _set_form(dag, nightly_form())
    return dag


def rollback_dag(dag_id: str, path: Path, migration: Migration | None, problem: str) -> DAG:
    """Return the rollback DAG of one migration file, which is only triggered manually."""
    with DAG(
        dag_id,
        schedule=None,
        catchup=False,
        max_active_runs=1,
        deadline=deadlines(path.stem, migration),
        tags=[*_tags(path, problem), "rollback"],
        doc_md=page_of(rollback_doc, path.stem, migration, problem),
        default_args=RETRIES,
    ) as dag:
        _finish(path.stem, _rollback_tasks(path.stem))
    _set_form(dag, rollback_form(migration))
    return dag


def _set_form(dag: DAG, form: dict[str, Any]) -> None:
    """Give a DAG its form after its tasks: Airflow copies the form of a DAG into each task that it creates later."""
    dag.params = ParamsDict(form)


def _rollback_tasks(name: str) -> list[BaseOperator]:
    """Create the tasks that revert cutovers, in order."""
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
    """Create the tasks that make a proved copy, in order (see ADR 0003). `reserve` is not returned."""
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
        # `stop_producers` may run in parallel with the watch; it is skipped if no producer has to stop.
        validate_topics = ValidateTopicsOperator(task_id="validate_topics", migration=name, trigger_rule=_NONE_FAILED)
        judge = JudgeOperator(task_id="judge", migration=name)

    preflight >> reserve >> plan >> create_topics >> start_mirror >> watch_lag >> stop_mirror
    stop_mirror.as_teardown(setups=reserve)
    [watch_lag, stop_mirror] >> validate_topics >> judge
    return [preflight, plan, create_topics, start_mirror, watch_lag, stop_mirror, validate_topics, judge]


def _moving_tasks(name: str) -> list[BaseOperator]:
    """Create the tasks that move the consumer groups, in order (see ADR 0004 for the modes)."""
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
    # A hook that the file does not configure is skipped; its downstream tasks must still run.
    confirm >> restore
    return [*planning, confirm, after, restore]


def _stopping_task(name: str, copying: list[BaseOperator]) -> BaseOperator:
    """Create `stop_producers`, in parallel with the watch that triggers it. If it fails, nothing is validated."""
    by_id = {task.task_id: task for task in copying}
    with by_id["watch_lag"].task_group:
        stop_producers = HookOperator(task_id="stop_producers", migration=name, hook=HookName.STOP_PRODUCERS)
    by_id["start_mirror"] >> stop_producers >> by_id["validate_topics"]
    return stop_producers


def _group(group_id: str, tooltip: str) -> TaskGroup:
    """Return a group that the graph and the grid can fold; its tasks keep their ids."""
    return TaskGroup(group_id, prefix_group_id=False, tooltip=tooltip)


def _finish(name: str, tasks: list[BaseOperator]) -> None:
    """Create `finish` downstream of all tasks except `reserve`.

    Downstream of `reserve`, Airflow would treat `reserve` as its setup and skip `finish` when `preflight` refuses.
    """
    finish = FinishOperator(task_id="finish", migration=name, **STOP_RETRIES)
    tasks >> finish
    finish.as_teardown(on_failure_fail_dagrun=True)


def _tags(path: Path, problem: str) -> list[str]:
    # Airflow's limit for a tag. A longer migration name is invalid, and the DAG reports it.
    return ["kafka-migration", path.stem[:100], *(["invalid"] if problem else [])]


def _read(path: Path) -> tuple[Migration | None, str]:
    try:
        return load_migration_file(path)[1], ""
    except FindingsError as error:
        return None, str(error)
    except Exception as error:
        # No error may remove the DAGs of other migrations.
        return None, f"{type(error).__name__}: {error}"
