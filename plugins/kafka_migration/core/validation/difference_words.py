"""Words that findings on differences share, whichever comparison found them."""

from __future__ import annotations

import textwrap

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.shell import shell_word
from kafka_migration.core.validation.differences import Differences

UNREADABLE_REMEDY = (
    "What can no longer be read cannot be proved. Raise the retention above the time between two runs, "
    "end an open transaction, and validate again; records already deleted stay unproved."
)

UNPROVED_REMEDY = (
    "One side has nothing left of some keys, and its cleaner may have removed them together with the tombstone that "
    "deleted them. Validate before delete.retention.ms is over, and without keys in several source partitions."
)

# What to say beside a good verdict on a copy that differs.
EXPLANATIONS = {
    Code.KEYS_IN_SEVERAL_PARTITIONS: "The source holds keys in several partitions, between which Kafka has no order. "
    "Within each of them the order was compared, and kept.",
    Code.RECORDS_COMPACTED: "Either side deletes records that have a newer one of their key, whenever it compacts. "
    "Nothing is to be done.",
    Code.ORDER_NOT_COMPARED: "Each key was compared, and its order kept. In what order records of different keys are "
    "could not be compared, because compaction had removed too many, or went on meanwhile. Validate again.",
    Code.RECORDS_REPLAYED: "Consumers of the target read them twice.",
    Code.ABORTED_RECORDS_COPIED: "Consumers of the target read them, which those of the source that read committed "
    "records do not. With mirror.isolation_level read_committed MirrorMaker leaves them out.",
}


# A longer line of a task log ends outside a browser window of 1440 pixels.
_LINE_WIDTH = 96


def finding_lines(finding: Finding) -> list[str]:
    """Return a finding as lines for a log: code and subject, what was found, what was expected, what to do."""
    parts = (("Found", finding.found), ("Expected", finding.expected), ("What to do", finding.remedy))
    return [f"{finding.code} · {finding.subject}", *(line for part in parts for line in _wrapped(*part))]


def _wrapped(title: str, text: str) -> list[str]:
    return textwrap.wrap(
        f"{title}: {text}",
        _LINE_WIDTH,
        initial_indent="  ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def topic_words(topic: str, target_topic: str) -> str:
    """Return how a topic is spoken of: by the source's name, with the target's if that is another."""
    return f"topic {topic}" if target_topic == topic else f"topic {topic} (target topic {target_topic})"


def kcat_command(brokers: str, topic: str, partition: int, offset: int) -> str:
    """Return the command that shows the record at an offset."""
    return f"`kcat -C -b {brokers} -t {shell_word(topic)} -p {partition} -o {offset} -c 1`"


def record_words(source_records: int, target_records: int) -> str:
    """Return how many records either side has."""
    return f"{source_records:,} source records, {target_records:,} target records"


def describe_counts(differences: Differences) -> str:
    """Return how many differences of each kind there are, as a phrase."""
    return ", ".join(f"{count:,} {kind}" for kind, count in differences.counts.items())
