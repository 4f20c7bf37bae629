"""Words that findings on differences share, whichever comparison found them."""

from __future__ import annotations

from kafka_migration.core.codes import Code
from kafka_migration.core.differences import Differences

UNREADABLE_REMEDY = (
    "What can no longer be read cannot be proved. Raise the retention above the time between two runs, "
    "end an open transaction, and validate again; records already deleted stay unproved."
)

# What to say beside a good verdict on a copy that differs.
EXPLANATIONS = {
    Code.KEYS_IN_SEVERAL_PARTITIONS: "The source holds keys in several partitions, between which Kafka has no order. "
    "Within each of them the order was compared, and kept.",
    Code.RECORDS_COMPACTED: "Either side deletes records that have a newer one of their key, whenever it compacts. "
    "Nothing is to be done.",
    Code.RECORDS_REPLAYED: "Consumers of the target read them twice.",
    Code.ABORTED_RECORDS_COPIED: "Consumers of the target read them, which those of the source that read committed "
    "records do not. With mirror.isolation_level read_committed MirrorMaker leaves them out.",
}


def topic_words(topic: str, target_topic: str) -> str:
    """Return how a topic is spoken of: by the source's name, with the target's if that is another."""
    return f"topic {topic}" if target_topic == topic else f"topic {topic} (target topic {target_topic})"


def kcat_command(brokers: str, topic: str, partition: int, offset: int) -> str:
    """Return the command that shows the record at an offset."""
    return f"`kcat -C -b {brokers} -t {topic} -p {partition} -o {offset} -c 1`"


def record_words(source_records: int, target_records: int) -> str:
    """Return how many records either side has."""
    return f"{source_records:,} source records, {target_records:,} target records"


def describe_counts(differences: Differences) -> str:
    """Return how many differences of each kind there are, as a phrase."""
    return ", ".join(f"{count:,} {kind}" for kind, count in differences.counts.items())
