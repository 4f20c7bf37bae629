"""Publishes how a run ended, for readers outside Airflow such as the CLI."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.report.alerts import Ended
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.report.run_status import Contradiction, LastRun, contradictions
from kafka_migration.core.stored.stored_documents import MirrorStarted, Stored
from kafka_migration.steps.finish.outcome import newest
from kafka_migration.steps.run.migration_run import MigrationRun


def tell_last_run(run: MigrationRun, ended: Ended, document: RunDocument) -> None:
    """Replace the document of the last run. A failed write does not affect the run."""
    at, who = run.now(), run.identity.holder
    before, findings = _contradictions_before(run), ended.findings
    told = LastRun(
        run=who,
        at=datetime.fromisoformat(at),
        mode=document.mode,
        outcome=document.outcome,
        verdict=ended.verdict,
        note=document.note,
        evidence=ended.evidence,
        findings=findings,
        contradictions=contradictions(before, findings, who, at, _refuted(run, document)),
    )
    run.news.tell_last_run(told.to_document())
    run.news.tell_ended(who, at)


def _contradictions_before(run: MigrationRun) -> tuple[Contradiction, ...]:
    try:
        before = run.news.last_run()
        return () if before is None else LastRun.from_document(before).contradictions
    except Exception:
        # Only informational: an unreadable old document must not prevent writing the new one.
        return ()


def _refuted(run: MigrationRun, document: RunDocument) -> Collection[str] | None:
    """Return the topics that this run read completely and found good; `None` means all."""
    if not run.evidence.of_attempt(Kind.JUDGE) or document.verdict is None or not document.verdict.is_good:
        return ()
    try:
        has_looked = run.request.reads_whole or isinstance(newest(run, Stored.START), MirrorStarted)
        return (run.request.topics or None) if has_looked else ()
    except Refused:
        return ()
