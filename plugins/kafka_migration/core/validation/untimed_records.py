"""Source records without a timestamp: the verdict on a topic names their number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.validation.judging import TopicVerdict
from kafka_migration.core.validation.validation_contract import ValidationResult


def with_untimed_records(topics: Iterable[TopicVerdict], result: ValidationResult) -> tuple[TopicVerdict, ...]:
    """Return the verdicts with a warning for each topic of which the source has records without a timestamp.

    MirrorMaker gives their copies the time of the copy, so these timestamps are not compared, and the verdict is at
    best `WARN`. A result has no such records of a topic whose timestamps are not compared at all.
    """
    counts: Counter[str] = Counter()
    for partition in result.partitions:
        counts[partition.window.topic] += partition.source.untimed
    return tuple(_warned(topic, counts[topic.topic]) if counts[topic.topic] else topic for topic in topics)


def _warned(topic: TopicVerdict, count: int) -> TopicVerdict:
    finding = Finding(
        Code.RECORDS_WITHOUT_TIMESTAMP,
        f"topic {topic.topic}",
        f"{count:,} source records without a timestamp, of {topic.source_records:,}",
        "a timestamp on every record, if timestamps must be proved too",
        "If this time does not matter to consumers and retention, set timestamps: false in the topic's item of topics "
        "in the migration file.",
        happened=f"The source of topic {topic.topic} has {count:,} records without a timestamp, of "
        f"{topic.source_records:,}, because clients or brokers before Kafka 0.10 wrote them.",
        matters="MirrorMaker gave their copies the time of the copy, so consumers and the target's retention see that "
        "time; everything else was compared, and all other timestamps.",
    )
    return replace(
        topic,
        verdict=worst([topic.verdict, Verdict.WARN]),
        verdicts=tuple(worst([verdict, Verdict.WARN]) for verdict in topic.verdicts),
        warnings=(*topic.warnings, finding),
    )
