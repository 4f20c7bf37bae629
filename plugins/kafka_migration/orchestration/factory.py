"""The DAGs of a migration file, built by one factory that never raises.

An error while one file is read would take every other migration's DAGs away in mid-run, stop tasks included.
So a file that cannot be read still gives its DAGs, tagged `invalid`, with the findings where people look; its
first task refuses with all of them.
"""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Param, get_parsing_context

from kafka_migration.core.errors import FindingsError
from kafka_migration.core.migration import Migration, Mode
from kafka_migration.orchestration import settings
from kafka_migration.orchestration.operators.approve import ApproveOperator
from kafka_migration.orchestration.operators.confirm_cutover import ConfirmCutoverOperator
from kafka_migration.orchestration.operators.finish import FinishOperator
from kafka_migration.orchestration.operators.judge import JudgeOperator
from kafka_migration.orchestration.operators.plan import PlanOperator
from kafka_migration.orchestration.operators.plan_offsets import PlanOffsetsOperator
from kafka_migration.orchestration.operators.preflight import PreflightOperator
from kafka_migration.orchestration.operators.reserve import ReserveOperator
from kafka_migration.orchestration.operators.start import StartMirrorOperator
from kafka_migration.orchestration.operators.stop import StopMirrorOperator
from kafka_migration.orchestration.operators.sync_offsets import SyncOffsetsOperator
from kafka_migration.orchestration.operators.topics import CreateTopicsOperator
from kafka_migration.orchestration.operators.validate import ValidateTopicsOperator
from kafka_migration.orchestration.run import DEFAULT_MODE
from kafka_migration.orchestration.sensors.drain_groups import DrainGroupsSensor
from kafka_migration.orchestration.sensors.mirror_lag import MirrorLagSensor
from kafka_migration.spec.loading import load_migration_file

_NOT_IN_AN_ID = re.compile(r"[^A-Za-z0-9_.-]")
# Transport errors pass by themselves; refusals never retry whatever this says.
RETRIES: dict[str, Any] = {"retries": 2, "retry_delay": timedelta(seconds=15)}
# Stopping is worth more tries than anything else.
STOP_RETRIES: dict[str, Any] = {"retries": 5, "retry_delay": timedelta(seconds=15)}
_MODES = {
    Mode.REHEARSE: "mirror, stop, validate, and show where each group would go on; no group is touched",
    Mode.SYNC: "mirror what is new, stop, validate it",
    Mode.VALIDATE: "read the whole copy again, start no MirrorMaker",
    Mode.CUTOVER: "the same to the end, after the producers stopped; on approval, move the groups",
}


def migration_dags(folder: Path | None = None) -> dict[str, DAG]:
    """Return the DAGs of every `*.yaml` file in the folder, by DAG id.

    In a task's process only the DAG that the task belongs to is built.
    """
    wanted = get_parsing_context().dag_id
    dags = {}
    for path in sorted((folder or settings.migrations_folder()).glob("*.yaml")):
        # A file with a name that no migration may have still gives its DAG, which says so.
        dag_id = f"kafka_migration__{_NOT_IN_AN_ID.sub('_', path.stem)}"
        if wanted in (None, dag_id):
            dags[dag_id] = migration_dag(dag_id, path)
    return dags


def migration_dag(dag_id: str, path: Path) -> DAG:
    """Return the manual DAG of one migration file."""
    migration, problem = _read(path)
    tags = ["kafka-migration", path.stem, *(["invalid"] if problem else [])]
    with DAG(
        dag_id,
        schedule=None,
        catchup=False,
        max_active_runs=1,
        tags=tags,
        doc_md=_doc(path.stem, migration, problem),
        params=_form(migration),
        default_args=RETRIES,
    ) as dag:
        _tasks(path.stem)
    return dag


def _tasks(name: str) -> None:
    """Lay the tasks out in the order of a run; see ADR 0003 for the shape, ADR 0004 for the modes."""
    preflight = PreflightOperator(task_id="preflight", migration=name)
    reserve = ReserveOperator(task_id="reserve", migration=name).as_setup()
    plan = PlanOperator(task_id="plan", migration=name)
    create_topics = CreateTopicsOperator(task_id="create_topics", migration=name)
    start_mirror = StartMirrorOperator(task_id="start_mirror", migration=name)
    watch_lag = MirrorLagSensor(task_id="watch_lag", migration=name)
    stop_mirror = StopMirrorOperator(task_id="stop_mirror", migration=name, **STOP_RETRIES)
    validate_topics = ValidateTopicsOperator(task_id="validate_topics", migration=name)
    judge = JudgeOperator(task_id="judge", migration=name)
    drain_groups = DrainGroupsSensor(task_id="drain_groups", migration=name)
    plan_offsets = PlanOffsetsOperator(task_id="plan_offsets", migration=name)
    approve = ApproveOperator(task_id="approve", migration=name)
    sync_offsets = SyncOffsetsOperator(task_id="sync_offsets", migration=name)
    confirm_cutover = ConfirmCutoverOperator(task_id="confirm_cutover", migration=name)
    finish = FinishOperator(task_id="finish", migration=name, **STOP_RETRIES)

    preflight >> reserve >> plan >> create_topics >> start_mirror >> watch_lag >> stop_mirror
    stop_mirror.as_teardown(setups=reserve)
    [watch_lag, stop_mirror] >> validate_topics >> judge
    moving = [drain_groups, plan_offsets, approve, sync_offsets, confirm_cutover]
    judge >> drain_groups >> plan_offsets >> approve >> sync_offsets >> confirm_cutover
    # No arrow from reserve: it would become finish's setup, and a refusal in preflight would leave finish unrun.
    [preflight, plan, create_topics, start_mirror, watch_lag, stop_mirror, validate_topics, judge, *moving] >> finish
    finish.as_teardown(on_failure_fail_dagrun=True)


def _read(path: Path) -> tuple[Migration | None, str]:
    try:
        return load_migration_file(path)[1], ""
    except FindingsError as error:
        return None, str(error)
    except Exception as error:
        # Whatever it is, it must not take the other migrations' DAGs away.
        return None, f"{type(error).__name__}: {error}"


def _form(migration: Migration | None) -> dict[str, Param]:
    topics = list(migration.topics) if migration else []
    return {
        "mode": Param(
            str(DEFAULT_MODE),
            type="string",
            enum=[str(mode) for mode in Mode],
            values_display={str(mode): f"{mode}: {text}" for mode, text in _MODES.items()},
            title="Mode",
            description="What the run does. Nothing is ever written to the source cluster.",
        ),
        # The form takes an empty field for missing, and does not trigger, unless null is allowed.
        "topics": Param(
            None,
            type=["null", "array"],
            items={"type": "string", "enum": topics} if topics else {"type": "string"},
            examples=topics,
            title="Topics",
            description="Only these topics; none chosen means all of the migration file. A cutover takes all.",
        ),
        "groups": Param(
            None,
            type=["null", "array"],
            items={"type": "string"},
            title="Consumer groups",
            description="Only these groups (rehearse and cutover); none given means all that cutover.groups names.",
        ),
        "note": Param(None, type=["null", "string"], maxLength=500, title="Note", description="Kept in the evidence."),
    }


def _doc(name: str, migration: Migration | None, problem: str) -> str:
    if migration is None:
        findings = "\n".join(f"- {line}" for line in problem.splitlines())
        return (
            f"### The migration file `{name}.yaml` is invalid\n\nEvery run is refused until it is mended:\n\n{findings}"
        )
    modes = "\n".join(f"- `{mode}`: {text}" for mode, text in _MODES.items())
    return (
        f"### Migration `{name}`\n\n"
        f"Moves {len(migration.topics)} topics from `{migration.source.connection}` to "
        f"`{migration.target.connection}`: {', '.join(f'`{t}`' for t in migration.topics)}.\n\n"
        f"Trigger it with one of these modes:\n\n{modes}\n\nEvery run leaves its evidence in the "
        "evidence root; the last task's log names the folder."
    )
