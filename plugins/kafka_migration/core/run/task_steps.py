"""The table of a run's tasks: their order, phase, the modes that skip them, and the documents that they write."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto

from kafka_migration.core.migration.settings import Mode

SUCCESS = "success"
SKIPPED = "skipped"


class TaskId(StrEnum):
    """The ids of the tasks, in their order."""

    PREFLIGHT = "preflight"
    RESERVE = "reserve"
    PLAN = "plan"
    CREATE_TOPICS = "create_topics"
    START_MIRROR = "start_mirror"
    WATCH_LAG = "watch_lag"
    STOP_MIRROR = "stop_mirror"
    STOP_PRODUCERS = "stop_producers"
    VALIDATE_TOPICS = "validate_topics"
    JUDGE = "judge"
    DRAIN_GROUPS = "drain_groups"
    TRANSLATE_OFFSETS = "translate_offsets"
    PLAN_OFFSETS = "plan_offsets"
    TRANSLATE_BACK = "translate_back"
    PLAN_ROLLBACK = "plan_rollback"
    APPROVE = "approve"
    SYNC_OFFSETS = "sync_offsets"
    ROLL_BACK = "roll_back"
    CONFIRM_CUTOVER = "confirm_cutover"
    AFTER_CUTOVER = "after_cutover"
    RESTORE_SETTINGS = "restore_settings"
    FINISH = "finish"


class RunPhase(StrEnum):
    """The phases of a run, in their order: the report shows their times, and the graph folds their tasks."""

    PREPARE = "Check and prepare"
    COPY = "Copy"
    STOP = "Stop MirrorMaker"
    VALIDATE = "Validate"
    PLAN_GROUPS = "Plan the groups"
    APPROVAL = "Wait for approval"
    WRITE_GROUPS = "Write the groups"


class DagKind(Enum):
    """The DAGs of a migration file."""

    MANUAL = auto()
    NIGHTLY = auto()
    ROLLBACK = auto()


class TaskNeed(Enum):
    """What a run must do for a task to act; else the task is skipped. A rollback skips no task."""

    NOTHING = auto()
    """The task always acts."""
    WORK = auto()
    """The run has something to do at its time."""
    COPY = auto()
    """The run has something to do at its time, and its plan has topics to create or records to copy."""
    VERDICT = auto()
    """The run validates: it has something to do, and its validation time is not over."""
    PLANS_GROUPS = auto()
    """The mode plans the offsets of consumer groups."""
    MOVES_GROUPS = auto()
    """The mode moves consumer groups."""
    HOOK = auto()
    """The mode moves consumer groups, and the migration file names the hook."""


@dataclass(frozen=True, slots=True)
class TaskStep:
    """One task: its phase, what it needs to act, and the kinds of its documents in the evidence."""

    task: TaskId
    phase: RunPhase | None
    need: TaskNeed = TaskNeed.NOTHING
    writes: tuple[str, ...] = ()
    dags: Collection[DagKind] = frozenset({DagKind.MANUAL, DagKind.NIGHTLY})

    def is_skipped(self, mode: Mode, *, is_idle: bool, is_done: bool, is_pending: bool, hooks: Collection[str]) -> bool:
        """Return whether a successful run skips the task; see `expected_skips`."""
        match self.need:
            case TaskNeed.NOTHING:
                return False
            case TaskNeed.WORK:
                return is_idle
            case TaskNeed.COPY:
                return is_idle or is_done
            case TaskNeed.VERDICT:
                return is_idle or is_pending
            case TaskNeed.PLANS_GROUPS:
                return not mode.plans_groups
            case TaskNeed.MOVES_GROUPS:
                return not mode.moves_groups
            case TaskNeed.HOOK:
                return not mode.moves_groups or self.task not in hooks


_ALL = frozenset(DagKind)
_MANUAL = frozenset({DagKind.MANUAL})
_ROLLBACK = frozenset({DagKind.ROLLBACK})
# In the order of the run.
STEPS = (
    TaskStep(TaskId.PREFLIGHT, RunPhase.PREPARE, TaskNeed.NOTHING, ("preflight", "topic-list"), _ALL),
    TaskStep(TaskId.RESERVE, RunPhase.PREPARE, TaskNeed.WORK, ("reserve", "wait"), _ALL),
    TaskStep(TaskId.PLAN, RunPhase.PREPARE, TaskNeed.WORK, ("plan", "topic-list", "topics", "start", "watch")),
    TaskStep(TaskId.CREATE_TOPICS, RunPhase.PREPARE, TaskNeed.COPY, ("topics",)),
    TaskStep(TaskId.START_MIRROR, RunPhase.COPY, TaskNeed.COPY, ("start",)),
    TaskStep(TaskId.WATCH_LAG, RunPhase.COPY, TaskNeed.COPY, ("watch", "restart")),
    TaskStep(TaskId.STOP_MIRROR, RunPhase.STOP, TaskNeed.WORK, ("stop",)),
    TaskStep(TaskId.STOP_PRODUCERS, RunPhase.COPY, TaskNeed.MOVES_GROUPS, ("producers", "hook"), _MANUAL),
    TaskStep(
        TaskId.VALIDATE_TOPICS,
        RunPhase.VALIDATE,
        TaskNeed.VERDICT,
        ("validation-request", "validation-result", "pending"),
    ),
    TaskStep(TaskId.JUDGE, RunPhase.VALIDATE, TaskNeed.VERDICT, ("judge",)),
    TaskStep(TaskId.DRAIN_GROUPS, RunPhase.PLAN_GROUPS, TaskNeed.PLANS_GROUPS, ("drained",), _MANUAL),
    TaskStep(
        TaskId.TRANSLATE_OFFSETS,
        RunPhase.PLAN_GROUPS,
        TaskNeed.PLANS_GROUPS,
        ("translation-request", "translation-result"),
        _MANUAL,
    ),
    TaskStep(TaskId.PLAN_OFFSETS, RunPhase.PLAN_GROUPS, TaskNeed.PLANS_GROUPS, ("offsets-plan",), _MANUAL),
    TaskStep(
        TaskId.TRANSLATE_BACK,
        RunPhase.PREPARE,
        TaskNeed.NOTHING,
        ("translation-request", "translation-result"),
        _ROLLBACK,
    ),
    TaskStep(TaskId.PLAN_ROLLBACK, RunPhase.PREPARE, TaskNeed.NOTHING, ("rollback-plan",), _ROLLBACK),
    TaskStep(TaskId.APPROVE, RunPhase.APPROVAL, TaskNeed.MOVES_GROUPS, ("approve",), _MANUAL | _ROLLBACK),
    TaskStep(
        TaskId.SYNC_OFFSETS,
        RunPhase.WRITE_GROUPS,
        TaskNeed.MOVES_GROUPS,
        ("offsets-before", "offsets-result"),
        _MANUAL,
    ),
    TaskStep(
        TaskId.ROLL_BACK,
        RunPhase.WRITE_GROUPS,
        TaskNeed.NOTHING,
        ("offsets-before", "offsets-result", "rolled-back"),
        _ROLLBACK,
    ),
    TaskStep(TaskId.CONFIRM_CUTOVER, RunPhase.WRITE_GROUPS, TaskNeed.MOVES_GROUPS, ("cutover",), _MANUAL),
    TaskStep(TaskId.AFTER_CUTOVER, RunPhase.WRITE_GROUPS, TaskNeed.HOOK, ("hook",), _MANUAL),
    TaskStep(TaskId.RESTORE_SETTINGS, RunPhase.WRITE_GROUPS, TaskNeed.MOVES_GROUPS, ("settings",), _MANUAL | _ROLLBACK),
    TaskStep(TaskId.FINISH, None, TaskNeed.NOTHING, (), _ALL),
)
# Documents that any task may write.
WRITTEN_BY_ANY = ("refusal", "alert")
# The tasks that have nothing to do in some modes.
NOT_IN_ALL_MODES = frozenset(
    step.task for step in STEPS if step.need in {TaskNeed.PLANS_GROUPS, TaskNeed.MOVES_GROUPS, TaskNeed.HOOK}
)

# The tasks that a plan with nothing to create or copy does not need, if the mode does not move groups.
COPYING = frozenset(step.task for step in STEPS if step.phase is RunPhase.COPY or step.need is TaskNeed.COPY)


def steps_of(kind: DagKind) -> tuple[TaskStep, ...]:
    """Return the tasks of a DAG, in their order."""
    return tuple(step for step in STEPS if kind in step.dags)


def idle_phases(mode: Mode) -> frozenset[RunPhase]:
    """Return the phases in which a run of this mode has nothing to do, although Airflow may start their tasks."""
    return frozenset() if mode.mirrors else frozenset({RunPhase.COPY, RunPhase.STOP})


def expected_skips(
    mode: Mode,
    *,
    is_idle: bool = False,
    is_done: bool = False,
    is_pending: bool = False,
    hooks: Collection[str] = (),
) -> frozenset[str]:
    """Return the tasks that a successful run of this mode skips; any other skip is an error.

    `hooks` are those in the migration file. A cutover without the hook `stop_producers` asks an operator instead.
    `is_idle`: the run had nothing to do at its time, so only its first and last tasks ran. `is_done`: its plan had
    nothing to create and nothing to copy. `is_pending`: the validation time was over, so the next run validates and
    judges.
    """
    if mode.rolls_back:
        return frozenset()
    return frozenset(
        step.task
        for step in steps_of(DagKind.MANUAL)
        if step.is_skipped(mode, is_idle=is_idle, is_done=is_done, is_pending=is_pending, hooks=hooks)
    )


def unsuccessful(tasks: Mapping[str, str | None], may_be_skipped: Collection[str] = ()) -> dict[str, str]:
    """Return every task that did not end as expected, with its state.

    Unexpected skips count: after a user has marked the run failed, Airflow skips all tasks that had not started.
    """
    return {
        task: state or "not run"
        for task, state in tasks.items()
        if state != SUCCESS and not (state == SKIPPED and task in may_be_skipped)
    }
