"""Continuity: between a stop and the next start nothing of the copy may have changed, and nothing may be lost.

A later start compares with the last stop certificate: MirrorMaker's stored positions, the target's ends, the ids of
the source's topics and the source records at the last copied offsets. Offsets alone do not see a source topic that was
deleted, made anew and filled again; the record at a known offset does (tried on Kafka 3.9.1).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import RecordPrint, TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.generations import Fingerprint, StopCertificate

RestoreCommand = Callable[[TopicPartition, int], str]
"""How a person stores a position again, if MirrorMaker has a tool for that; empty if not."""


def no_restore_command(*_: object) -> str:
    """Return nothing: there is no such tool."""
    return ""


def continuity_findings(
    last: StopCertificate | None,
    stored: Offsets,
    target_end_offsets: Offsets,
    restore_command: RestoreCommand = no_restore_command,
) -> tuple[Finding, ...]:
    """Compare stored positions and target ends with the last stop certificate; every difference is one finding.

    Compared are the partitions in `target_end_offsets`: a run that is limited to some topics reads no others.
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
    for partition, certified in sorted(last.mirror_positions.items()):
        if partition not in partitions:
            continue
        present = stored.get(partition)
        if partition in last.remembered.partitions:
            yield from _differing(last, partition, present, restore)
        # An older certificate knows only what was proved, below which the stored position may lie.
        elif present is not None and present > certified:
            yield _changed(last, partition, present, f"at most {certified:,}")


def _differing(
    last: StopCertificate, partition: TopicPartition, present: int | None, restore: RestoreCommand
) -> Iterable[Finding]:
    expected = last.remembered.stored_positions.get(partition)
    # One that is not trusted is set back right before the next start: that may be done already, or not.
    if present in (expected, last.remembered.rewind.get(partition, expected)):
        return
    if present is not None:
        yield _changed(last, partition, present, "none" if expected is None else f"{expected:,}")
    elif expected is not None:
        yield _missing(last, partition, expected, restore(partition, expected))


def _changed(last: StopCertificate, partition: TopicPartition, present: int, expected: str) -> Finding:
    return Finding(
        Code.POSITION_CHANGED,
        str(partition),
        f"stored position {present:,}",
        f"{expected}, as certified when generation {last.generation} stopped",
        "Something moved MirrorMaker's position since. Find out what ran, before records are left out or copied twice.",
    )


def _missing(last: StopCertificate, partition: TopicPartition, expected: int, command: str) -> Finding:
    way = f"Restore it: {command}" if command else "Copy under a new migration name into an empty topic."
    return Finding(
        Code.POSITION_MISSING,
        str(partition),
        "no stored position",
        f"{expected:,}, as certified when generation {last.generation} stopped",
        "MirrorMaker would begin at the log start and copy everything again. Its position was deleted, or it "
        f"expired. {way}",
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
                "Stop whatever else writes to (or created again) the target topic; records that are not ours make the "
                "copy unprovable. Then copy the topic again by a migration file with another name (runbook, A topic is "
                "copied again).",
            )


def stale_state_findings(stored: Offsets, copied_topics: Collection[str], reset_command: str) -> tuple[Finding, ...]:
    """Name every position of MirrorMaker in a topic that no run of this migration has copied.

    `copied_topics` are those that the ledger knows a generation of. From such a position a first copy would begin in
    the middle, and say nothing.
    """
    strange = {p: position for p, position in stored.items() if p.topic not in copied_topics}
    # It would take the positions of the other topics as well.
    way = (
        "Copy this topic by a migration file with another name."
        if copied_topics
        else f"If nothing runs any more that uses it, reset MirrorMaker's state: {reset_command}"
    )
    return tuple(
        Finding(
            Code.STALE_MIRROR_STATE,
            str(partition),
            f"stored position {position:,}",
            "none, as this migration has not copied the topic yet",
            f"An earlier migration of this name left it. {way}",
        )
        for partition, position in sorted(strange.items())
    )


@dataclass(frozen=True, slots=True)
class SourceTruth:
    """What the source shows now, to be compared with what a certificate remembers.

    `prints` are the first visible records at or after the fingerprints' offsets, `None` where the end came first. Of
    the `compacted` topics single records may be gone.
    """

    topics: Mapping[str, TopicDescription]
    prints: Mapping[TopicPartition, RecordPrint | None]
    compacted: Collection[str] = ()


def fingerprints_to_read(last: StopCertificate | None, log_start: Offsets) -> dict[TopicPartition, int]:
    """Return the offsets of the fingerprints that the source can still hold."""
    kept = last.remembered.fingerprints if last else {}
    return {p: f.offset for p, f in kept.items() if p in log_start and f.offset >= log_start[p]}


def recreated_source_findings(last: StopCertificate | None, truth: SourceTruth) -> tuple[Finding, ...]:
    """Name every source topic that is not the one that was copied, told by its id or by a record that is another."""
    if last is None:
        return ()
    ids = last.remembered.source_topic_ids
    renewed = {
        topic: _recreated(f"topic {topic}", f"topic id {d.topic_id}", f"{ids[topic]}, recorded at the last stop")
        for topic, d in sorted(truth.topics.items())
        if d.is_another_than(ids.get(topic))
    }
    other_records = (
        _recreated(str(partition), _found(present), f"the record that was copied from offset {kept.offset:,}")
        for partition, kept in sorted(last.remembered.fingerprints.items())
        if partition.topic not in renewed and partition in truth.prints
        for present in [truth.prints[partition]]
        if _is_another(kept, present, partition.topic in truth.compacted)
    )
    return (*renewed.values(), *other_records)


def _is_another(kept: Fingerprint, present: RecordPrint | None, compacted: bool) -> bool:
    if present is None or present.offset != kept.offset:
        # Compaction takes single records away; nothing else does.
        return not compacted
    return present.digest != kept.digest


def _found(present: RecordPrint | None) -> str:
    return "the end of the partition" if present is None else f"another record at offset {present.offset:,}"


def _recreated(subject: str, found: str, expected: str) -> Finding:
    return Finding(
        Code.SOURCE_TOPIC_RECREATED,
        subject,
        found,
        expected,
        "The source topic was deleted and created anew since, so MirrorMaker would leave its first records out. Delete "
        "nothing: the target may hold the only copy of the old ones. Copy the new topic by a migration file with "
        "another name into a topic with another name (mirror.topic_names).",
    )
