"""`judge`: derives verdicts from Spark's measurements, and answers a backfill's interval from the ledger."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from airflow.sdk import Context

from kafka_migration.adapters.metrics import emit
from kafka_migration.core.evidence.documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, ValidationFailed
from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.ledger.interval_bounds import TopicAnswer
from kafka_migration.core.ledger.judgements import Judgement
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.run_window import Interval
from kafka_migration.core.migration.settings import Mode
from kafka_migration.core.report.metrics import MetricsOf
from kafka_migration.core.report.run_report import record_count
from kafka_migration.core.validation.comparisons import comparisons_of
from kafka_migration.core.validation.contract import ValidationRequest, ValidationResult, unanswered_windows
from kafka_migration.core.validation.coverage import TopicCoverage
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.core.validation.judging import TopicVerdict, judge_topics, with_untimed
from kafka_migration.core.validation.judging_by_key import GenerationEvents
from kafka_migration.orchestration.documents import understood
from kafka_migration.orchestration.intervals import Answered, answer_interval
from kafka_migration.orchestration.lineage import CopiedTopics, TellsLineage
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary, hold_reservation
from kafka_migration.orchestration.run import MigrationRun

Covered = Mapping[str, TopicCoverage]

# The task that measures what this one judges.
MEASURING = "validate_topics"


class JudgeOperator(TellsLineage, MigrationOperator):
    """Judge the newest measurements, add the verdicts to the ledger, and fail on anything that is not proved.

    Verdicts: `PASS` every record of the window is on the target, unchanged and in order; `FAIL` something is
    missing, extra, altered or out of order; `NOT_VERIFIABLE` records can no longer be read or be attributed.

    In mode `interval` the verdict applies to the records of the run's interval, no matter which runs copied and judged
    them. A changed answer is added to the ledger.

    After a good verdict, OpenLineage receives the source topics and the target topics to which they were copied.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Judge, record, and raise if the verdict is FAIL or NOT_VERIFIABLE."""
        result = understood(ValidationResult.from_document, run.evidence.require(Kind.VALIDATION_RESULT), MEASURING)
        request = _answered_request(run, result)
        ledger = run.ledger.read()
        judged = judge_topics(
            result,
            events=_events(ledger, request.generations),
            tolerance=run.migration.validation.tolerance,
        )
        topics = with_untimed(judged, request, run.migration.validation.timestamps)
        judgement = _judgement(run, request, result, topics)
        if judgement.generations and judgement.topics:
            hold_reservation(run)
            run.ledger.append(judgement.to_document())
            ledger = run.ledger.read()
        answered, covered = self._answer(run, ledger), coverage_of(ledger)
        verdict = _verdict(run, topics, answered, covered)
        document = _document(run, verdict, topics, answered, covered)
        run.evidence.write(Kind.JUDGE, document)
        emit(MetricsOf(run.name).verdict(verdict))
        for row in document["topics"]:
            self.log.info("%-40s %s", row["topic"], _words(row))
        if not verdict.is_good:
            raise ValidationFailed(Finding.from_document(f) for row in document["topics"] for f in row["findings"])
        self.copied = partial(CopiedTopics.of, run, [row["topic"] for row in document["topics"]])
        return {"verdict": str(verdict), "records": document["records"]}

    def ends_mode(self, mode: Mode) -> bool:
        """Only a mode that plans the consumer groups continues."""
        return not mode.plans_groups

    def _answer(self, run: MigrationRun, ledger: Ledger) -> Answered | None:
        """Answer the run's interval and add the answer to the ledger, unless it is already there."""
        if run.request.mode is not Mode.INTERVAL:
            return None
        answered = answer_interval(run, _interval(run), ledger)
        known = ledger.answers.get(answered.answer.interval)
        if known is None or known.topics != answered.answer.topics:
            hold_reservation(run)
            run.ledger.append(answered.answer.to_document())
        return answered


def _words(row: Mapping[str, Any]) -> str:
    """Return what this run compared in a topic, and what all runs together prove, as text."""
    words = f"{row['verdict']}, {record_count(row['source_records'])} records compared by this run"
    whole = row["whole"]
    return (
        f"{words}; as a whole {whole['standing']}, {record_count(whole['target_records'])} records" if whole else words
    )


def _interval(run: MigrationRun) -> Interval:
    """Return the interval of a run in mode `interval`; `plan` has refused a run without one."""
    interval = run.occasion.interval
    assert interval is not None
    return interval


def _answered_request(run: MigrationRun, result: ValidationResult) -> ValidationRequest:
    """Return the request of a result; refuse a result that lacks a requested window."""
    request = understood(ValidationRequest.from_document, run.evidence.require(Kind.VALIDATION_REQUEST), MEASURING)
    left_out = unanswered_windows(request, result)
    if left_out:
        raise ValidationFailed(
            Finding(
                Code.VALIDATION_RESULT_MISSING,
                f"topic {window.topic}, partition {window.partition}",
                "no measurement of this window",
                "one entry per requested window",
                "Clear validate_topics to measure again. If it happens twice, report a bug.",
            )
            for window in left_out
        )
    return request


def _events(ledger: Ledger, compared: Collection[int]) -> dict[str, GenerationEvents]:
    """Return, per topic, what is known about the compared generations."""
    generations = [g for g in ledger.generations if g.number in compared and g.stop is not None]
    return {
        topic: GenerationEvents(
            killed={g.number for g in generations if topic in g.topics and g.stop and not g.stop.graceful},
            grown={g.number for g in generations if topic in g.grown_topics},
        )
        for topic in {topic for g in generations for topic in g.topics}
    }


def _judgement(
    run: MigrationRun, request: ValidationRequest, result: ValidationResult, topics: tuple[TopicVerdict, ...]
) -> Judgement:
    """Return the judgement of exactly what was measured, regardless of later ledger entries."""
    whole = run.request.reads_whole
    return Judgement(
        run=run.identity.holder,
        at=run.now(),
        whole=whole,
        generations=request.generations,
        topics={topic.topic: topic.verdict for topic in topics},
        source_records={topic.topic: topic.source_records for topic in topics},
        digest=request.digest,
        comparisons=comparisons_of(result, {topic.topic: topic.verdicts for topic in topics}, whole=whole),
    )


def _verdict(
    run: MigrationRun, topics: tuple[TopicVerdict, ...], answered: Answered | None, covered: Covered
) -> Verdict:
    """Return the worst verdict of interval and measurements; a good one on a copy known to be bad becomes WARN."""
    whole = [covered[topic].verdict for topic in run.migration.topics if topic in covered]
    is_known_bad = any(verdict is not None and not verdict.is_good for verdict in whole)
    interval = answered.answer.verdict if answered else Verdict.PASS
    return worst([interval, *(t.verdict for t in topics), Verdict.WARN if is_known_bad else Verdict.PASS])


def _document(
    run: MigrationRun,
    verdict: Verdict,
    topics: tuple[TopicVerdict, ...],
    answered: Answered | None,
    covered: Covered,
) -> dict[str, Any]:
    measured = {topic.topic: topic for topic in topics}
    rows = [_topic(topic, measured.get(topic), answered, covered.get(topic)) for topic in run.migration.topics]
    counted = rows if answered else [row for row in rows if row["topic"] in measured]
    return {
        "at": run.now(),
        "verdict": str(verdict),
        "interval": answered and answered.answer.to_document(),
        "records": {r["topic"]: {"source": r["source_records"], "target": r["target_records"]} for r in counted},
        "topics": rows,
        "warnings": [warning.to_document() for topic in topics for warning in topic.warnings],
    }


def _topic(
    name: str, measured: TopicVerdict | None, answered: Answered | None, covered: TopicCoverage | None
) -> dict[str, Any]:
    """Return the row of one topic: the verdict of this run, and what all runs together prove."""
    findings = [*(measured.findings if measured else ()), *(answered.findings.get(name, ()) if answered else ())]
    return {
        "topic": name,
        **(_answered_counts(answered.answer.topics.get(name)) if answered else _measured_counts(measured)),
        "whole_verdict": None if covered is None or covered.verdict is None else str(covered.verdict),
        "whole": covered and covered.summary(),
        "findings": [finding.to_document() for finding in findings],
        "differences": measured and {"target_topic": measured.target_topic, **measured.differences.to_document()},
    }


def _measured_counts(measured: TopicVerdict | None) -> dict[str, Any]:
    if measured is None:
        return {"verdict": "nothing new", "source_records": 0, "target_records": 0}
    return {
        "verdict": str(measured.verdict),
        "source_records": measured.source_records,
        "target_records": measured.target_records,
    }


def _answered_counts(answer: TopicAnswer | None) -> dict[str, Any]:
    """Return the counts of an interval; a good verdict proves equal numbers of records on source and target."""
    if answer is None or answer.verdict is None:
        return {"verdict": "nothing", "source_records": 0, "target_records": 0}
    return {
        "verdict": str(answer.verdict),
        "source_records": answer.records,
        "target_records": answer.records if answer.verdict.is_good else None,
    }
