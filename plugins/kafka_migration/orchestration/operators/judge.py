"""`judge`: turns what Spark measured into verdicts; a pure step over two documents and the ledger."""

from __future__ import annotations

from typing import Any

from airflow.sdk import Context

from kafka_migration.core.codes import Code
from kafka_migration.core.errors import Finding, ValidationFailed
from kafka_migration.core.evidence import Kind
from kafka_migration.core.judging import TopicVerdict, judge_topics
from kafka_migration.core.ledger import Judgement, Ledger
from kafka_migration.core.validation import ValidationRequest, ValidationResult, unanswered_windows
from kafka_migration.core.verdict import Verdict, worst
from kafka_migration.orchestration.operators.base import MigrationOperator, Summary
from kafka_migration.orchestration.run import MigrationRun


class JudgeOperator(MigrationOperator):
    """Judge the newest measurements, add the verdicts to the ledger, fail on anything that is not proved.

    Verdicts: `PASS` every record of the window is on the target, unchanged and in order; `FAIL` something is
    missing, extra, altered or out of order; `NOT_VERIFIABLE` records can no longer be read or be attributed.
    """

    def step(self, run: MigrationRun, context: Context) -> Summary:
        """Judge, record, raise when the verdict is FAIL or NOT_VERIFIABLE."""
        result = ValidationResult.from_document(run.evidence.require(Kind.VALIDATION_RESULT))
        ledger = run.ledger.read()
        _require_complete(run, result)
        topics = judge_topics(result, ungraceful=_ungraceful_generations(ledger))
        judgement = _judgement(run, ledger, topics)
        run.ledger.append(judgement.to_document())
        ledger = run.ledger.read()
        verdict = _verdict(run, topics, ledger)
        document = _document(run, verdict, topics, ledger)
        run.evidence.write(Kind.JUDGE, document)
        for topic in topics:
            self.log.info("%-40s %s, %s records", topic.topic, topic.verdict, f"{topic.source_records:,}")
        findings = [finding for topic in topics for finding in topic.findings]
        if not verdict.is_good:
            raise ValidationFailed(findings)
        return {"verdict": str(verdict), "records": document["records"]}


def _require_complete(run: MigrationRun, result: ValidationResult) -> None:
    """Refuse a result that leaves out a window of its request."""
    request = ValidationRequest.from_document(run.evidence.require(Kind.VALIDATION_REQUEST))
    left_out = unanswered_windows(request, result)
    if left_out:
        raise ValidationFailed(
            Finding(
                Code.VALIDATION_RESULT_MISSING,
                f"topic {window.topic}, partition {window.partition}",
                "no measurement of this window",
                "one entry per requested window",
                "Clear validate_topics to measure again; if it happens twice, report it as a fault of the job.",
            )
            for window in left_out
        )


def _ungraceful_generations(ledger: Ledger) -> frozenset[int]:
    return frozenset(g.number for g in ledger.generations if g.stop is not None and not g.stop.graceful)


def _judgement(run: MigrationRun, ledger: Ledger, topics: tuple[TopicVerdict, ...]) -> Judgement:
    whole = not run.request.mode.mirrors
    generations = ledger.generations if whole else ledger.pending_for(run.identity.holder)
    return Judgement(
        run=run.identity.holder,
        at=run.now(),
        whole=whole,
        generations=tuple(g.number for g in generations if g.stop is not None),
        topics={topic.topic: topic.verdict for topic in topics},
        source_records={topic.topic: topic.source_records for topic in topics},
    )


def _verdict(run: MigrationRun, topics: tuple[TopicVerdict, ...], ledger: Ledger) -> Verdict:
    """Return the worst of this run's verdicts; a good run over a copy known to be bad is a warning."""
    whole = [ledger.topic_verdict(topic) for topic in run.migration.topics]
    is_known_bad = any(verdict is not None and not verdict.is_good for verdict in whole)
    return worst([*(t.verdict for t in topics), Verdict.WARN if is_known_bad else Verdict.PASS])


def _document(run: MigrationRun, verdict: Verdict, topics: tuple[TopicVerdict, ...], ledger: Ledger) -> dict[str, Any]:
    judged = {topic.topic: topic for topic in topics}
    return {
        "at": run.now(),
        "verdict": str(verdict),
        "records": {t.topic: {"source": t.source_records, "target": t.target_records} for t in topics},
        "topics": [_topic(topic, judged.get(topic), ledger) for topic in run.migration.topics],
    }


def _topic(name: str, judged: TopicVerdict | None, ledger: Ledger) -> dict[str, Any]:
    """Return what is known of one topic: this run's verdict, if it read anything, and the whole topic's."""
    return {
        "topic": name,
        "verdict": str(judged.verdict) if judged else "nothing new",
        "source_records": judged.source_records if judged else 0,
        "target_records": judged.target_records if judged else 0,
        "whole_verdict": _text(ledger.topic_verdict(name)),
        "findings": [finding.to_document() for finding in judged.findings] if judged else [],
    }


def _text(verdict: Verdict | None) -> str | None:
    return None if verdict is None else str(verdict)
