"""Certifying the end of a generation: where it stopped, and what a later start must find as it was."""

from __future__ import annotations

from collections.abc import Mapping

from kafka_migration.core.drain import expected_next
from kafka_migration.core.evidence import Kind
from kafka_migration.core.generations import Fingerprint, Generation, Remembered, StopCertificate
from kafka_migration.core.host import HostReply
from kafka_migration.core.offsets import Offsets, TopicPartition, from_document
from kafka_migration.core.watch import Outcome
from kafka_migration.orchestration.mirroring import MirrorState, every_value, mirror_state
from kafka_migration.orchestration.run import MigrationRun


def certify(run: MigrationRun, generation: Generation, reply: HostReply, reason: str) -> StopCertificate:
    """Return the certificate of a generation whose process is dead, from what is true now.

    Raises `TransientError` while something cannot be read, or while a transaction of the dead process is open.
    """
    # Whatever this run was limited to, the certificate is of what the generation copied: all of it, and nothing else.
    topics = {partition.topic for partition in generation.start.mirror_positions}
    state = mirror_state(run, run.describe("source", topics), run.describe("target", topics))
    begin = {p: generation.start.mirror_positions.get(p, position) for p, position in state.mirror_positions.items()}
    distrusted = run.engine.distrusts_position(f"{reply.log}\n{reply.alarm}")
    positions = begin if distrusted else _positions(run, generation, state, begin)
    return StopCertificate(
        generation=generation.number,
        run=run.identity.holder,
        at=run.now(),
        graceful=reply.generation < generation.number or run.engine.is_graceful(reply.log),
        exit_code=reply.exit_code if reply.generation == generation.number else None,
        reason=f"{reason}; its positions are not trusted" if distrusted else reason,
        mirror_positions=positions,
        target_end_offsets=state.target_end_offsets,
        remembered=Remembered(
            stored_positions=state.stored,
            rewind=begin if distrusted else {},
            fingerprints={} if distrusted else _fingerprints(run, state),
            source_topic_ids={topic: d.topic_id for topic, d in state.source.items() if d.topic_id},
        ),
        gaps={p: (o, state.source_log_start[p]) for p, o in positions.items() if o < state.source_log_start[p]},
        ahead_records=_ahead(run, generation, state, positions),
    )


def _positions(run: MigrationRun, generation: Generation, state: MirrorState, begin: Offsets) -> Offsets:
    """Return the next source offset that holds a record to copy, per partition.

    Where only transaction markers and holes follow MirrorMaker's position they are passed over, so that nobody takes
    them for lost records when the source deletes them.
    """
    positions = expected_next(begin, state.stored, proved_ends(run, generation.number))
    isolation = run.migration.mirror.isolation_level
    ends = every_value(run.source.log_end_offsets(tuple(positions), isolation), positions, "source end")
    unread = {p: o for p, o in positions.items() if state.source_log_start[p] <= o < ends[p]}
    met = run.source.probe(unread, isolation) if unread else {}
    return expected_next(positions, {}, {p: probe.offset for p, probe in met.items()})


def proved_ends(run: MigrationRun, generation: int) -> Offsets:
    """Return the goals, when the watch of this generation proved that everything before them is copied.

    MirrorMaker's own position stays behind where only transaction markers or holes follow.
    """
    watch = run.evidence.newest(Kind.WATCH)
    if watch is None or watch.get("generation") != generation or watch.get("outcome") != Outcome.DRAINED:
        return {}
    return from_document(watch["goals"])


def _fingerprints(run: MigrationRun, state: MirrorState) -> Mapping[TopicPartition, Fingerprint]:
    """Return the source records at the last copied offsets, as far as the source still has them."""
    last_copied = {
        p: position - 1
        for p, position in state.stored.items()
        if p in state.source_log_start and position > state.source_log_start[p]
    }
    found = run.source.records_at(last_copied, run.migration.mirror.isolation_level) if last_copied else {}
    prints = every_value(found, last_copied, "last copied source record")
    return {
        p: Fingerprint(record.offset, record.digest)
        for p, record in prints.items()
        if record is not None and record.offset == last_copied[p]
    }


def _ahead(run: MigrationRun, generation: Generation, state: MirrorState, positions: Offsets) -> Offsets:
    """Return how many records the target certainly has beyond the positions, where that can be told from offsets."""
    if not run.engine.keeps_partitions or run.migration.mirror.exactly_once:
        return {}
    start = generation.start
    grown = {
        p: state.target_end_offsets.get(p, 0) - start.target_end_offsets.get(p, 0) - (position - begin)
        for p, position in positions.items()
        for begin in [start.mirror_positions.get(p, position)]
    }
    return {p: records for p, records in sorted(grown.items()) if records > 0}
