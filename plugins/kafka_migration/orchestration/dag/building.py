"""Builds the DAGs of each migration file and never raises.

An error in one file would remove the DAGs of all other migrations during their runs, including the tasks that stop
MirrorMaker. So an invalid file still gets its DAGs. They are tagged `invalid`, show the findings on their page, and
fail in the first task with all findings.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from datetime import timedelta
from functools import partial
from itertools import groupby
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
from kafka_migration.core.run.task_steps import DagKind, RunPhase, TaskId, TaskStep, steps_of
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.orchestration.cutover.approve import ApproveOperator
from kafka_migration.orchestration.cutover.hook import HookOperator
from kafka_migration.orchestration.cutover.moving import (
    ConfirmCutoverOperator,
    PlanOffsetsOperator,
    SyncOffsetsOperator,
    TranslateOffsetsOperator,
)
from kafka_migration.orchestration.cutover.rolling_back import (
    ApproveRollbackOperator,
    PlanRollbackOperator,
    RollBackOperator,
    TranslateBackOperator,
)
from kafka_migration.orchestration.dag.forms import (
    in_the_list,
    manual_doc,
    manual_form,
    nightly_doc,
    nightly_form,
    page_of,
    rollback_doc,
    rollback_form,
)
from kafka_migration.orchestration.operators.copying import (
    CreateTopicsOperator,
    JudgeOperator,
    PlanOperator,
    PreflightOperator,
    ReserveOperator,
    RestoreSettingsOperator,
    StartMirrorOperator,
    StopMirrorOperator,
    ValidateTopicsOperator,
)
from kafka_migration.orchestration.operators.finish import FinishOperator
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

# What makes each task of the table of steps.
OPERATORS: Mapping[TaskId, Callable[..., BaseOperator]] = {
    TaskId.PREFLIGHT: PreflightOperator,
    TaskId.RESERVE: ReserveOperator,
    TaskId.PLAN: PlanOperator,
    TaskId.CREATE_TOPICS: CreateTopicsOperator,
    TaskId.START_MIRROR: StartMirrorOperator,
    TaskId.WATCH_LAG: MirrorLagSensor,
    TaskId.STOP_MIRROR: StopMirrorOperator,
    TaskId.STOP_PRODUCERS: partial(HookOperator, hook=HookName.STOP_PRODUCERS),
    TaskId.VALIDATE_TOPICS: ValidateTopicsOperator,
    TaskId.JUDGE: JudgeOperator,
    TaskId.DRAIN_GROUPS: DrainGroupsSensor,
    TaskId.TRANSLATE_OFFSETS: TranslateOffsetsOperator,
    TaskId.PLAN_OFFSETS: PlanOffsetsOperator,
    TaskId.TRANSLATE_BACK: TranslateBackOperator,
    TaskId.PLAN_ROLLBACK: PlanRollbackOperator,
    TaskId.APPROVE: ApproveOperator,
    TaskId.SYNC_OFFSETS: SyncOffsetsOperator,
    TaskId.ROLL_BACK: RollBackOperator,
    TaskId.CONFIRM_CUTOVER: ConfirmCutoverOperator,
    TaskId.AFTER_CUTOVER: partial(HookOperator, hook=HookName.AFTER_CUTOVER),
    TaskId.RESTORE_SETTINGS: RestoreSettingsOperator,
    TaskId.FINISH: FinishOperator,
}
ROLLBACK_OPERATORS = {**OPERATORS, TaskId.APPROVE: ApproveRollbackOperator}
_PAGES = {DagKind.MANUAL: manual_doc, DagKind.NIGHTLY: nightly_doc, DagKind.ROLLBACK: rollback_doc}
_FORMS: Mapping[DagKind, Callable[[Migration | None], dict[str, Any]]] = {
    DagKind.MANUAL: manual_form,
    DagKind.NIGHTLY: lambda _: nightly_form(),
    DagKind.ROLLBACK: rollback_form,
}
# The folders of the graph: the tasks of some phases, and what they do.
_FOLDERS = {
    RunPhase.PREPARE: "prepare",
    RunPhase.COPY: "mirror",
    RunPhase.STOP: "mirror",
    RunPhase.VALIDATE: "validate",
    RunPhase.PLAN_GROUPS: "move_consumers",
    RunPhase.APPROVAL: "move_consumers",
    RunPhase.WRITE_GROUPS: "move_consumers",
}
_TOOLTIPS = {
    "prepare": "Check everything, reserve the migration, plan the run, create the topics.",
    "mirror": "Start MirrorMaker, watch its lag, stop it.",
    "validate": "Compare source and target, and judge the copy.",
    "move_consumers": "Plan, approve and write the offsets of the consumer groups; confirm the cutover.",
}
_MORE: Mapping[TaskId, dict[str, Any]] = {
    TaskId.STOP_MIRROR: STOP_RETRIES,
    TaskId.FINISH: STOP_RETRIES,
    # Follows `stop_producers`, which is skipped if no producer has to stop.
    TaskId.VALIDATE_TOPICS: {"trigger_rule": _NONE_FAILED},
}


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
    files = {path: _read(path) for path in paths if wanted is None or wanted in _dags_of(path)}
    known = [migration for migration, _ in files.values() if migration]
    judged = {path: (found, problem or _overlaps(found, known)) for path, (found, problem) in files.items()}
    return {
        dag_id: _dag(kind, dag_id, path, migration, problem)
        for path, (migration, problem) in judged.items()
        for dag_id, kind in _dags_of(path).items()
        if wanted in {None, dag_id}
    }


def _path_of(root: Path, dag_id: str) -> Path:
    """Return the migration file of a DAG; the file may no longer exist."""
    there = (path for path in sorted(root.glob("*.yaml")) if dag_id in _dags_of(path))
    return next(there, root / f"{dag_id.rpartition('__')[2]}.yaml")


def _dags_of(path: Path) -> dict[str, DagKind]:
    """Return the DAGs of a migration file by their ids."""
    # A file with an invalid name still gets its DAGs, which report the problem.
    name = _NOT_IN_AN_ID.sub("_", path.stem)[:_LONGEST_NAME]
    return {
        f"kafka_migration__{name}": DagKind.MANUAL,
        f"{NIGHTLY_DAG_PREFIX}{name}": DagKind.NIGHTLY,
        f"{ROLLBACK_DAG_PREFIX}{name}": DagKind.ROLLBACK,
    }


def _overlaps(migration: Migration | None, known: list[Migration]) -> str:
    """Return the overlaps with other migration files, one finding per line."""
    others = (other for other in known if other is not migration)
    return "\n".join(str(finding) for finding in overlap_findings(migration, others)) if migration else ""


def _dag(kind: DagKind, dag_id: str, path: Path, migration: Migration | None, problem: str) -> DAG:
    """Return one DAG of a migration file; `problem` holds the findings about the file, one per line."""
    schedule, more = _schedule(migration) if kind is DagKind.NIGHTLY else (None, {})
    with DAG(
        dag_id,
        **in_the_list(kind, path.stem),
        schedule=schedule,
        catchup=False,
        max_active_runs=1,
        deadline=deadlines(path.stem, migration),
        tags=[*_tags(path, problem), *([] if kind is DagKind.MANUAL else [kind.name.lower()])],
        doc_md=page_of(_PAGES[kind], path.stem, migration, problem),
        default_args=RETRIES,
        **more,
    ) as dag:
        _tasks(path.stem, kind)
    # After its tasks: Airflow copies the form of a DAG into each task that it creates later.
    dag.params = ParamsDict(_FORMS[kind](migration))
    return dag


def _schedule(migration: Migration | None) -> tuple[CronDataIntervalTimetable | None, dict[str, Any]]:
    """Return the schedule of the nightly DAG, whose runs come from it or from `airflow backfill`, and what goes along.

    Without a section `nightly` there is none.
    """
    nightly = migration.nightly if migration else None
    # No start date: one in the future would block a backfill.
    schedule = CronDataIntervalTimetable(nightly.cron, timezone=nightly.timezone) if nightly else None
    # Overrides Airflow's default: nothing is scheduled before a user unpauses the DAG. Airflow requires manual runs to
    # be allowed if there is no schedule; preflight refuses them.
    return schedule, {"is_paused_upon_creation": True, "allowed_run_types": _NIGHTLY_RUN_TYPES if nightly else None}


def _tasks(name: str, kind: DagKind) -> None:
    """Create the tasks of a DAG in the order of the table of steps, each in its folder of the graph."""
    made: dict[TaskId, BaseOperator] = {}
    operators = ROLLBACK_OPERATORS if kind is DagKind.ROLLBACK else OPERATORS
    for folder, steps in groupby(steps_of(kind), partial(_folder, kind)):
        with _group(folder) if folder else nullcontext():
            for task in (step.task for step in steps):
                made[task] = operators[task](task_id=task.value, migration=name, **_MORE.get(task, {}))
    _connect(made)


def _folder(kind: DagKind, step: TaskStep) -> str:
    # The rollback DAG is a short line without folders.
    return "" if step.phase is None or kind is DagKind.ROLLBACK else _FOLDERS[step.phase]


def _connect(made: dict[TaskId, BaseOperator]) -> None:
    """Connect the tasks: a line in the order of the table, and what differs from it (see ADR 0003).

    `stop_producers` may run in parallel with the watch, which triggers it. If it fails, nothing is validated. A hook
    that the file does not configure is skipped; the tasks after it must still run.
    """
    line = [task for task_id, task in made.items() if task_id not in _BESIDE_THE_LINE]
    chain(*line)
    if TaskId.STOP_MIRROR in made:
        made[TaskId.STOP_MIRROR].as_teardown(setups=made[TaskId.RESERVE].as_setup())
        made[TaskId.WATCH_LAG] >> made[TaskId.VALIDATE_TOPICS]
    if TaskId.STOP_PRODUCERS in made:
        made[TaskId.START_MIRROR] >> made[TaskId.STOP_PRODUCERS] >> made[TaskId.VALIDATE_TOPICS]
        made[TaskId.CONFIRM_CUTOVER] >> made[TaskId.RESTORE_SETTINGS]
        made[TaskId.RESTORE_SETTINGS].trigger_rule = _NONE_FAILED
    # Downstream of a setup, Airflow would skip `finish` when `preflight` refuses.
    finish = made[TaskId.FINISH]
    [task for task in made.values() if task is not finish and not task.is_setup] >> finish
    finish.as_teardown(on_failure_fail_dagrun=True)


_BESIDE_THE_LINE = frozenset({TaskId.STOP_PRODUCERS, TaskId.FINISH})


def _group(folder: str) -> TaskGroup:
    """Return a group that the graph and the grid can fold; its tasks keep their ids."""
    return TaskGroup(folder, prefix_group_id=False, tooltip=_TOOLTIPS[folder])


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
