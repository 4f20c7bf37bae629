"""Reading where MirrorMaker stands, and certifying the end of a generation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from kafka_migration.core.cluster import TopicDescription
from kafka_migration.core.drain import expected_next
from kafka_migration.core.errors import TransientError
from kafka_migration.core.evidence import Kind
from kafka_migration.core.generations import Generation, StopCertificate
from kafka_migration.core.host import HostReply
from kafka_migration.core.offsets import Offsets, TopicPartition, from_document
from kafka_migration.core.watch import Outcome
from kafka_migration.orchestration.run import MigrationRun, partitions_of


@dataclass(frozen=True, slots=True)
class MirrorState:
    """Where the copy stands, per source partition.

    `stored` is what MirrorMaker itself stored; `mirror_positions` the next source offset to copy, which also
    knows what the ledger proved and, where nothing was ever copied, begins at the source's log start.
    """

    stored: Offsets
    mirror_positions: Offsets
    source_log_start: Offsets
    target_end_offsets: Offsets


def mirror_state(
    run: MigrationRun, source: Mapping[str, TopicDescription], target: Mapping[str, TopicDescription]
) -> MirrorState:
    """Read the state; partitions that the target does not have yet have target end 0."""
    partitions = partitions_of(source)
    log_start = every_offset(run.source.log_start_offsets(partitions), partitions, "source log start")
    stored = run.engine.stored_positions(source)
    last_stop = run.ledger.read().last_stop
    certified = last_stop.mirror_positions if last_stop else {}
    begin = {p: certified.get(p, stored.get(p, log_start[p])) for p in partitions}
    present = partitions_of(target)
    ends = every_offset(run.target.log_end_offsets(present, "read_uncommitted"), present, "target end")
    return MirrorState(
        stored=stored,
        mirror_positions=expected_next(begin, stored, {}),
        source_log_start=log_start,
        target_end_offsets={p: ends.get(p, 0) for p in partitions},
    )


def every_offset(offsets: Offsets, partitions: Collection[TopicPartition], what: str) -> Offsets:
    """Return the offsets; `TransientError` when one of the partitions is missing: not known is not zero."""
    missing = sorted(set(partitions) - set(offsets))
    if missing:
        raise TransientError(f"the {what} of {missing[0]} cannot be read now ({len(missing)} partition(s))")
    return offsets


def certify(run: MigrationRun, generation: Generation, reply: HostReply, reason: str) -> StopCertificate:
    """Return the certificate of a generation whose process is dead, from what is true now."""
    # Whatever this run was limited to, the certificate is of what the generation copied: all of it, and nothing else.
    topics = {partition.topic for partition in generation.start.mirror_positions}
    state = mirror_state(run, run.describe("source", topics), run.describe("target", topics))
    begin = {p: generation.start.mirror_positions.get(p, position) for p, position in state.mirror_positions.items()}
    return StopCertificate(
        generation=generation.number,
        run=run.identity.holder,
        at=run.now(),
        graceful=reply.generation < generation.number or run.engine.is_graceful(reply.log),
        exit_code=reply.exit_code if reply.generation == generation.number else None,
        reason=reason,
        mirror_positions=expected_next(begin, state.stored, proved_ends(run, generation.number)),
        target_end_offsets=state.target_end_offsets,
    )


def proved_ends(run: MigrationRun, generation: int) -> Offsets:
    """Return the goals, when the watch of this generation proved that everything before them is copied.

    MirrorMaker's own position stays behind where only transaction markers or holes follow.
    """
    watch = run.evidence.newest(Kind.WATCH)
    if watch is None or watch.get("generation") != generation or watch.get("outcome") != Outcome.DRAINED:
        return {}
    return from_document(watch["goals"])
