"""Texts that the findings of all comparisons share; each subject in them ends with its generation or partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.differences import Difference, FirstDifference


@dataclass(frozen=True, slots=True)
class Words:
    """The sentences of a finding about a copy; `{subject}`, `{found}` and `{commands}` are filled in."""

    happened: str
    matters: str
    remedy: str

    def finding(self, code: Code, subject: str, found: str, expected: str, commands: str = "") -> Finding:
        """Return the finding with these sentences."""
        return Finding(
            code,
            subject,
            found,
            expected,
            self.remedy.format(commands=commands),
            happened=self.happened.format(subject=subject, found=found.rstrip(".")),
            matters=self.matters,
        )


DIFFERS = Words(
    "The copy of {subject}, differs from its source: {found}.",
    "Consumers that move to the target would not read the records that the source has.",
    "Compare both sides: {commands}. If the copy is wrong, copy the topic again with a second migration file.",
)
UNREADABLE = Words(
    "Not all records of {subject}, could be read: {found}.",
    "Records that cannot be read cannot be compared, so the copy is not proved.",
    "Raise the topic's retention on both clusters above the time between two runs, and end open transactions. Then "
    "trigger a run in mode validate. Records that are already deleted remain unproved.",
)
BAD_RECORD = Words(
    "Spark could not read a record of {subject}: {found}.",
    "The topic was not compared and is not proved; the other topics were compared.",
    "Leave the topic out of the run, compare it with another reader, such as kcat, and move its groups by hand. If a "
    "producer writes such records by mistake, correct it: the windows of later runs are then compared.",
)
UNPROVED = Words(
    "One side of {subject}, has no record left of some keys: {found}.",
    "The log cleaner of this side may have removed them together with their tombstone, so the copy is not proved.",
    "Trigger runs more often than the topic's delete.retention.ms, and keep each key in one source partition.",
)
OF_A_KILL = Words(
    "The target has more records than the source of {subject}, after MirrorMaker ended ungracefully: {found}.",
    "MirrorMaker may have copied these records without storing its position, so the copy is neither proved nor wrong.",
    "Trigger the run again: MirrorMaker sends such records again, and the next validation decides.{commands}",
)
OF_NEW_PARTITIONS = Words(
    "The target got partitions while MirrorMaker copied {subject}, so keys changed their partition: {found}.",
    "Every record is there, but the order of the records of such keys is unknown.",
    "If consumers need the order of each key, copy the topic again with a new migration file (another name).",
)
SENT_TWICE = Words(
    "The target has more offsets than the source for {subject}, and no stop certificate explains all of them: {found}.",
    "MirrorMaker sent records twice, or another client wrote to the target topic, and the log cleaner has removed some "
    "of them since. Consumers may have read records that were not compared.",
    "Stop other clients that write to the target topic. If no consumer may see such records, copy the topic again with "
    "a new migration file (another name).",
)

# A good verdict on a copy that differs.
EXPLANATIONS: Mapping[Code, Words] = {
    Code.KEYS_IN_SEVERAL_PARTITIONS: Words(
        "The source holds some keys of {subject}, in several partitions: {found}.",
        "Kafka has no order between partitions, so the order of these keys was compared within each partition, where "
        "it is the same.",
        "No action is needed.",
    ),
    Code.RECORDS_COMPACTED: Words(
        "Compaction deleted records of {subject}, on one side: {found}.",
        "Each side compacts at its own time and deletes only records that have a newer one of their key, so consumers "
        "read the same newest records.",
        "No action is needed.",
    ),
    Code.ORDER_NOT_COMPARED: Words(
        "The order of records with different keys could not be compared for {subject}: {found}.",
        "Compaction removed too many records or ran during the comparison. The order of each key was compared and is "
        "the same.",
        "If consumers need the order between keys, trigger a run in mode validate. Otherwise no action is needed.",
    ),
    Code.RECORDS_REPLAYED: Words(
        "MirrorMaker or one of its tasks was killed, and the next one sent records of {subject}, again: {found}.",
        "Consumers of the target may read these records twice.",
        "If consumers must not read records twice, copy the topic again with a new migration file (another name). "
        "Otherwise no action is needed.",
    ),
    Code.ABORTED_RECORDS_COPIED: Words(
        "The target holds records of aborted transactions of {subject}: {found}.",
        "Consumers of the target read them, but read_committed consumers of the source do not.",
        "Set mirror.isolation_level to read_committed, so that MirrorMaker copies no more of them.",
    ),
}


def unreadable_words(*, has_bad_record: bool) -> tuple[Code, Words]:
    """Return the code and the words for records that could not be read."""
    return (Code.RECORD_UNREADABLE, BAD_RECORD) if has_bad_record else (Code.RECORDS_NOT_VERIFIABLE, UNREADABLE)


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
