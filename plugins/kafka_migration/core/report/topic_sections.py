"""The sections of a report on topics: which a run copied, what it proved about each, and where they differ."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_migration.core.report.run_document import RunDocument
from kafka_migration.core.report.sections import Line, Name, Section, ShellCommand, Table, section_of
from kafka_migration.core.text.shortened import some
from kafka_migration.core.text.terminal_text import record_count
from kafka_migration.core.validation.difference_words import describe_counts, kcat_command
from kafka_migration.core.validation.differences import Difference
from kafka_migration.core.validation.judge_document import JudgedDifferences, JudgedTopic

_HOW_TO_LOOK = (
    "The first differences of each topic; all of them are in the Parquet file next to the validation's result. The "
    "commands show a record if `SOURCE` and `TARGET` are set to the bootstrap servers."
)
# The reasons of a topic that the report lists; the evidence has more.
_MOST_REASONS = 3


def topic_list(run: RunDocument) -> tuple[Section, ...]:
    """Return what the patterns of the migration file found; none for a file without patterns."""
    return section_of("Topics by pattern", tuple(_by_pattern(run)))


def _by_pattern(run: RunDocument) -> Iterator[str]:
    found = run.steps.topic_list
    if found:
        yield f"Selected by the names and patterns of the migration file: {len(found.topics):,} topics."
        if found.new:
            yield f"New on the source: {some(found.new)}."
        if found.vanished:
            yield f"No longer on the source: {some(found.vanished)}."
        yield from (f"Not copied: {topic}, {reason}." for topic, reason in found.left_out.items())


def topics(run: RunDocument) -> tuple[Section, ...]:
    """Return the verdict on each topic, and the first reasons of those that are not proved as a whole."""
    if not run.topics:
        return ()
    verdict_of = "the interval" if run.interval else "this run"
    header = ("Topic", f"Verdict of {verdict_of}", "Source records", "Target records", "Whole topic", "Proved in total")
    return (Section("Validation", (), Table(header, tuple(map(_row, run.topics))), tuple(_reasons(run))),)


def _row(topic: JudgedTopic) -> tuple[Line, ...]:
    return (
        Name(topic.topic),
        topic.verdict,
        record_count(topic.source_records),
        record_count(topic.target_records),
        topic.standing,
        record_count(topic.whole.target_records) if topic.whole else "–",
    )


def _reasons(run: RunDocument) -> Iterator[Line]:
    for topic in run.topics:
        if topic.whole and topic.whole.reasons:
            reasons = "; ".join(topic.whole.reasons[:_MOST_REASONS])
            yield Name(topic.topic), f" as a whole, {topic.standing}: {reasons}"


def differences(run: RunDocument) -> tuple[Section, ...]:
    """Return the first differences of each topic, each with the command that shows its record."""
    parts = tuple(
        _differences(topic.topic, topic.differences)
        for topic in run.topics
        if topic.differences and topic.differences.first
    )
    return (Section("Differences", (_HOW_TO_LOOK,), parts=parts),) if parts else ()


def _differences(topic: str, found: JudgedDifferences) -> Section:
    rows = tuple(_difference(topic, found.target_topic, each) for each in found.first)
    title = (Name(topic), f": {describe_counts(found.counts)}")
    return Section(title, (), Table(("Kind", "Fields", "Source", "Target"), rows))


def _difference(topic: str, target_topic: str, found: Difference) -> tuple[Line, ...]:
    return (
        found.kind,
        ", ".join(found.fields) or "–",
        _command("$SOURCE", topic, found.source_partition, found.source_offset),
        _command("$TARGET", target_topic, found.target_partition, found.target_offset),
    )


def _command(brokers: str, topic: str, partition: int | None, offset: int | None) -> str:
    if partition is None or offset is None:
        return "–"
    return ShellCommand(kcat_command(brokers, topic, partition, offset).strip("`"))
