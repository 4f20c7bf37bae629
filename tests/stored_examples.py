"""Stored documents with as little in them as a test needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.groups.offsets_plan import OffsetsPlan
from kafka_migration.core.ledger.generations import StopCertificate
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.report.run_assembly import concluded
from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.run.run_window import RunWindow
from kafka_migration.core.stored.stored_documents import OffsetsPlanDocument, PreflightDocument, StopDocument
from kafka_migration.core.validation.coverage import TopicCoverage
from kafka_migration.core.validation.judge_document import JudgeDocument, JudgedTopic
from kafka_migration.core.watching.watch import Outcome, WatchEnded

NOW = "2030-01-01T00:00:00+00:00"


def judged(verdict: Verdict = Verdict.PASS, *topics: JudgedTopic) -> JudgeDocument:
    """Return the document of `judge`."""
    return JudgeDocument(at=NOW, verdict=verdict, interval=None, records={}, topics=topics, warnings=())


def judged_topic(topic: str, verdict: str, target_records: int, *, in_all: int) -> JudgedTopic:
    """Return a topic whose copy is proved: what this run compared, and what all runs together prove."""
    whole = replace(TopicCoverage(topic).summary(), standing=verdict, target_records=in_all)
    return JudgedTopic(
        topic=topic,
        verdict=verdict,
        source_records=target_records,
        target_records=target_records,
        whole_verdict=Verdict(verdict),
        whole=whole,
        findings=(),
        differences=None,
    )


def watch_ended(outcome: Outcome, generation: int | None = 1, **values: Any) -> WatchEnded:
    """Return the document of a watch that is over."""
    return WatchEnded(**{"at": NOW, "progress": "", **values}, outcome=outcome, generation=generation)


def stopped(generation: int = 1) -> StopDocument:
    """Return the document of a stop that certified no partition."""
    certificate = StopCertificate(generation, "dag/run#1", NOW, True, 143, "finished", {}, {})
    return StopDocument(NOW, certificate, "", (), None)


def checked(mode: Mode) -> PreflightDocument:
    """Return the document of a preflight that ran no check."""
    return PreflightDocument(
        at=NOW,
        dag_id="dag",
        run_id="run",
        mode=mode,
        digest="d",
        phase=Phase.NEW,
        run_window=RunWindow(),
        checks=(),
        warnings=(),
        accepted=(),
    )


def planned(plan: OffsetsPlan) -> OffsetsPlanDocument:
    """Return the document of a plan of either direction."""
    return OffsetsPlanDocument("d", plan, "", not_moved=(), final=False)


def read_run(document: object) -> RunDocument:
    """Return the run of a `run.json`, with what follows from it if the document lacks that."""
    run = RunDocument.from_document(document)
    return run if run.next_steps else concluded(run)
