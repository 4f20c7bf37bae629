"""The use cases of the tasks of a run, by task id."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafka_migration.core.evidence.evidence_documents import StoredKind
from kafka_migration.core.migration.settings import HookName
from kafka_migration.core.stored.stored_documents import PlanOfGroups, Stored
from kafka_migration.steps.before.preflight_checks import preflight
from kafka_migration.steps.before.take_reservation import reserve
from kafka_migration.steps.groups.cutover_end import call_function, confirm_cutover, hook_of, restore_settings
from kafka_migration.steps.groups.group_lag_reading import CAUGHT_UP, end_drain, groups_to_drain
from kafka_migration.steps.groups.plan_groups import plan_offsets, translate_offsets
from kafka_migration.steps.groups.write_groups import ask_approval, sync_offsets
from kafka_migration.steps.mirror.plan_mirror import plan
from kafka_migration.steps.mirror.producers_answer import known_answer
from kafka_migration.steps.mirror.start_stop import start_mirror
from kafka_migration.steps.mirror.stop_mirror import stop_mirror
from kafka_migration.steps.mirror.topic_creation import create_topics
from kafka_migration.steps.mirror.watching import begin_watch
from kafka_migration.steps.rollback.roll_back import plan_rollback, roll_back, translate_back
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary, skip_unless_moving
from kafka_migration.steps.validation.judge_topics import judge_copy
from kafka_migration.steps.validation.spark_request import validate_topics

if TYPE_CHECKING:
    from tests.steps.world import World

BEFORE_START = ("preflight", "reserve", "plan", "create_topics")


@dataclass(eq=False)
class WaitingForWatch(Exception):
    """The run waits for its watch, of this generation if it is the watch itself."""

    generation: int = 0


class WaitingForGroups(Exception):
    """The run waits until groups have read the source."""


def _after_cutover(run: MigrationRun) -> Summary:
    skip_unless_moving(run)
    return call_function(run, HookName.AFTER_CUTOVER, hook_of(run, HookName.AFTER_CUTOVER))


def _stop_producers(run: MigrationRun) -> Summary:
    skip_unless_moving(run)
    if answer := known_answer(run):
        return {"chosen": answer.chosen, "by": answer.by}
    raise WaitingForWatch


def _drain(run: MigrationRun) -> Summary:
    if groups := groups_to_drain(run):
        raise WaitingForGroups(sorted(groups))
    return end_drain(run, CAUGHT_UP)


class WaitingForAnswer(Exception):
    """The run has asked for an approval."""


def _ask(world: World, run: MigrationRun, kind: StoredKind[PlanOfGroups]) -> Summary:
    asked, _ = ask_approval(run, kind)
    world.asked.append(asked)
    raise WaitingForAnswer


def _watch(run: MigrationRun) -> Summary:
    begun = begin_watch(run)
    if isinstance(begun, int):
        raise WaitingForWatch(begun)
    return begun


def _confirmed(run: MigrationRun) -> Summary:
    cut_over = confirm_cutover(run)
    return {"groups": list(cut_over.groups), "topics": list(cut_over.topics), "partly": cut_over.partly}


USE_CASES: Mapping[str, Callable[[World, MigrationRun], Summary]] = {
    "after_cutover": lambda world, run: _after_cutover(run),
    "approve": lambda world, run: _ask(world, run, Stored.OFFSETS_PLAN),
    "approve_rollback": lambda world, run: _ask(world, run, Stored.ROLLBACK_PLAN),
    "confirm_cutover": lambda world, run: _confirmed(run),
    "create_topics": lambda world, run: create_topics(run),
    "drain_groups": lambda world, run: _drain(run),
    "judge": lambda world, run: judge_copy(run).summary,
    "plan": lambda world, run: plan(run),
    "plan_offsets": lambda world, run: plan_offsets(run),
    "plan_rollback": lambda world, run: plan_rollback(run),
    "preflight": lambda world, run: preflight(run, world.airflow, world.occasion),
    "reserve": lambda world, run: reserve(run, world.is_over),
    "restore_settings": lambda world, run: restore_settings(run),
    "roll_back": lambda world, run: roll_back(run, world.dag_run.triggering_user_name),
    "start_mirror": lambda world, run: start_mirror(run),
    "stop_mirror": lambda world, run: stop_mirror(run),
    "stop_producers": lambda world, run: _stop_producers(run),
    "sync_offsets": lambda world, run: sync_offsets(run, world.dag_run.triggering_user_name),
    "translate_back": lambda world, run: translate_back(run, world),
    "translate_offsets": lambda world, run: translate_offsets(run, world),
    "validate_topics": lambda world, run: validate_topics(run, world),
    "watch_lag": lambda world, run: _watch(run),
}
# How `performing` surrounds them, where it differs.
HOW: Mapping[str, Mapping[str, bool]] = {
    "preflight": {"tells_step": False, "begins": True},
    "reserve": {"tells_step": False},
    "stop_mirror": {"needs_evidence": False},
}
