"""A run as its documents show it, and what Airflow knows of its tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import kafka_migration
from kafka_migration.adapters.store.document_files import naming, parse_json
from kafka_migration.adapters.store.evidence_store import RUN_FILE
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import EvidenceUnreadable, Refused, StoreFailed
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.report.run_assembly import assembled
from kafka_migration.core.report.run_document import Refusal, RunDocument
from kafka_migration.core.watching.producers_question import StopProducers
from kafka_migration.core.watching.watch import Announced
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.page import kept_in_airflow
from kafka_migration.page.kept_files import KeptFiles, NotAsWritten
from kafka_migration.page.kept_in_airflow import TaskTimes
from kafka_migration.steps.run.alert_sending import stop_after

# `run.json` of a run with 10,000 partitions has a few MiB.
_MOST_BYTES = 64 * 1024 * 1024
# Large documents that no part of the page shows.
_NOT_SHOWN = frozenset(
    {Kind.VALIDATION_REQUEST, Kind.VALIDATION_RESULT, Kind.TRANSLATION_REQUEST, Kind.TRANSLATION_RESULT, Kind.FINISH}
    | {Kind.REFUSAL, Kind.HOOK, Kind.ALERT}
)
ACTIVE = "active"


@dataclass(frozen=True, slots=True)
class KeptRun:
    """A run: the state of its tasks in Airflow, and its documents; `problem` says why they are not shown.

    `stop` is the instruction to stop the producers, while the run waits for that.
    """

    dag_id: str
    run_id: str
    state: str | None
    tasks: tuple[TaskTimes, ...]
    document: RunDocument | None = None
    stop: StopProducers | None = None
    problem: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended in Airflow, or is not there."""
        return self.state not in {"queued", "running"}


def kept_run(dag_id: str, run_id: str) -> KeptRun:
    """Return a run of a migration from the documents whose digests Airflow keeps."""
    state, tasks = kept_in_airflow.run_state(dag_id, run_id), tuple(kept_in_airflow.task_times(dag_id, run_id))
    try:
        files = KeptFiles.of(dag_id, run_id)
        document, stop = _read(files, tasks) if files else (None, None)
    except NotAsWritten as error:
        return KeptRun(dag_id, run_id, state, tasks, problem=f"The result of this run ({RUN_FILE}) was {error}.")
    except (EvidenceUnreadable, Refused, StoreFailed) as error:
        return KeptRun(dag_id, run_id, state, tasks, problem=" ".join(error.findings[0].sentences))
    return KeptRun(dag_id, run_id, state, tasks, document, stop)


def _read(files: KeptFiles, tasks: Sequence[TaskTimes]) -> tuple[RunDocument | None, StopProducers | None]:
    attempt = files.newest_attempt()
    if attempt is None:
        return None, None
    if files.newest_attempt(RUN_FILE) == attempt:
        return _ended(files, attempt), None
    return _active(files, attempt, tasks)


def _ended(files: KeptFiles, attempt: int) -> RunDocument:
    path = files.evidence(attempt).folder / RUN_FILE
    with naming(path):
        return RunDocument.from_document(parse_json(files.content(RUN_FILE, attempt, _MOST_BYTES), path))


def _active(
    files: KeptFiles, attempt: int, tasks: Sequence[TaskTimes]
) -> tuple[RunDocument | None, StopProducers | None]:
    evidence = files.evidence(attempt)
    migration = load_migration(evidence.frozen_migration(), where=f"{files.migration} (frozen)")
    documents = {kind: found for kind in Kind if kind not in _NOT_SHOWN and (found := evidence.newest(kind))}
    refusals = [Refusal.from_document(each) for each in evidence.of_attempt(Kind.REFUSAL)]
    run = assembled(_begun(files, attempt, migration, tasks), documents, refusals)
    return run, _stop(migration, run)


def _begun(files: KeptFiles, attempt: int, migration: Migration, tasks: Sequence[TaskTimes]) -> RunDocument:
    began = [task.began_at for task in tasks if task.began_at]
    return RunDocument(
        migration=files.migration,
        migration_digest=migration.digest,
        dag_id=files.dag_id,
        run_id=files.run_id,
        attempt=attempt,
        mode="",
        package_version=kafka_migration.__version__,
        finished_at="",
        outcome=ACTIVE,
        tasks={task.task: task.state for task in tasks},
        started_at=min(began).isoformat(timespec="seconds") if began else None,
        timezone=migration.local_time(settings.default_timezone()).zone,
    )


def _stop(migration: Migration, run: RunDocument) -> StopProducers | None:
    """Return which producers must stop, between the announcement and the proof that they have."""
    announced, plan = run.steps.watch, run.steps.plan
    if not isinstance(announced, Announced) or plan is None:
        return None
    topics = sorted({partition.topic for partition in plan.goals})
    return stop_after(migration, topics, datetime.fromisoformat(announced.announced_at), run.local)
