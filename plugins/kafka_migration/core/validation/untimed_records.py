"""Timestamps that were not compared, and source records without one: warnings to the verdict on a topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import replace

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.validation.judging import TopicVerdict
from kafka_migration.core.validation.validation_contract import ValidationRequest, ValidationResult


def with_untimed_records(topics: Iterable[TopicVerdict], result: ValidationResult) -> tuple[TopicVerdict, ...]:
    """Return the verdicts with a warning for each topic of which the source has records without a timestamp.

    MirrorMaker gives their copies the time of the copy, so these timestamps are not compared, and the verdict is at
    best `WARN`. A result has no such records of a topic whose timestamps are not compared at all.
    """
    counts: Counter[str] = Counter()
    for partition in result.partitions:
        counts[partition.window.topic] += partition.source.untimed
    return tuple(_with_count(topic, counts[topic.topic]) if counts[topic.topic] else topic for topic in topics)


def _with_count(topic: TopicVerdict, count: int) -> TopicVerdict:
    finding = Finding(
        Code.RECORDS_WITHOUT_TIMESTAMP,
        f"topic {topic.topic}",
        f"{count:,} source records without a timestamp, of {topic.source_records:,}",
        "a timestamp on every record, if timestamps must be proved too",
        "If the time of the copy does not matter to consumers and retention, set timestamps: false in the topic's "
        "item of topics in the migration file.",
        happened=f"On the source, {count:,} of the {topic.source_records:,} records of topic {topic.topic} have no "
        "timestamp, because clients or brokers before Kafka 0.10 wrote them.",
        matters="MirrorMaker gave their copies the time of the copy, which consumers and the target's retention use. "
        "All other timestamps, and everything else, were compared.",
    )
    return _warned(topic, finding, Verdict.WARN)


def with_untimed(
    topics: Iterable[TopicVerdict], request: ValidationRequest, declared: Collection[str]
) -> tuple[TopicVerdict, ...]:
    """Return the verdicts with a warning for each topic whose timestamps were not compared.

    Its verdict is at best `WARN`, unless the migration file declares that its timestamps do not matter.

    :param declared: the topics whose timestamps do not matter, as the file says
    """
    return tuple(
        _untimed(topic, is_declared=topic.topic in declared) if topic.topic in request.untimed_topics else topic
        for topic in topics
    )


def _untimed(topic: TopicVerdict, *, is_declared: bool) -> TopicVerdict:
    why = "the migration file excludes them" if is_declared else "the target sets its own (LogAppendTime)"
    finding = Finding(
        Code.TIMESTAMPS_NOT_COMPARED,
        f"topic {topic.topic}",
        "timestamps excluded by the migration file"
        if is_declared
        else "message.timestamp.type=LogAppendTime on the target",
        "CreateTime, if timestamps must be proved too",
        _REMEDY_DECLARED if is_declared else _REMEDY_UNTIMED,
        happened=f"The timestamps of topic {topic.topic} were not compared, because {why}.",
        matters="Keys, values, headers and order were compared, but consumers of the target may see other timestamps "
        "than on the source.",
    )
    return _warned(topic, finding, Verdict.PASS if is_declared else Verdict.WARN)


def _warned(topic: TopicVerdict, finding: Finding, least: Verdict) -> TopicVerdict:
    """Return the verdict on a topic with a warning; it is at best `least`."""
    return replace(
        topic,
        verdict=worst([topic.verdict, least]),
        verdicts=tuple(worst([verdict, least]) for verdict in topic.verdicts),
        warnings=(*topic.warnings, finding),
    )


_REMEDY_DECLARED = (
    "No action is needed. To compare them, remove timestamps: false from the topic in the migration file."
)
_REMEDY_UNTIMED = (
    "If the time of the copy does not matter, set timestamps: false in the topic's item of topics in the migration "
    "file. Otherwise set message.timestamp.type to CreateTime on the target, and copy the topic again with a new "
    "migration file (another name)."
)
