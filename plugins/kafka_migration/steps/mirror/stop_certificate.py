"""Writes a generation's stop certificate: where it stopped, and what the next start must find unchanged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side, TopicDescription
from kafka_migration.core.kafka.offsets import Offsets, Ranges, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.ledger.generations import (
    Fingerprint,
    Generation,
    GenerationStart,
    Remembered,
    StopCertificate,
)
from kafka_migration.core.mirror.mirror_process import ProcessEnding, ProcessReply
from kafka_migration.core.stored.stored_documents import Stored
from kafka_migration.core.target.topic_identity import recreated_topics
from kafka_migration.core.text.terminal_text import moment
from kafka_migration.core.watching.drain import expected_next, gaps_of, without_copied
from kafka_migration.core.watching.watch import WatchEnded
from kafka_migration.steps.mirror.state import MirrorState, mirror_state, probe_held, read_held_back
from kafka_migration.steps.reading.exact_reads import every_value
from kafka_migration.steps.run.migration_run import MigrationRun

SIDES: tuple[Side, Side] = ("source", "target")
# The most offsets after a gap that are counted, to find where it begins.
MAX_COUNTED = 2_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def certify(
    run: MigrationRun,
    generation: Generation,
    reply: ProcessReply,
    ending: ProcessEnding,
    reason: str,
    proved: Offsets,
) -> StopCertificate:
    """Return the stop certificate of a generation whose process is dead, from the present state of both clusters.

    Raises `TransientError` while a value cannot be read, or while a transaction of the dead process is open.
    """
    # The certificate covers exactly what the generation copied, even if this run is limited to fewer topics.
    start = generation.start
    topics = {partition.topic for partition in start.mirror_positions}
    watched = _watched(run, generation.number)
    described: dict[Side, Mapping[str, TopicDescription]] = {side: run.describe(side, topics) for side in SIDES}
    recreated = {side: _recreated(side, described[side], start, watched) for side in SIDES}
    # What a topic that was created again holds is not what this generation copied.
    source, target = (
        {topic: each for topic, each in described[side].items() if topic not in recreated[side]} for side in SIDES
    )
    state = mirror_state(run, run.ledger.known(), source, target, known=start.mirror_positions)
    # A partition that the start did not know was added since, and begins at offset 0.
    begin = {p: start.mirror_positions.get(p, 0) for p in state.mirror_positions}
    lived = reply.generation == generation.number
    distrusted, resent = lived and ending.distrusts_positions, lived and ending.resent
    stored = expected_next(begin, state.stored, {})
    reached = expected_next(stored, watched.proved, proved)
    # A part of MirrorMaker that was cut off may store an older position late; the next start begins there.
    positions = begin if distrusted else _positions(run, state, stored if resent else reached)
    due = _due_ends(start, begin, positions)
    target_ends = {**state.target_end_offsets, **{p: end for p, end in due.items() if p.topic not in target}}
    ahead = {} if distrusted or resent else _ahead(run, due, target_ends)
    # What a distrusted process sent is sent again, as after a kill.
    graceful = not lived or (ending.is_clean and (ending.is_flushed or not ahead))
    grown = {p: end - start.target_end_offsets.get(p, 0) for p, end in target_ends.items()}
    gaps = {**watched.gaps, **gaps_of(positions, state.source_log_start)}
    last_copied = _last_copied(run, state)
    lost = Lost(gaps, begin, positions, grown, graceful, resent)
    remarks = {
        "never started": not lived,
        "its positions are not trusted": distrusted,
        "a part of it was started again before": resent,
    }
    return StopCertificate(
        generation=generation.number,
        run=run.identity.holder,
        at=run.now(),
        graceful=graceful,
        exit_code=reply.exit_code if lived else None,
        reason="; ".join([reason, *(remark for remark, applies in remarks.items() if applies)]),
        mirror_positions=positions,
        target_end_offsets=target_ends,
        remembered=Remembered(
            stored_positions=state.stored,
            rewind=begin if distrusted else {},
            fingerprints=_fingerprints(state, last_copied),
            # A topic that was recreated while it was copied is a different topic.
            source_topic_ids={**state.source_topic_ids, **start.source_topic_ids},
        ),
        gaps=without_copied(lost.gaps, lost.reached(run, state.source_log_start) if lost.gaps else {}),
        ahead_records=ahead,
        gone=_named({side: topics - present.keys() for side, present in described.items()}),
        recreated=_named(recreated),
        held_back=read_held_back(run, tuple(state.source_end_offsets)),
        last_record_at=_newest(last_copied.values(), run.clock.now()),
        resent=resent,
    )


def _named(topics: Mapping[Side, Collection[str]]) -> dict[str, tuple[str, ...]]:
    return {side: tuple(sorted(some)) for side, some in topics.items() if some}


def _recreated(
    side: Side, present: Mapping[str, TopicDescription], start: GenerationStart, watched: _Watched
) -> frozenset[str]:
    """Return the topics of one side that are not those with which the generation started."""
    ids = start.source_topic_ids if side == "source" else start.target_topic_ids
    renewed = {topic for topic, found in present.items() if found.is_another_than(ids.get(topic))}
    return frozenset(renewed | (recreated_topics(watched.findings, side) & present.keys()))


def _due_ends(start: GenerationStart, begin: Offsets, positions: Offsets) -> Offsets:
    """Return the target ends of a copy up to exactly these positions, if every offset is a record.

    For a deleted topic this is the end that it should have. A recreated topic does not have it.
    """
    return {p: start.target_end_offsets.get(p, 0) + position - begin[p] for p, position in positions.items()}


def _positions(run: MigrationRun, state: MirrorState, positions: Offsets) -> Offsets:
    """Return, per partition, the next source offset at or after these positions that holds a record to copy.

    Transaction markers and gaps right after MirrorMaker's position are skipped. Otherwise they would look like lost
    records once the source deletes them.
    """
    log_start, ends = state.source_log_start, state.source_end_offsets
    unread = {p: o for p, o in positions.items() if p in log_start and log_start[p] <= o < ends[p]}
    met = probe_held(run.source, unread, run.migration.mirror.isolation_level)
    return expected_next(positions, {}, {p: probe.offset for p, probe in met.items()})


class _Watched(NamedTuple):
    """What the watch of a generation proved and found: offsets before which everything is copied, losses, findings."""

    proved: Offsets
    gaps: Ranges
    findings: Sequence[Finding] = ()


def _watched(run: MigrationRun, generation: int) -> _Watched:
    """Return what the watch proved while the generation ran. MirrorMaker's own position may not show it.

    That position stops before trailing transaction markers or gaps, and jumps over offsets that the source deleted.
    """
    watch = run.evidence.newest(Stored.WATCH)
    if not isinstance(watch, WatchEnded) or watch.generation != generation:
        return _Watched({}, {})
    return _Watched(watch.proved, watch.gaps, watch.findings)


def _last_copied(run: MigrationRun, state: MirrorState) -> dict[TopicPartition, RecordPrint]:
    """Return the source records at the last copied offsets, as far as the source still has them."""
    last_copied = {
        p: position - 1
        for p, position in state.stored.items()
        if p in state.source_log_start and position > state.source_log_start[p]
    }
    found = run.source.records_at(last_copied, run.migration.mirror.isolation_level) if last_copied else {}
    prints = every_value(found, last_copied, "last copied source record")
    return {p: record for p, record in prints.items() if record is not None and record.offset == last_copied[p]}


def _newest(records: Collection[RecordPrint], now: datetime) -> str | None:
    """Return the newest timestamp of some records, one in the future as now; `None` if no record has one."""
    stamps_s = [record.timestamp_ms / 1000 for record in records if record.timestamp_ms > 0]
    return moment(datetime.fromtimestamp(min(max(stamps_s), now.timestamp()), UTC)) if stamps_s else None


def _fingerprints(
    state: MirrorState, last_copied: Mapping[TopicPartition, RecordPrint]
) -> Mapping[TopicPartition, Fingerprint]:
    """Return the fingerprints of the last copied source records; that of a deleted topic matches no record."""
    held = {p: Fingerprint(r.offset, r.digest) for p, r in last_copied.items() if not r.unreadable}
    gone = {p: Fingerprint(o - 1, "gone") for p, o in state.stored.items() if p.topic not in state.source and o > 0}
    return {**held, **gone}


class Lost(NamedTuple):
    """What the source deleted before MirrorMaker had stored it as copied, and what is known about the copy before.

    `grown` are the target's new records. `resent`: they may hold records more than once at any place, so their number
    says nothing.
    """

    gaps: Ranges
    begin: Offsets
    positions: Offsets
    grown: Offsets
    graceful: bool
    resent: bool = False

    def reached(self, run: MigrationRun, log_start: Offsets) -> dict[TopicPartition, int]:
        """Return up to which offsets records were copied before a gap, where the target's growth shows it.

        MirrorMaker's stored position may be older than what it sent. Without exactly-once the target grew by one offset
        per record: by those before the gap, and by those after it, as far as the source still holds them. If the
        source's offsets have holes, the true offset is higher.
        """
        if self.resent or not run.migration.keeps_offsets:
            return {}
        held = {p: end for p, (_, end) in self.gaps.items() if log_start.get(p, end + 1) <= end}
        after = self._after_gap(run, held) if self.graceful else {p: 0 for p in held if _has_none_from(run, p, held[p])}
        return {p: self.begin[p] + self.grown[p] - count for p, count in after.items()}

    def _after_gap(self, run: MigrationRun, held: Offsets) -> Offsets:
        """Return how many records after a gap were copied, if that can be counted soon."""
        ends = {p: self.positions[p] for p, end in held.items() if end <= self.positions[p] <= end + MAX_COUNTED}
        starts = {p: held[p] for p in ends}
        return run.source.count_visible(starts, ends, run.migration.mirror.isolation_level) if ends else {}


def _has_none_from(run: MigrationRun, partition: TopicPartition, offset: int) -> bool:
    """Whether the target does not have the source's first record from an offset on, so that it has none after it.

    A record keeps its time: the target does not have it if all records there are older.
    """
    found = run.source.records_at({partition: offset}, run.migration.mirror.isolation_level)
    first = found.get(partition)
    if first is None or first.timestamp_ms < 0:
        # If the source has no record there, nothing was copied from there.
        return partition in found and first is None
    try:
        moment = _EPOCH + timedelta(milliseconds=first.timestamp_ms)
    except OverflowError:
        return False
    ends = run.target.log_end_offsets([partition], "read_uncommitted")
    return partition in ends and run.target.offsets_for_time([partition], moment, "read_uncommitted") == ends


def _ahead(run: MigrationRun, due: Offsets, target_ends: Offsets) -> Offsets:
    """Return how many records the target has beyond the positions, if offsets alone prove it."""
    if not run.migration.keeps_offsets:
        return {}
    grown = {p: target_ends.get(p, 0) - end for p, end in due.items()}
    return {p: records for p, records in sorted(grown.items()) if records > 0}
