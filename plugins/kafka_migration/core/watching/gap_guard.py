"""Continuity: between a stop and the next start the copy must not change, and no record may be lost.

A start compares the clusters with the last stop certificate: MirrorMaker's stored positions, the target's ends, the ids
of the source topics and the source records at the last copied offsets. Offsets alone do not reveal a source topic that
was deleted, created again and filled again; the record at a known offset does (verified on Kafka 3.9.1).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.ledger.generations import Fingerprint, StopCertificate
from kafka_migration.core.target.target_topics import COPY_ELSEWHERE, OTHERS_CONTINUE

RestoreCommand = Callable[[TopicPartition, int], str]
"""Returns the command with which an operator stores a position again; empty if MirrorMaker has no such tool."""


def no_restore_command(*_: object) -> str:
    """Return an empty text: there is no such tool."""
    return ""


def continuity_findings(
    last: StopCertificate | None,
    stored: Offsets,
    target_end_offsets: Offsets,
    restore_command: RestoreCommand = no_restore_command,
) -> tuple[Finding, ...]:
    """Compare stored positions and target ends with the last stop certificate; every difference is one finding.

    Only partitions in `target_end_offsets` are compared: a run that is limited to some topics reads no others.
    """
    if last is None:
        return ()
    return (
        *_position_findings(last, stored, target_end_offsets, restore_command),
        *_foreign_writes(last, target_end_offsets),
    )


def _position_findings(
    last: StopCertificate, stored: Offsets, partitions: Collection[TopicPartition], restore: RestoreCommand
) -> Iterable[Finding]:
    for partition in sorted(last.mirror_positions):
        if partition in partitions:
            yield from _differing(last, partition, stored.get(partition), restore)


def _differing(
    last: StopCertificate, partition: TopicPartition, present: int | None, restore: RestoreCommand
) -> Iterable[Finding]:
    expected = last.remembered.stored_positions.get(partition)
    # A position that is not trusted is rewound right before the next start; that may have happened already.
    if present in (expected, last.remembered.rewind.get(partition, expected)):
        return
    if present is not None:
        command = "" if expected is None else restore(partition, expected)
        yield _changed(last, partition, present, "none" if expected is None else f"{expected:,}", command)
    elif expected is not None:
        yield _missing(last, partition, expected, restore(partition, expected))


def _changed(last: StopCertificate, partition: TopicPartition, present: int, expected: str, command: str) -> Finding:
    way = f": {command}" if command else "."
    return Finding(
        Code.POSITION_CHANGED,
        str(partition),
        f"stored position {present:,}",
        f"{expected}, as certified when generation {last.generation} stopped",
        "Find the process that changed the position, and stop it. Set the position back to its earlier value, then "
        f"trigger the run again{way}",
        happened=f"MirrorMaker's stored position of {partition} changed from {expected} to {present:,} after "
        f"generation {last.generation} stopped.",
        matters="From the changed position MirrorMaker would skip records or copy them twice, so it was not started.",
    )


def _missing(last: StopCertificate, partition: TopicPartition, expected: int, command: str) -> Finding:
    way = "Copy the topic with a second migration file into an empty topic."
    way = f"Restore the position, then trigger the run again: {command}" if command else way
    return Finding(
        Code.POSITION_MISSING,
        str(partition),
        "no stored position",
        f"{expected:,}, as certified when generation {last.generation} stopped",
        way,
        happened=f"MirrorMaker's stored position of {partition} ({expected:,}) was deleted or has expired since "
        f"generation {last.generation} of MirrorMaker stopped.",
        matters="Without this position MirrorMaker would copy all records again, so the run did not start MirrorMaker.",
    )


def _foreign_writes(last: StopCertificate, target_end_offsets: Offsets) -> Iterable[Finding]:
    for partition, end in sorted(last.target_end_offsets.items()):
        present = target_end_offsets.get(partition)
        if present is not None and present != end:
            yield Finding(
                Code.TARGET_WRITTEN_BY_OTHERS,
                str(partition),
                f"target end {present:,}",
                f"{end:,}, the end when generation {last.generation} stopped",
                "Stop this client. Then copy the topic again with a second migration file "
                "(`kafka-migration explain COPY_DIFFERS` has the steps).",
                happened=f"The target's end of {partition} changed from {end:,} to {present:,} after generation "
                f"{last.generation} stopped.",
                matters="A client other than MirrorMaker wrote to the target topic or created it again, so the copy "
                "cannot be proved.",
            )


def stale_state_findings(stored: Offsets, copied_topics: Collection[str], reset_command: str) -> tuple[Finding, ...]:
    """Name every MirrorMaker position in a topic that no run of this migration has copied.

    `copied_topics` are the topics with a generation in the ledger. A first copy would start at such a position and
    silently skip the records before it.
    """
    strange = {p: position for p, position in stored.items() if p.topic not in copied_topics}
    # A reset would also delete the positions of the other topics.
    way = (
        "Copy this topic with a second migration file."
        if copied_topics
        else "If no process uses this position any more, reset MirrorMaker's state, then trigger the run again: "
        f"{reset_command}"
    )
    return tuple(
        Finding(
            Code.STALE_MIRROR_STATE,
            str(partition),
            f"stored position {position:,}",
            "none, because this migration has not copied the topic yet",
            way,
            happened=f"MirrorMaker has the stored position {position:,} of {partition}, although this migration has "
            "not copied the topic yet.",
            matters="Probably an earlier migration with this name left the position. MirrorMaker would skip the "
            "records before it, so it was not started.",
        )
        for partition, position in sorted(strange.items())
    )


@dataclass(frozen=True, slots=True)
class SourceTruth:
    """The current state of the source, to compare with a stop certificate.

    `prints` are the first visible records at or after the fingerprints' offsets, `None` at the end of the partition.
    In `compacted` topics single records may be gone.
    """

    topics: Mapping[str, TopicDescription]
    prints: Mapping[TopicPartition, RecordPrint | None]
    compacted: Collection[str] = ()

    def is_same(self, topic: str, ids: Mapping[str, str]) -> bool:
        """Return whether the topic is known to have the id of earlier."""
        return topic in self.topics and bool(ids.get(topic)) and self.topics[topic].topic_id == ids[topic]


def fingerprints_to_read(last: StopCertificate | None, log_start: Offsets) -> dict[TopicPartition, int]:
    """Return the offsets of the fingerprints that retention has not deleted on the source."""
    kept = last.remembered.fingerprints if last else {}
    return {p: f.offset for p, f in kept.items() if p in log_start and f.offset >= log_start[p]}


def recreated_source_findings(last: StopCertificate | None, truth: SourceTruth) -> tuple[Finding, ...]:
    """Name every source topic that is not the one that was copied, by its topic id or by a different record.

    A topic with the same id whose last copied record is gone was truncated.
    """
    if last is None:
        return ()
    ids = last.remembered.source_topic_ids
    renewed = {
        topic: _recreated(f"topic {topic}", f"topic id {d.topic_id}", f"{ids[topic]}, recorded at the last stop")
        for topic, d in sorted(truth.topics.items())
        if d.is_another_than(ids.get(topic))
    }
    other_records = (
        _other_record(partition, kept, present, is_same=truth.is_same(partition.topic, ids))
        for partition, kept in sorted(last.remembered.fingerprints.items())
        if partition.topic not in renewed and partition in truth.prints
        for present in [truth.prints[partition]]
        if _is_another(kept, present, partition.topic in truth.compacted)
    )
    return (*renewed.values(), *other_records)


def _is_another(kept: Fingerprint, present: RecordPrint | None, compacted: bool) -> bool:
    if present is None or present.offset != kept.offset:
        # Only compaction removes single records.
        return not compacted
    return present.digest != kept.digest


def _other_record(
    partition: TopicPartition, kept: Fingerprint, present: RecordPrint | None, *, is_same: bool
) -> Finding:
    found = "the end of the partition" if present is None else f"another record at offset {present.offset:,}"
    expected = f"the record that was copied from offset {kept.offset:,}"
    if not is_same:
        return _recreated(str(partition), found, expected)
    return Finding(
        Code.SOURCE_TRUNCATED,
        str(partition),
        f"{found}, in the topic with the same id",
        expected,
        f"Do not delete the target topic. {COPY_ELSEWHERE} {OTHERS_CONTINUE}",
        happened=f"Instead of {expected}, {partition} of the source has {found}: the source lost copied records, for "
        "example in an unclean leader election.",
        matters="The source gives their offsets to new records, which MirrorMaker would skip. The target holds the "
        "lost records.",
    )


def _recreated(subject: str, found: str, expected: str) -> Finding:
    return Finding(
        Code.SOURCE_TOPIC_RECREATED,
        subject,
        found,
        expected,
        f"Do not delete the target topic. {COPY_ELSEWHERE} {OTHERS_CONTINUE}",
        happened=f"Instead of {expected}, {subject} of the source has {found}: the topic was deleted and created "
        "again.",
        matters="MirrorMaker would skip its first records. The target may hold the only copy of the old records.",
    )
