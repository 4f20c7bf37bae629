"""How the tasks of a run must have ended for the run to have succeeded."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kafka_migration.core.migration.settings import Mode

SUCCESS = "success"
SKIPPED = "skipped"

# All in the order of the run. A mode that needs a task needs all those before it.
_ACTING = ("reserve", "plan", "create_topics", "start_mirror", "watch_lag", "stop_mirror")
_JUDGING = ("validate_topics", "judge")
_PLANNING = ("drain_groups", "translate_offsets", "plan_offsets")
# A cutover skips it where the file does not name it.
_HOOK = "after_cutover"
_MOVING = ("stop_producers", "approve", "sync_offsets", "confirm_cutover", _HOOK, "restore_settings")


def expected_skips(
    mode: Mode, *, is_idle: bool = False, is_pending: bool = False, hooks: Collection[str] = ()
) -> frozenset[str]:
    """Return the tasks that a good run of this mode skips; any other skip is an accident.

    `hooks` are those that the migration file names. A cutover without the hook `stop_producers` asks people instead.
    `is_idle` tells that the run had nothing to do at its time, so that nothing between its first and its last task
    ran; `is_pending` that the time for validating was over, so that the next run validates and judges.
    """
    if mode.rolls_back:
        return frozenset()
    acting = _ACTING if is_idle else ()
    judging = _JUDGING if is_idle or is_pending else ()
    planning = () if mode.plans_groups else _PLANNING
    moving = {_HOOK}.difference(hooks) if mode.moves_groups else _MOVING
    return frozenset((*acting, *judging, *planning, *moving))


def unsuccessful(tasks: Mapping[str, str | None], may_be_skipped: Collection[str] = ()) -> dict[str, str]:
    """Return every task that did not end as it should, with its state.

    Other skips count: after a person marked the run failed, Airflow skips whatever had not started.
    """
    return {
        task: state or "not run"
        for task, state in tasks.items()
        if state != SUCCESS and not (state == SKIPPED and task in may_be_skipped)
    }
