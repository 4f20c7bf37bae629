"""Runs all checks that are possible before a run acts."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NoReturn

from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.migration.topic_rules import TopicList
from kafka_migration.core.run.run_window import RunType
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.preflight.scene.check import CheckResult, run_checks
from kafka_migration.preflight.scene.scene import CheckedAirflow, Scene
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.topic_list import record_topic_list


def checked(
    run: MigrationRun,
    airflow: CheckedAirflow,
    run_type: RunType = RunType.MANUAL,
    begins: Callable[[str], None] = lambda _: None,
) -> tuple[CheckResult, ...]:
    """Record the topics of the run, run every check, and return their results in order; see `run_checks`."""
    return run_checks(CHECKS, scene_of(run, airflow, run_type), begins)


def scene_of(run: MigrationRun, airflow: CheckedAirflow, run_type: RunType = RunType.MANUAL) -> Scene:
    """Record the topics of the run, and return what the checks look at."""
    find_topic_list = _topic_list(run)
    return Scene(run, airflow, run.ledger.known(), run.clock.now(), run_type, find_topic_list)


def _topic_list(run: MigrationRun) -> Callable[[], TopicList | None]:
    """Record the topics that the file's patterns find; return what gives them, or raises why they are unknown.

    A missing connection or an unreachable cluster must not hide the findings of the other checks.
    """
    try:
        found = record_topic_list(run)
    except (Refused, TransientError) as error:
        return partial(_raise, error)
    return lambda: found


def _raise(error: Exception) -> NoReturn:
    raise error
