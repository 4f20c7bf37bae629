"""Texts that the findings of all comparisons share."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.text.shell import shell_word
from kafka_migration.core.validation.differences import Difference, DifferenceKind, FirstDifference

UNREADABLE_REMEDY = (
    "Records that cannot be read cannot be proved. Raise the retention above the time between two runs, end "
    "open transactions, and validate again. Records that are already deleted remain unproved."
)

BAD_RECORD_REMEDY = (
    "Spark cannot read this record, so its topic was not compared and is not proved. The other topics were compared. "
    "Leave the topic out of the run, compare it with another reader, such as kcat, and move its groups by hand. If a "
    "producer writes such records by mistake, correct it: the windows of later runs are then compared."
)

UNPROVED_REMEDY = (
    "One side has no record left of some keys: its log cleaner may have removed them together with their tombstone. "
    "Validate before delete.retention.ms has passed, and keep each key in one source partition."
)

# The remedy for a good verdict on a copy that differs.
EXPLANATIONS = {
    Code.KEYS_IN_SEVERAL_PARTITIONS: "The source holds some keys in several partitions, and Kafka has no order between "
    "partitions. The order within each partition was compared and is the same.",
    Code.RECORDS_COMPACTED: "Each side compacts at its own time, and deletes records that have a newer one of their "
    "key. No action is needed.",
    Code.ORDER_NOT_COMPARED: "The order of each key was compared and is the same. The order of records with different "
    "keys could not be compared, because compaction removed too many records or ran in the meantime. Validate again.",
    Code.RECORDS_REPLAYED: "MirrorMaker was killed, and the next process sent these records again. Consumers of the "
    "target may read them twice. No action is needed if they may.",
    Code.ABORTED_RECORDS_COPIED: "Consumers of the target read them, but read_committed consumers of the source do "
    "not. With mirror.isolation_level read_committed MirrorMaker does not copy them.",
}


def topic_words(topic: str, target_topic: str) -> str:
    """Return the topic's name for a text: the source's name, with the target's if it differs."""
    return f"topic {topic}" if target_topic == topic else f"topic {topic} (target topic {target_topic})"


def kcat_command(brokers: str, topic: str, partition: int, offset: int) -> str:
    """Return the command that shows the record at an offset."""
    return f"`kcat -C -b {brokers} -t {shell_word(topic)} -p {partition} -o {offset} -c 1`"


def compare_commands(*records: tuple[str, str, int | None, int | None]) -> str:
    """Return the commands that show these records: side, topic, partition and offset of each.

    A record without an offset has no command.
    """
    return " and ".join(
        kcat_command(f"<{side} bootstrap servers>", topic, partition, offset)
        for side, topic, partition, offset in records
        if partition is not None and offset is not None
    )


def record_words(source_records: int, target_records: int) -> str:
    """Return how many records either side has."""
    return f"{source_records:,} source records, {target_records:,} target records"


def describe_counts(counts: Mapping[DifferenceKind, int] | Mapping[str, int]) -> str:
    """Return how many differences of each kind there are, as a phrase."""
    return ", ".join(f"{count:,} {kind}" for kind, count in counts.items())


def describe_kind(difference: FirstDifference | Difference) -> str:
    """Return the kind of a difference and the fields in which the records differ, as a phrase."""
    return f"{difference.kind} in {', '.join(difference.fields)}" if difference.fields else str(difference.kind)
