"""Judges Spark's measurements: records the judgement in the ledger, and returns the verdict and its document."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

from kafka_migration.core.documents.codec import written
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, ValidationFailed
from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.groups.unproved import stopping_findings, unproved_copies
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.ledger.generations import Generation, Judgement, SchemaIdsFound
from kafka_migration.core.ledger.interval_bounds import TopicAnswer
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.report.metrics import MetricsOf
from kafka_migration.core.run.task_steps import TaskId
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.text.terminal_text import record_count
from kafka_migration.core.validation.coverage import TopicCoverage
from kafka_migration.core.validation.coverage_rules import coverage_of
from kafka_migration.core.validation.judge_document import (
    NOTHING,
    NOTHING_NEW,
    JudgedDifferences,
    JudgeDocument,
    JudgedTopic,
    RecordCounts,
)
from kafka_migration.core.validation.judging import TopicVerdict, comparisons_of, judge_topics
from kafka_migration.core.validation.judging_by_key import GenerationEvents, lengths_of
from kafka_migration.core.validation.schemas import (
    SchemaFindings,
    Schemas,
    known_ids,
    parts_of,
    schema_findings,
    unread_generations,
)
from kafka_migration.core.validation.untimed_records import with_untimed, with_untimed_records
from kafka_migration.core.validation.validation_contract import (
    ValidationRequest,
    ValidationResult,
    unanswered_ids,
    unanswered_windows,
)
from kafka_migration.steps.backfill.backfilled_interval import IntervalAnswered, recorded_answer
from kafka_migration.steps.reading.spark_documents import understood
from kafka_migration.steps.run.guards import hold_ledger
from kafka_migration.steps.run.migration_run import MigrationRun
from kafka_migration.steps.run.task_frame import Summary, log_findings

log = logging.getLogger(__name__)


# The task that measures what is judged.
MEASURING = TaskId.VALIDATE_TOPICS
Covered = Mapping[str, TopicCoverage]


@dataclass(frozen=True, slots=True)
class Judged:
    """The verdict of a run, and the document of `judge`."""

    verdict: Verdict
    document: JudgeDocument


@dataclass(frozen=True, slots=True)
class ProvedTopics:
    """What `judge` returns to Airflow, and the topics whose copy it proved."""

    summary: Summary
    topics: tuple[str, ...]


def judge_copy(run: MigrationRun) -> ProvedTopics:
    """Judge, record, and raise if the verdict is bad, unless groups of other topics can be planned."""
    judged = judge(run)
    document = judged.document
    run.evidence.write(Stored.JUDGE, document)
    run.deployment.send_metrics(*MetricsOf(run.name).judged(judged.verdict, run.clock.now()))
    for row in document.topics:
        log.info("%-40s %s", row.topic, _words(row))
    left_out = () if judged.verdict.is_good else _left_out(run, document)
    proved = tuple(row.topic for row in document.topics if row.topic not in left_out)
    return ProvedTopics({"verdict": str(judged.verdict), "records": written(document.records)}, proved)


def _left_out(run: MigrationRun, document: JudgeDocument) -> Collection[str]:
    """Return the topics without which the groups of the others can be planned; raise if there is no such way."""
    findings = [finding for row in document.topics for finding in row.findings]
    topics = run.migration.topics
    unproved = unproved_copies(run.ledger.known(), topics)
    if not run.request.mode.plans_groups or stopping_findings(unproved, topics, document):
        raise ValidationFailed(findings)
    log_findings(findings)
    return unproved


def _words(row: JudgedTopic) -> str:
    """Return what this run compared in a topic, and what all runs together prove, as text."""
    words = f"{row.verdict}, {record_count(row.source_records)} records compared by this run"
    whole = row.whole
    return f"{words}; as a whole {whole.standing}, {record_count(whole.target_records)} records" if whole else words


def judge(run: MigrationRun) -> Judged:
    """Judge the newest measurements, add the judgement to the ledger, and answer the run's interval if it has one.

    Raises `ValidationFailed` (`VALIDATION_RESULT_MISSING`) if a requested window was not measured.
    """
    result = understood(lambda: run.evidence.require(Stored.VALIDATION_RESULT), MEASURING)
    request = understood(lambda: run.evidence.require(Stored.VALIDATION_REQUEST), MEASURING)
    _require_answered(request, result)
    topics = _topics(run, request, result)
    _record(run, _judgement(run, request, result, topics))
    record_schema_ids(run, request, result)
    answered = recorded_answer(run)
    covered = coverage_of(run.ledger.known())
    on_copy = _verdict(run, topics, answered, covered)
    # A registry that does not answer must not hide a wrong copy.
    schemas = compare_schemas(run) if on_copy.is_good or _may_continue(run, on_copy) else {}
    verdict = worst((on_copy, verdict_on_schemas(schemas)))
    return Judged(verdict, _document(run, verdict, topics, answered, covered, schemas))


def _may_continue(run: MigrationRun, on_copy: Verdict) -> bool:
    """Return whether the run may go on to move the groups of other topics, whose schemas must be right."""
    return run.request.mode.plans_groups and on_copy is Verdict.NOT_VERIFIABLE


def _require_answered(request: ValidationRequest, result: ValidationResult) -> None:
    left_out = [
        (f"topic {window.topic}, partition {window.partition}", "no measurement of this window")
        for window in unanswered_windows(request, result)
    ]
    left_out += [(f"target topic {topic}", "no schema ids") for topic in unanswered_ids(request, result)]
    if left_out:
        raise ValidationFailed(
            Finding(
                Code.VALIDATION_RESULT_MISSING,
                subject,
                found,
                "one entry per request",
                "Clear the task validate_topics with its downstream tasks to measure again. If this happens again, "
                "report a bug of this package.",
                happened=f"For {subject}, the result of validate_topics has {found}.",
                matters="Without a measurement the copy of the topic has no verdict, so the task failed.",
            )
            for subject, found in left_out
        )


def _topics(run: MigrationRun, request: ValidationRequest, result: ValidationResult) -> tuple[TopicVerdict, ...]:
    migration = run.migration
    one_sent_each = () if migration.mirror.exactly_once else request.compacted_topics.get("target", ())
    events = _events(run.ledger.known(), request.generations, one_sent_each)
    judged = judge_topics(result, events=events, tolerance=migration.validation.tolerance)
    declared = {topic for topic in request.untimed_topics if migration.settings_of(topic).timestamps is False}
    return with_untimed(with_untimed_records(judged, result), request, declared)


def _events(ledger: Ledger, compared: Collection[int], one_sent_each: Collection[str]) -> dict[str, GenerationEvents]:
    """Return, per topic, what is known about the compared generations.

    :param one_sent_each: the topics whose target offsets are each a record that was sent and may be gone
    """
    found: dict[str, list[Generation]] = {}
    for generation in (g for g in ledger.generations if g.number in compared):
        for topic, mine in generation.by_topic().items():
            found.setdefault(topic, []).append(mine)
    return {
        topic: GenerationEvents(
            killed={g.number for g in generations if g.was_killed},
            resent={g.number for g in generations if g.has_resent},
            grown={g.number for g in generations if g.grown_topics},
            lengths=lengths_of(generations, topic) if topic in one_sent_each else None,
        )
        for topic, generations in found.items()
    }


def _record(run: MigrationRun, judgement: Judgement) -> None:
    if judgement.generations and judgement.topics:
        hold_ledger(run)
        run.ledger.append(judgement.to_document())


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
    run: MigrationRun, topics: tuple[TopicVerdict, ...], answered: IntervalAnswered | None, covered: Covered
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
    answered: IntervalAnswered | None,
    covered: Covered,
    schemas: Mapping[str, SchemaFindings],
) -> JudgeDocument:
    """Return the document of `judge`: the verdict, and one row per topic of the run."""
    measured = {topic.topic: topic for topic in topics}
    rows = tuple(
        _topic(topic, measured.get(topic), answered, covered.get(topic), schemas.get(topic, SchemaFindings()))
        for topic in run.migration.topics
    )
    counted = rows if answered else [row for row in rows if row.topic in measured]
    return JudgeDocument(
        at=run.now(),
        verdict=verdict,
        interval=answered.answer if answered else None,
        records={row.topic: RecordCounts(row.source_records, row.target_records) for row in counted},
        topics=rows,
        warnings=(
            *(warning for topic in topics for warning in topic.warnings),
            *(warning for found in schemas.values() for warning in found.warnings),
        ),
    )


def _topic(
    name: str,
    measured: TopicVerdict | None,
    answered: IntervalAnswered | None,
    covered: TopicCoverage | None,
    schemas: SchemaFindings,
) -> JudgedTopic:
    """Return the row of one topic: the verdict of this run, and what all runs together prove."""
    findings = (
        *(measured.findings if measured else ()),
        *(answered.findings.get(name, ()) if answered else ()),
        *schemas.wrong,
    )
    counts = _answered_counts(answered.answer.topics.get(name)) if answered else _measured_counts(measured)
    return JudgedTopic(
        topic=name,
        verdict=counts.verdict,
        source_records=counts.source,
        target_records=counts.target,
        whole_verdict=None if covered is None else covered.verdict,
        whole=None if covered is None else covered.summary(),
        findings=findings,
        differences=None if measured is None else _differences(measured),
    )


def _differences(measured: TopicVerdict) -> JudgedDifferences:
    found = measured.differences
    return JudgedDifferences(found.counts, found.first, measured.target_topic)


class _Counts(NamedTuple):
    """The verdict of a topic as text, and its records on both sides; `None`: unknown."""

    verdict: str
    source: int | None
    target: int | None


def _measured_counts(measured: TopicVerdict | None) -> _Counts:
    if measured is None:
        return _Counts(NOTHING_NEW, 0, 0)
    return _Counts(str(measured.verdict), measured.source_records, measured.target_records)


def _answered_counts(answer: TopicAnswer | None) -> _Counts:
    """Return the counts of an interval; a good verdict proves equal numbers of records on source and target."""
    if answer is None or answer.verdict is None:
        return _Counts(NOTHING, 0, 0)
    return _Counts(str(answer.verdict), answer.records, answer.records if answer.verdict.is_good else None)


def record_schema_ids(run: MigrationRun, request: ValidationRequest, result: ValidationResult) -> None:
    """Add the ids that Spark found to the ledger, if the migration file names registries."""
    if not request.generations or not request.schema_ids:
        return
    names = {window.target_topic: window.topic for window in request.windows}
    parts = tuple(replace(each, topic=names[each.topic]) for each in result.schema_ids)
    found = SchemaIdsFound(run.identity.holder, run.now(), request.topic_generations, parts)
    if any(replace(each, at=found.at) == found for each in run.ledger.known().schema_ids):
        return
    hold_ledger(run)
    run.ledger.append(found.to_document())


def compare_schemas(run: MigrationRun) -> dict[str, SchemaFindings]:
    """Compare the schemas of all ids that the ledger knows of the run's topics; nothing without registries.

    Raises `Refused` (`REGISTRY_REFUSED`), or `TransientError` if a registry does not answer.
    """
    named, ledger = run.migration.schema_registry, run.ledger.known()
    wanted = parts_of(named, run.migration.topics)
    if named is None or not wanted:
        return {}
    known = known_ids(ledger, wanted)
    source = _schemas(run, "source", named.source, {i for parts in known.values() for part in parts for i in part.ids})
    target = _schemas(run, "target", named.target, (i for i, schema in source.items() if schema is not None))
    strict, unread = run.request.mode.plans_groups, unread_generations(ledger, wanted)
    return {
        topic: schema_findings(topic, known[topic], source, target, unread[topic], strict=strict) for topic in wanted
    }


def verdict_on_schemas(found: Mapping[str, SchemaFindings]) -> Verdict:
    """Return the verdict on the schemas of all topics. Unknown ids change it only where groups are planned."""
    wrong = {finding.code for each in found.values() for finding in each.wrong}
    warned = {finding.code for each in found.values() for finding in each.warnings}
    if wrong & {Code.SCHEMA_MISSING, Code.SCHEMA_DIFFERS}:
        return Verdict.FAIL
    if wrong:
        return Verdict.NOT_VERIFIABLE
    return Verdict.WARN if Code.SCHEMA_IDS_NOT_READ in warned else Verdict.PASS


def _schemas(run: MigrationRun, side: Side, connection: str, ids: Iterable[int]) -> Schemas:
    with closing(run.deployment.open_registry(side, connection)) as registry:
        return {schema_id: registry.schema(schema_id) for schema_id in sorted(ids)}
