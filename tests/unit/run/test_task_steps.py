"""Rules of how the tasks of a run must have ended."""

from __future__ import annotations

import ast
import inspect

import pytest

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report import run_assembly
from kafka_migration.core.run.task_steps import STEPS, WRITTEN_BY_ANY, RunPhase, TaskId, expected_skips, unsuccessful
from tests.syntax import parsed

HOOKS = {"after_cutover"}
MOVING = {"stop_producers", "approve", "sync_offsets", "confirm_cutover", *HOOKS, "restore_settings"}


@pytest.mark.parametrize(
    ("mode", "skips"),
    [
        (Mode.SYNC, MOVING | {"drain_groups", "translate_offsets", "plan_offsets"}),
        (Mode.VALIDATE, MOVING | {"drain_groups", "translate_offsets", "plan_offsets"}),
        (Mode.REHEARSE, MOVING),
        (Mode.CUTOVER, HOOKS),
        (Mode.RESTORE, set()),
        (Mode.FAIL_BACK, set()),
    ],
)
def test_each_mode_skips_just_what_it_does_not_need(mode: Mode, skips: set[str]) -> None:
    """A mode skips the tasks that plan or move groups if it does not, and no other."""
    assert skips == expected_skips(mode)


@pytest.mark.parametrize("hooks", [set(), HOOKS, {"stop_producers"}])
def test_cutover_skips_just_the_hooks_that_the_file_does_not_name(hooks: set[str]) -> None:
    """A hook that was to be called and was skipped is an accident; `stop_producers` asks people without one."""
    assert expected_skips(Mode.CUTOVER, hooks=hooks) == HOOKS - hooks


def test_idle_run_skips_everything_between_its_first_and_last_task() -> None:
    """Only a run that was to do nothing may skip the tasks that act, and it may not skip its checks."""
    idle = expected_skips(Mode.SYNC, is_idle=True)

    assert {"reserve", "stop_mirror", "validate_topics", "judge"} <= idle
    assert not {"preflight", "finish"} & idle
    assert not {"reserve", "stop_mirror", "judge"} & expected_skips(Mode.SYNC)


def test_done_plan_skips_what_creates_and_copies() -> None:
    """With nothing to create or copy a run still stops what an earlier run left, validates and judges."""
    more = expected_skips(Mode.SYNC, is_done=True) - expected_skips(Mode.SYNC)

    assert {"create_topics", "start_mirror", "watch_lag"} == more


def test_pending_validation_skips_the_verdict_too() -> None:
    """If the next run validates, this one skips measuring and judging and has only mirrored."""
    more = expected_skips(Mode.SYNC, is_pending=True) - expected_skips(Mode.SYNC)

    assert {"validate_topics", "judge"} == more


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ({"judge": "success", "approve": "skipped", "plan_offsets": "skipped"}, {"plan_offsets": "skipped"}),
        ({"approve": "failed"}, {"approve": "failed"}),
        ({"approve": "upstream_failed"}, {"approve": "upstream_failed"}),
        ({"approve": None}, {"approve": "not run"}),
    ],
)
def test_only_expected_skips_are_no_failure(tasks: dict[str, str | None], expected: dict[str, str]) -> None:
    """A task that its mode skips may be skipped, but not fail or remain unfinished; no other task may be skipped."""
    assert expected == unsuccessful(tasks, expected_skips(Mode.REHEARSE))


def test_the_table_has_each_task_once_and_in_order() -> None:
    """A task is one row, and the order of the ids is that of the rows."""
    assert list(TaskId) == [step.task for step in STEPS]


def test_the_table_names_only_kinds_of_documents_and_each_of_them() -> None:
    """Each kind of document is written by a task of the table, or by any task; `finish` has only a reserved number."""
    written = {kind for step in STEPS for kind in step.writes}

    assert set(Kind) - {Kind.FINISH} == written | set(WRITTEN_BY_ANY)


def test_the_report_shows_the_phases_of_the_table() -> None:
    """The report times each phase of the table, in its order."""
    nodes = ast.walk(parsed(inspect.getsource(run_assembly)))
    named = [
        (node.lineno, RunPhase[node.attr])
        for node in nodes
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == RunPhase.__name__
    ]

    assert list(RunPhase) == [name for _, name in sorted(named)]
