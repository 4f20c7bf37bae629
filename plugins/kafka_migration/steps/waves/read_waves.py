"""Reads the input of the waves (`core.waves`): topics, groups and the transaction log."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.kafka.cluster import GroupDescription, GroupListing, KafkaCluster, why_immovable
from kafka_migration.core.kafka.offsets import Commits, TopicPartition, topics_of
from kafka_migration.core.kafka.reserved_topics import reserved_reason
from kafka_migration.core.kafka.transaction_log import COMMITTED_OFFSETS, TRANSACTION_STATE, TransactionLog
from kafka_migration.core.waves.wave_plan import Clusters, GroupReads
from kafka_migration.steps.reading.one_by_one import commits_of, described

_NO_INTERNAL_TOPIC = "the login cannot see internal topics, so it is unknown whether this one exists"


def read_clusters(source: KafkaCluster, target: KafkaCluster, time_limit_s: float) -> Clusters:
    """Read both clusters without changing anything. Denied data about a group or the transactions is unknown.

    Raises `Refused` or `TransientError` if a cluster does not list its topics or groups.
    """
    partitions = source.partition_counts()
    topics = [topic for topic in sorted(partitions) if not reserved_reason(topic)]
    there = target.partition_counts()
    on_target = [topic for topic in topics if topic in there]
    records_there = _records(target, {topic: there[topic] for topic in on_target})
    transactions = _read_transactions(source, partitions, time_limit_s)
    return Clusters(
        partitions=partitions,
        records=_records(source, {topic: partitions[topic] for topic in topics}),
        groups=tuple(_groups(source)),
        transactions=transactions.topics,
        transactions_not_known=transactions.not_known,
        on_target={topic: records_there.get(topic) for topic in on_target},
    )


def _records(cluster: KafkaCluster, counts: Mapping[str, int]) -> dict[str, int]:
    """Return the number of offsets between start and end per topic, if all its partitions are known."""
    partitions = {topic: [TopicPartition(topic, number) for number in range(n)] for topic, n in counts.items()}
    everything = [partition for each in partitions.values() for partition in each]
    # Read the starts before the ends: a deletion in between must not make a number negative.
    starts = cluster.log_start_offsets(everything)
    ends = cluster.log_end_offsets(everything, "read_uncommitted")
    known = starts.keys() & ends.keys()
    return {
        topic: sum(ends[partition] - starts[partition] for partition in each)
        for topic, each in partitions.items()
        if each and known.issuperset(each)
    }


def _groups(source: KafkaCluster) -> Iterable[GroupReads]:
    listed = source.list_groups()
    movable = [each.group for each in listed if each.is_movable]
    members, commits = described(source, movable), commits_of(source, movable)
    for each in listed:
        if each.is_movable:
            yield _group(each, members[each.group], commits[each.group])
        elif each.kind == "connect":
            # A group of Connect workers; sink connectors read in separate consumer groups.
            yield GroupReads(each.group, each.kind, is_active=None)
        else:
            yield GroupReads(each.group, each.kind, is_active=None, not_known=why_immovable(each.group, each.kind))


def _group(listed: GroupListing, described: GroupDescription | str, commits: Commits | str) -> GroupReads:
    members = frozenset[str]()
    if not isinstance(described, str):
        members = frozenset(partition.topic for member in described.members for partition in member.assigned)
    return GroupReads(
        group=listed.group,
        kind=listed.kind,
        topics=members | (set() if isinstance(commits, str) else topics_of(commits)),
        is_active=None if isinstance(described, str) else described.is_active,
        not_known="; ".join(dict.fromkeys(text for text in (described, commits) if isinstance(text, str))),
    )


def _read_transactions(source: KafkaCluster, listed: Collection[str], time_limit_s: float) -> TransactionLog:
    """Read the transaction log; records read before an error count.

    If the source does not list the topic, it is not requested by name, because brokers (seen with 2.4) create a
    requested internal topic. If the login sees the other internal topic, then this one does not exist.
    """
    log = TransactionLog()
    if TRANSACTION_STATE not in listed:
        log.not_read = "" if COMMITTED_OFFSETS in listed else _NO_INTERNAL_TOPIC
        return log
    try:
        for key, value in source.read_log(TRANSACTION_STATE, time_limit_s):
            log.take(key, value)
    except (Refused, TransientError) as error:
        log.not_read = _reason(error)
    return log


def _reason(error: Refused | TransientError) -> str:
    return "; ".join(finding.found for finding in error.findings) if isinstance(error, Refused) else str(error)
