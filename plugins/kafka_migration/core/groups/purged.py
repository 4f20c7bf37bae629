"""Offsets that the source deleted before a group read them and that the copy does not hold: no cluster has them.

Every count is an upper bound, because an offset may be a marker or a compacted record.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.groups.clusters_seen import CommittedGroup
from kafka_migration.core.kafka.offsets import Offsets, Span, TopicPartition, without
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.text.quoting import group_subject
from kafka_migration.core.translation.copies import PartitionCopy


def purged_offsets(
    group: CommittedGroup, copies: Mapping[TopicPartition, PartitionCopy], by_topic: Collection[str]
) -> dict[TopicPartition, int]:
    """Return how many such offsets a group has, for each partition with any.

    :param by_topic: topics that are translated as a whole; their target partitions may hold other records
    """
    found = {
        partition: _purged(copies[partition], commit.offset, is_alone=partition.topic not in by_topic)
        for partition, commit in sorted(group.source_commits.items())
        if commit.offset < copies[partition].source_log_start
    }
    return {partition: count for partition, count in found.items() if count}


def _purged(copy: PartitionCopy, committed: int, *, is_alone: bool) -> int:
    deleted = committed, copy.source_log_start
    # Windows overlap where MirrorMaker sent records again.
    never_copied = without([deleted], [(window.source_start, window.source_end) for window in copy.windows])
    lost = sum(end - start for start, end in never_copied)
    return lost + (sum(_gone_on_target(copy, window, deleted) for window in copy.windows) if is_alone else 0)


def _gone_on_target(copy: PartitionCopy, window: Window, deleted: Span) -> int:
    """Count the offsets of a window whose copies the target may have deleted too."""
    copied = max(0, min(window.source_end, deleted[1]) - max(window.source_start, deleted[0]))
    return min(copied, max(0, min(copy.target_log_start, window.target_end) - window.target_start))


def purged_findings(group: CommittedGroup, purged: Offsets) -> Iterator[Finding]:
    """Yield one warning per partition."""
    for partition, count in purged.items():
        committed = group.source_commits[partition].offset
        yield Finding(
            Code.UNREAD_RECORDS_DELETED,
            f"{group_subject(group.group)}, {partition}",
            f"the source deleted {count:,} offsets (at most) before {group_subject(group.group)} read them; its "
            f"committed offset is {committed:,}",
            "every unread record on one of the clusters",
            "If the group needs them, produce them again from another copy of the data.",
            happened=f"The source deleted up to {count:,} offsets of {partition} before "
            f"{group_subject(group.group)} (committed offset {committed:,}) read them.",
            matters="The copy does not have these records, so the group cannot read them on either cluster. It resumes "
            "at the first record that is left.",
        )
