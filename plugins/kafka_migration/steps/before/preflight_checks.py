"""Begins a run: freezes its migration file, decides what it may do now, and runs every check."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import NoReturn

from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.migration.topic_rules import TopicList
from kafka_migration.core.run.run_window import RunType, RunWindow, backfill_window, scheduled_window
from kafka_migration.core.stored.stored_documents import PreflightDocument, Stored
from kafka_migration.migration_file.loading import load_migration_file
from kafka_migration.migration_file.scalars import last_tick
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.preflight.scene.check import CheckResult, run_checks, without_checks
from kafka_migration.preflight.scene.scene import CheckedAirflow, Scene
from kafka_migration.steps.run.copy_scope import names_to_match, record_topic_list
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.run_request import Occasion
from kafka_migration.steps.run.task_frame import Summary

log = logging.getLogger(__name__)


def preflight(run: MigrationRun, airflow: CheckedAirflow, occasion: Occasion) -> Summary:
    """Freeze the migration file and run every check; raises `Refused` with all findings."""
    text, _ = load_migration_file(run.deployment.migrations_folder / f"{run.name}.yaml")
    run.evidence.freeze_migration(text)
    window = _window_of(run, occasion)
    if window.idle_because:
        log.warning("Nothing to do: %s.", window.idle_because)
        results = without_checks(CHECKS, window.idle_because)
    else:
        results = checked(run, airflow, occasion.run_type)
    run.evidence.write(Stored.PREFLIGHT, _document(run, window, results))
    _log(results)
    if findings := _each(result.findings for result in results):
        raise Refused(findings)
    return {"checks": len(results), "digest": run.migration.digest}


def _log(results: Iterable[CheckResult]) -> None:
    for result in sorted(results, key=lambda result: not result.findings):
        level = logging.ERROR if result.findings else logging.INFO
        log.log(level, "%-12s %s", result.name, result.state)
    for result in results:
        for accepted in result.accepted:
            log.info("Accepted by the migration file: %s", accepted)
        for warning in result.warnings:
            log.warning("%s", warning)


def _document(run: MigrationRun, window: RunWindow, results: Iterable[CheckResult]) -> PreflightDocument:
    return PreflightDocument(
        at=run.now(),
        dag_id=run.identity.dag_id,
        run_id=run.identity.run_id,
        mode=run.request.mode,
        digest=run.migration.digest,
        phase=run.ledger.known().phase,
        run_window=window,
        checks=tuple(each.document for each in results),
        warnings=_each(result.warnings for result in results),
        accepted=_each(result.accepted for result in results),
    )


def _each(findings: Iterable[Iterable[Finding]]) -> tuple[Finding, ...]:
    return tuple(chain.from_iterable(findings))


def _window_of(run: MigrationRun, occasion: Occasion) -> RunWindow:
    """Return the run window of a run.

    A run whose earlier attempt left MirrorMaker running is never idle: it has to stop it and prove the copy.
    """
    window = _by_time(run, occasion)
    if window.idle_because and run.ledger.known().open_generation_of(run.identity):
        return replace(window, idle_because="", still_because=window.idle_because)
    return window


def _by_time(run: MigrationRun, occasion: Occasion) -> RunWindow:
    settings, now = run.migration.nightly, run.clock.now()
    # A manual run of the nightly DAG has no interval; its preflight refuses it.
    if run.nightly_mode is None or settings is None or occasion.run_type is RunType.MANUAL:
        return RunWindow()
    if occasion.run_type is RunType.SCHEDULED:
        return scheduled_window(settings, occasion.interval, now)
    outside = run.request.mirror_outside_window
    tick = last_tick(settings, now)
    return backfill_window(settings, occasion.interval, tick, now, mirror_outside_window=outside)


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
        found = record_topic_list(run, names_to_match(run))
    except (Refused, TransientError) as error:
        return partial(_raise, error)
    return lambda: found


def _raise(error: Exception) -> NoReturn:
    raise error
