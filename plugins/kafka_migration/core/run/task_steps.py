"""The task states of a successful run."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafka_migration.core.migration.settings import Mode

SUCCESS = "success"
SKIPPED = "skipped"

# In the order of the run. A mode that needs a task needs all tasks before it.
_ACTING = ("reserve", "plan", "create_topics", "start_mirror", "watch_lag", "stop_mirror")
_JUDGING = ("validate_topics", "judge")
_PLANNING = ("drain_groups", "translate_offsets", "plan_offsets")
# A cutover skips this hook if the migration file does not name it.
_HOOK = "after_cutover"
_MOVING = ("stop_producers", "approve", "sync_offsets", "confirm_cutover", _HOOK, "restore_settings")

# The tasks that have nothing to do in some modes.
NOT_IN_ALL_MODES = frozenset((*_PLANNING, *_MOVING))


def expected_skips(
    mode: Mode, *, is_idle: bool = False, is_pending: bool = False, hooks: Collection[str] = ()
) -> frozenset[str]:
    """Return the tasks that a successful run of this mode skips; any other skip is an error.

    `hooks` are those in the migration file. A cutover without the hook `stop_producers` asks an operator instead.
    `is_idle`: the run had nothing to do at its time, so only its first and last tasks ran. `is_pending`: the
    validation time was over, so the next run validates and judges.
    """
    if mode.rolls_back:
        return frozenset()
    acting = _ACTING if is_idle else ()
    judging = _JUDGING if is_idle or is_pending else ()
    planning = () if mode.plans_groups else _PLANNING
    moving = {_HOOK}.difference(hooks) if mode.moves_groups else _MOVING
    return frozenset((*acting, *judging, *planning, *moving))


def unsuccessful(tasks: Mapping[str, str | None], may_be_skipped: Collection[str] = ()) -> dict[str, str]:
    """Return every task that did not end as expected, with its state.

    Unexpected skips count: after a user has marked the run failed, Airflow skips all tasks that had not started.
    """
    return {
        task: state or "not run"
        for task, state in tasks.items()
        if state != SUCCESS and not (state == SKIPPED and task in may_be_skipped)
    }
