"""The fence: have the producers stopped? And the transactions that are open on the source, in any run.

The source itself is the proof: for some time every partition's high watermark does not move, and its last stable offset
equals it. An open transaction breaks the fence, because its records are already written and become visible only when it
ends.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import ClassVar

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import Offsets, Ranges, TopicPartition
from kafka_migration.core.kafka.records import RecordPrint
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some
from kafka_migration.core.text.terminal_text import duration


@dataclass(frozen=True, slots=True, kw_only=True)
class FenceProof(Document):
    """When the stop of the producers was announced, how long the source received no records, and its ends then.

    `proved_at` is when the fence was proved. The ends last grew between the two readings at `grew_after` and
    `grew_before`; `grew_after` is `None` if the fence never saw them grow. Moments are ISO 8601 in UTC, to the second.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"proved_at", "grew_after", "grew_before"})

    announced_at: str
    quiet_s: int
    ends: Offsets
    proved_at: str | None = None
    grew_after: str | None = None
    grew_before: str | None = None

    def last_record_at(self, newest: str | None) -> str | None:
        """Return when the last record arrived on the source.

        It is the newest timestamp of the last records, limited to the time in which the fence saw the ends grow:
        producers set timestamps freely. Without a timestamp it is the reading that first saw the last end.

        :param newest: the newest timestamp, in the same form; `None`: unknown
        """
        if newest is None:
            return self.grew_before if self.grew_after else None
        return min(max(newest, self.grew_after or newest), self.grew_before or newest)


@dataclass(frozen=True, slots=True)
class SourceEnds:
    """One reading of the ends of all fenced partitions; ends that could not be read are missing.

    The high watermarks are read first. So a last stable offset below one of them means an open transaction, not a
    record that arrived in between.
    """

    at_s: float
    partitions: frozenset[TopicPartition]
    high_watermarks: Offsets
    last_stable_offsets: Offsets

    @property
    def known(self) -> dict[TopicPartition, int]:
        """The end of every partition of which both offsets were read.

        The last stable offset is read later: if it is the higher one, records arrived in between.
        """
        return {
            p: max(self.high_watermarks[p], self.last_stable_offsets[p])
            for p in self.partitions
            if p in self.high_watermarks and p in self.last_stable_offsets
        }

    @property
    def unreadable(self) -> tuple[TopicPartition, ...]:
        """The partitions of which at least one of the two offsets is unknown."""
        return tuple(sorted(self.partitions - set(self.known)))

    @property
    def open_transactions(self) -> dict[TopicPartition, tuple[int, int]]:
        """Last stable offset and end of every partition on which a transaction is open."""
        return held_back(self.known, self.last_stable_offsets)


@dataclass(frozen=True, slots=True)
class Movement:
    """How a partition's end moved over the last `seconds`."""

    before: int
    after: int
    seconds: float

    def __str__(self) -> str:
        rate = f", {(self.after - self.before) / self.seconds:,.1f}/s" if self.seconds > 0 else ""
        return f"{self.before:,} → {self.after:,} ({self.after - self.before:+,}{rate})"


@dataclass(frozen=True, slots=True)
class FenceStatus:
    """The state after a reading: `ends` once the fence is proved, else why not; `findings` after the time limit."""

    ends: Offsets | None
    quiet_s: float
    still_s: float
    moving: Mapping[TopicPartition, Movement]
    open_transactions: Mapping[TopicPartition, tuple[int, int]]
    unreadable: tuple[TopicPartition, ...]
    findings: tuple[Finding, ...] = ()

    def __str__(self) -> str:
        if self.moving:
            first = min(self.moving)
            movement = self.moving[first]
            return f"{first} still moves ({movement.after - movement.before:+,}){_others(self.moving)}"
        if self.open_transactions:
            return f"open transaction on {min(self.open_transactions)}{_others(self.open_transactions)}"
        if self.unreadable:
            return f"{self.unreadable[0]} cannot be read{_others(self.unreadable)}"
        return f"ends unchanged for {self.still_s:.0f} of {self.quiet_s:.0f} s"


@dataclass(slots=True)
class _Track:
    """One partition: its end, the reading that saw it first, and the reading before it if the end has moved."""

    end: int
    since_s: float
    moved_after_s: float | None = None

    @property
    def was_seen_moving(self) -> bool:
        """Whether its end moved while it was watched."""
        return self.moved_after_s is not None


@dataclass(slots=True)
class FenceWatch:
    """The state between readings.

    All times are monotonic seconds of one process. `announced_s` is when the producers were asked to stop. A restarted
    watch passes the same moment on its own clock, and starts the quiet time again.
    """

    quiet_s: float
    wait_s: float
    announced_s: float
    _tracks: dict[TopicPartition, _Track] = field(default_factory=dict)
    _looks: deque[tuple[float, Offsets]] = field(default_factory=deque)

    def take(self, ends: SourceEnds) -> FenceStatus:
        """Add one reading; return whether the fence is proved, or why not."""
        known = ends.known
        self._follow(known, ends.at_s)
        still_s = min((ends.at_s - track.since_s for track in self._tracks.values()), default=0.0)
        moving = self._moving(ends.at_s)
        open_transactions, unreadable = ends.open_transactions, ends.unreadable
        is_proved = bool(known) and not unreadable and not open_transactions and still_s >= self.quiet_s
        status = FenceStatus(known if is_proved else None, self.quiet_s, still_s, moving, open_transactions, unreadable)
        if is_proved or ends.at_s - self.announced_s < self.wait_s:
            return status
        return _with_findings(status, self.wait_s)

    @property
    def last_growth_s(self) -> tuple[float | None, float]:
        """The two readings between which an end moved last; the first is `None` if none was seen moving."""
        last = max(self._tracks.values(), key=lambda track: track.since_s)
        return last.moved_after_s, last.since_s

    def _follow(self, known: Offsets, now_s: float) -> None:
        """Record which ends moved. A partition that cannot be read starts again: unknown does not count as quiet."""
        for partition in set(self._tracks) - set(known):
            del self._tracks[partition]
        for partition, end in known.items():
            track = self._tracks.get(partition)
            if track is None:
                self._tracks[partition] = _Track(end, now_s)
            elif track.end != end:
                self._tracks[partition] = _Track(end, now_s, self._looks[-1][0])
        self._looks.append((now_s, known))
        while len(self._looks) > 2 and now_s - self._looks[1][0] >= self.quiet_s:
            self._looks.popleft()

    def _moving(self, now_s: float) -> dict[TopicPartition, Movement]:
        return {
            partition: self._movement(partition, track.end, now_s)
            for partition, track in sorted(self._tracks.items())
            if track.was_seen_moving and now_s - track.since_s < self.quiet_s
        }

    def _movement(self, partition: TopicPartition, end: int, now_s: float) -> Movement:
        at_s, before = next((at_s, ends[partition]) for at_s, ends in self._looks if partition in ends)
        return Movement(before, end, now_s - at_s)


def _with_findings(status: FenceStatus, wait_s: float) -> FenceStatus:
    """Add one finding per topic and reason.

    There is none if no end moves and only the quiet time has not passed yet, as after a restart of the watch shortly
    before the time limit. Then the watch waits for the proof, at most `quiet_s` longer.
    """
    reasons: dict[TopicPartition, str] = {p: f"{p} cannot be read" for p in status.unreadable}
    reasons |= {p: f"{p} {movement}" for p, movement in status.moving.items()}
    findings = (
        *(_moving_finding(topic, found, status.quiet_s, wait_s) for topic, found in _by_topic(reasons)),
        *_transaction_findings(status.open_transactions, wait_s),
    )
    return replace(status, findings=findings)


def _by_topic(texts: Mapping[TopicPartition, str]) -> Iterable[tuple[str, str]]:
    for topic in sorted({partition.topic for partition in texts}):
        mine = [texts[partition] for partition in sorted(texts) if partition.topic == topic]
        yield topic, some(mine, separator="; ", longest=LONGEST_SENTENCE)


def _moving_finding(topic: str, found: str, quiet_s: float, wait_s: float) -> Finding:
    return Finding(
        Code.FENCE_MOVING,
        f"topic {topic}",
        found,
        f"ends that do not change for {quiet_s:,.0f} s (cutover.fence_quiet) within {wait_s:,.0f} s after the "
        "producers were asked to stop (cutover.fence_wait)",
        "Stop the producers that still write to the topic, then trigger the cutover again. Until then producers and "
        "consumers may continue on the source.",
        happened=f"Topic {topic} was not quiet for {duration(quiet_s)} (cutover.fence_quiet) within "
        f"{duration(wait_s)} (cutover.fence_wait): {found}.",
        matters="Consumers on the target would miss the records that are still written to the source. No group was "
        "changed.",
    )


def _transaction_findings(opened: Mapping[TopicPartition, tuple[int, int]], wait_s: float) -> Iterable[Finding]:
    """Yield one finding per topic, with the command that aborts the first open transaction of its first partition."""
    texts = {p: f"{p} last stable offset {stable:,}, end {end:,}" for p, (stable, end) in opened.items()}
    for topic, found in _by_topic(texts):
        first, *others = sorted(partition for partition in opened if partition.topic == topic)
        yield Finding(
            Code.FENCE_OPEN_TRANSACTION,
            f"topic {topic}",
            found,
            f"last stable offset = end on every partition within {wait_s:,.0f} s (cutover.fence_wait)",
            "Let its producer end the transaction. Only if that producer no longer runs, abort it; readers of committed"
            f" records then skip its records: {abort_command(first, opened[first][0])}."
            + (" Do the same on the other partitions, each with its last stable offset." if others else "")
            + " Then trigger the cutover again.",
            happened=f"Topic {topic} had an open transaction for {duration(wait_s)} (cutover.fence_wait): {found}.",
            matters="Its records may still be committed, and the target would lack them. No group was changed.",
        )


def abort_command(partition: TopicPartition, last_stable_offset: int) -> str:
    """Return the command for an open transaction. The first one starts at the last stable offset."""
    return (
        "`kafka-transactions.sh --bootstrap-server <source bootstrap servers> abort "
        f"--topic {shell_word(partition.topic)} --partition {partition.partition} --start-offset {last_stable_offset}`"
    )


def _others(partitions: Mapping[TopicPartition, object] | tuple[TopicPartition, ...]) -> str:
    return f" and {len(partitions) - 1:,} more" if len(partitions) > 1 else ""


# Brokers allow no longer timeout by default (`transaction.max.timeout.ms`), so an older transaction hangs.
OPEN_FOR = timedelta(minutes=15)


def held_back(ends: Offsets, stable: Offsets) -> dict[TopicPartition, tuple[int, int]]:
    """Return [last stable offset, end) of each partition on which a transaction is open.

    The ends were read first: a record that arrived in between is then in both, and is no transaction.
    """
    return {p: (stable[p], end) for p, end in sorted(ends.items()) if p in stable and stable[p] < end}


def held_back_findings(held: Ranges, firsts: Mapping[TopicPartition, RecordPrint | None]) -> Iterator[Finding]:
    """Yield a warning per topic with offsets after an open transaction; `firsts` are its first records."""
    texts = {p: f"{p} offsets {a:,}–{b - 1:,}{_since(firsts.get(p))}" for p, (a, b) in held.items()}
    for topic, named in _by_topic(texts):
        mine = {p: offsets for p, offsets in held.items() if p.topic == topic}
        held_here = f"{held_offsets(mine):,} offsets after an open transaction: {named}"
        yield Finding(
            Code.SOURCE_TRANSACTION_OPEN,
            f"topic {topic}",
            held_here,
            "no open transaction",
            f"Find its producer with {_producer_command(min(mine))}, and let it end the transaction. "
            f"{_only_then_abort(min(mine), mine[min(mine)][0])}",
            happened=f"The source's topic {topic} has {held_here}.",
            matters="Only committed records are read, so these offsets are not copied yet and no verdict covers them. "
            "The run after the end of the transaction copies them.",
        )


def held_offsets(held: Ranges) -> int:
    """Return the number of offsets after open transactions."""
    return sum(end - stable for stable, end in held.values())


def open_transaction_findings(
    opened: Offsets, firsts: Mapping[TopicPartition, RecordPrint | None], now: datetime
) -> Iterator[Finding]:
    """Yield a warning per partition whose first uncommitted record is older than any transaction may be."""
    for partition, offset in sorted(opened.items()):
        began = _began(firsts.get(partition))
        if began is not None and began < now - OPEN_FOR:
            yield _hanging(partition, offset, began)


def _began(first: RecordPrint | None) -> datetime | None:
    """Return the timestamp of a transaction's first record; `None` if it has none, or one that no date can have."""
    try:
        return datetime.fromtimestamp(first.timestamp_ms / 1000, UTC) if first and first.timestamp_ms >= 0 else None
    except (OverflowError, ValueError, OSError):
        return None


def _since(first: RecordPrint | None) -> str:
    began = _began(first)
    return f", first record of {began.isoformat(timespec='seconds')}" if began else ""


def _hanging(partition: TopicPartition, offset: int, began: datetime) -> Finding:
    return Finding(
        Code.SOURCE_TRANSACTION_OPEN,
        f"topic {partition.topic}",
        f"an open transaction on {partition} whose first record, at offset {offset:,}, has the timestamp "
        f"{began.isoformat(timespec='seconds')}",
        f"transactions that end within {int(OPEN_FOR.total_seconds()) // 60} minutes",
        f"Let its producer end the transaction. {_only_then_abort(partition, offset)}",
        happened=f"On {partition} a transaction is open whose first record (offset {offset:,}, timestamp "
        f"{began.isoformat(timespec='seconds')}) is older than {int(OPEN_FOR.total_seconds()) // 60} minutes, the "
        "longest time that brokers allow by default.",
        matters="Readers of committed records stop at this offset, so a run copies and validates no record after it, "
        "and a cutover is refused.",
    )


def _producer_command(partition: TopicPartition) -> str:
    return (
        "`kafka-transactions.sh --bootstrap-server <source bootstrap servers> describe-producers "
        f"--topic {shell_word(partition.topic)} --partition {partition.partition}`"
    )


def _only_then_abort(partition: TopicPartition, offset: int) -> str:
    return f"Only if its producer no longer runs, abort it: {abort_command(partition, offset)}."
