"""What the Spark job of a run compares, and how it is run."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import NoReturn

from kafka_migration.core.ledger.generations import Generation, Window
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Migration, Part
from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.validation.compared_windows import delta_key_windows, delta_windows, whole_windows
from kafka_migration.core.validation.replays import Replays
from kafka_migration.core.validation.schemas import parts_of
from kafka_migration.core.validation.validation_contract import (
    BLOCK_RECORDS,
    KEY_DIGEST,
    POSITION_DIGEST,
    ValidationRequest,
    empty_result,
)
from kafka_migration.core.watching.unfinished_work import PendingValidation
from kafka_migration.steps.reading.exact_reads import compared_topics, every_value
from kafka_migration.steps.reading.spark_documents import SparkJobs, result_of
from kafka_migration.steps.run.migration_run import MigrationRun, partitions_of
from kafka_migration.steps.run.task_frame import NothingToDo, Summary

log = logging.getLogger(__name__)


def validate_topics(run: MigrationRun, jobs: SparkJobs) -> Summary:
    """Write the request, run Spark and record its result.

    Raises `NothingToDo` after the time limit for validation, and leaves the windows to the next run.
    """
    request = request_of(run)
    request_path = run.evidence.write(Stored.VALIDATION_REQUEST, request)
    if all(window.is_empty for window in request.windows):
        log.info("Nothing to read: every window is empty.")
        run.evidence.write(Stored.VALIDATION_RESULT, empty_result(request, run.now()))
        return {"source_records": 0, "target_records": 0}
    asked = (request.client_id, request_path, request.most_records)
    result = result_of(run, jobs, TaskId.VALIDATE_TOPICS, Stored.VALIDATION_RESULT, asked, _time_left_s(run))
    if result is None:
        _leave_pending(run, request)
    return {"source_records": result.source_records, "target_records": result.target_records}


def _time_left_s(run: MigrationRun) -> float | None:
    """Return the seconds until the time limit for validation that this attempt's preflight set; `None`: no limit."""
    if not run.evidence.of_attempt(Stored.PREFLIGHT) or run.run_window.validate_until is None:
        return None
    return (run.run_window.validate_until - run.clock.now()).total_seconds()


def _leave_pending(run: MigrationRun, request: ValidationRequest) -> NoReturn:
    """Record what is left to validate, and skip the task with its downstream tasks."""
    reason = f"the time for validation ended at {run.run_window.validate_until}"
    run.evidence.write(Stored.PENDING, PendingValidation.of(run.now(), reason, request.windows))
    raise NothingToDo(f"{reason}; the next run validates the rest.")


def request_of(run: MigrationRun) -> ValidationRequest:
    """Return what the run's Spark job is asked."""
    ledger = run.ledger.known()
    by_key = not run.migration.keeps_partitions
    replays = Replays(ledger, by_key)
    generations = replays.with_unproved(_generations(run, ledger))
    delta = delta_key_windows(generations, replays) if by_key else delta_windows(generations, replays)
    windows = _whole_windows(run, ledger) if run.request.reads_whole else delta
    topics = {window.topic for window in windows if not window.is_empty}
    sides = {"source": run.source, "target": run.target} if topics else {}
    compared = {side: compared_topics(cluster, run.migration, topics) for side, cluster in sides.items()}
    return ValidationRequest(
        migration=run.name,
        run=run.identity.holder,
        block_records=BLOCK_RECORDS,
        # Aborted records do not belong to the source, whether MirrorMaker copied them or not.
        isolation_level="read_committed",
        windows=tuple(replace(w, target_topic=run.migration.target_topic(w.topic)) for w in windows),
        generations=tuple(generation.number for generation in generations),
        digest=KEY_DIGEST if by_key else POSITION_DIGEST,
        untimed_topics=compared["target"].untimed if topics else (),
        compacted_topics={side: each.compacted for side, each in compared.items()},
        is_uncommitted_copy=run.migration.mirror.isolation_level == "read_uncommitted",
        max_bytes_per_s=run.migration.validation.max_bytes_per_s,
        killed_generations=tuple(g.number for g in generations if g.was_killed),
        resent_generations=tuple(g.number for g in generations if g.has_resent),
        schema_ids=_schema_ids(run.migration, {window.topic for window in windows}),
        topic_generations=_by_topic(generations),
    )


def _schema_ids(migration: Migration, topics: Collection[str]) -> dict[str, tuple[Part, ...]]:
    wanted = parts_of(migration.schema_registry, sorted(topics))
    return {migration.target_topic(topic): parts for topic, parts in wanted.items()}


def _by_topic(generations: Iterable[Generation]) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {}
    for generation in generations:
        for topic in generation.topics:
            found[topic] = (*found.get(topic, ()), generation.number)
    return found


def _generations(run: MigrationRun, ledger: Ledger) -> list[Generation]:
    """Return the generations whose windows the run reads, each limited to the run's topics."""
    wanted = run.request.generations
    unlimited = ledger.to_measure(run.request.mode, run.identity.holder)
    chosen = (each for each in unlimited if not wanted or each.number in wanted)
    return [g for each in chosen if (g := each.limited_to(run.migration.topics)).topics]


def _whole_windows(run: MigrationRun, ledger: Ledger) -> tuple[Window, ...]:
    present = partitions_of(run.describe("target"))
    ends = every_value(run.target.log_end_offsets(present, "read_uncommitted"), present, "target end")
    return whole_windows(ledger, run.migration.topics, ends, by_key=not run.migration.keeps_partitions)
