"""Random lives of one partition: kills, stored positions, retention, transactions. Runs judge them with the real rules.

Only Kafka and Spark are replaced: both logs are lists, and the job's pure parts compare them.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import zip_longest
from typing import Any, NamedTuple

import pyarrow as pa

from kafka_digest.keys.align_tasks import SOURCE, TARGET, Circumstances, differences
from kafka_digest.position import classify
from kafka_digest.position.blocks import Block, compare_blocks
from kafka_digest.position.pieces import Measured, sent_again
from kafka_digest.position.restarts import Continuation, Parted, Restarts, chosen
from kafka_digest.reading.read_windows import LogBounds, WindowPlan, plan_window
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.offsets import Offsets, TopicPartition
from kafka_migration.core.ledger.generations import Generation, GenerationStart, Judgement, StopCertificate, Window
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.migration.settings import Tolerance
from kafka_migration.core.validation.compared_windows import delta_windows, whole_windows
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.differences import (
    Difference,
    Differences,
    FirstDifference,
)
from kafka_migration.core.validation.judging import TopicVerdict, comparisons_of, judge_topics
from kafka_migration.core.validation.judging_by_key import GenerationEvents
from kafka_migration.core.validation.replays import Replays
from kafka_migration.core.validation.validation_contract import (
    POSITION_DIGEST,
    PartitionResult,
    SideCount,
    ValidationResult,
)
from tests.compaction.product import _SCHEMA as ROWS
from tests.growing_ledger import Entries

TOPIC, PLACE = "orders", TopicPartition("orders", 0)
BLOCK_RECORDS = 3
MANY = Tolerance(duplicates=1_000)
Record = tuple[int, int]
"""Key and value."""


@dataclass
class Life:
    """One partition on both clusters, and the ledger of its runs."""

    seed: int
    transactions: bool
    alphabet: int
    source: list[Record | None] = field(default_factory=list)
    log_start: int = 0
    target: list[Record | None] = field(default_factory=list)
    sent: list[int] = field(default_factory=list)
    stored: int | None = None
    entries: Entries = field(default_factory=Entries)
    runs: list[TopicVerdict] = field(default_factory=list)
    is_blind: bool = False
    resent: Collection[int] = ()

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return self.entries.ledger

    def produce(self, count: int) -> None:
        """Append records; transactions leave markers, and aborted ones leave offsets that no reader sees."""
        for _ in range(count):
            is_aborted = self.transactions and self.rng.random() < 0.2
            number = self.rng.randrange(self.alphabet) if self.alphabet else len(self.source)
            self.source.append(None if is_aborted else (number % 3, number))
            if self.transactions and self.rng.random() < 0.5:
                self.source.append(None)

    def held(self, offset: int) -> int:
        """Return the first offset from here on that holds a record; the end if there is none."""
        rest = range(offset, len(self.source))
        return next((o for o in rest if self.source[o] is not None), len(self.source))

    def generation(self, killed: bool) -> None:
        """Copy from the stored position on; a killed process may have stored an earlier position, or none."""
        last = self.ledger.last_stop
        begin = last.mirror_positions[PLACE] if last else self.log_start
        at = self.rng.randint(begin, len(self.source)) if self.rng.random() < 0.5 else len(self.source)
        stored = at if not killed else self.rng.randint(begin, at) if self.rng.random() < 0.6 else self.stored
        self.copy(begin, at, stored=stored, graceful=not killed)

    def copy(self, begin: int, at: int, *, stored: int | None, graceful: bool | None = None) -> None:
        """Copy the records of a range, and certify the end; by default a process without all stored was killed."""
        number, target_start = len(self.ledger.generations) + 1, len(self.target)
        start = GenerationStart(number, f"d/g{number}#1", "t", {PLACE: begin}, {PLACE: target_start})
        for offset in range(begin, at):
            if (record := self.source[offset]) is not None:
                self.target.append(record)
                self.sent.append(offset)
        self.stored = stored
        position = self.held(max(begin, stored or 0))
        ahead = len(self.target) - target_start - (position - begin)
        stop = StopCertificate(
            number,
            f"d/g{number}#1",
            "t",
            stored == at if graceful is None else graceful,
            143,
            "stopped",
            {PLACE: position},
            {PLACE: len(self.target)},
            ahead_records={PLACE: ahead} if ahead > 0 else {},
        )
        self.entries += [start.to_document(), stop.to_document()]

    def forget(self) -> None:
        """Delete source records that were copied."""
        if last := self.ledger.last_stop:
            self.log_start = self.rng.randint(self.log_start, max(self.log_start, last.mirror_positions[PLACE]))

    def judge(self, *, whole: bool = False) -> TopicVerdict | None:
        """Validate what is pending, or everything, as a run does; `None` without anything to judge."""
        judged = judge(self.entries, self.measured, {PLACE: len(self.target)}, whole=whole)
        if judged is None:
            return None
        self.is_blind |= judged.is_blind
        self.runs.append(judged.verdict)
        return judged.verdict

    # What the Spark job does.

    def measured(self, window: Window) -> PartitionResult:
        """Return what the job returns for a window."""
        document = window.to_document()
        ends = len(self.source), len(self.target)
        bounds = [
            {(TOPIC, window.partition): LogBounds(start, end, end)}
            for start, end in zip((self.log_start, 0), ends, strict=True)
        ]
        plan = plan_window(document, *bounds)
        (one,) = self._compare([plan], None)
        counts = {side: _count(getattr(one, side)) for side in ("source", "target")}
        entry = PartitionResult.from_document(
            plan.entry(counts["source"], counts["target"], equal=plan.is_whole and not one.differs)
            | {"blocks": 1, "differing_blocks": 0, "source_digest": None, "target_digest": None}
            | {"first_difference": None, "differences": None, "rest_in_order": None}
        )
        if plan.is_whole and not one.differs:
            return entry
        restarts = Restarts(self.resent, self._parted, self._continued)
        if again := sent_again([one], self._compare, restarts).get(0):
            first = FirstDifference(DifferenceKind.DUPLICATE, again.source_offset, again.target_offset, (), "again")
            found = Differences({first.kind: again.records}, ())
            return replace(entry, first_difference=first, differences=found, rest_in_order=True)
        differing = None if plan.is_expired else self._first(plan)
        return replace(entry, first_difference=differing, differences=self._by_key(plan))

    def rows(self, side: str, start: int, end: int) -> list[tuple[int, Record]]:
        """Return the records of a range with their offsets."""
        log: Sequence[Record | None] = self.source if side == "source" else self.target
        return [(o, r) for o in range(start, min(end, len(log))) if (r := log[o]) is not None]

    def _compare(self, plans: Sequence[WindowPlan], limits: Sequence[int] | None) -> list[Measured]:
        found = []
        for number, plan in enumerate(plans):
            limit = None if limits is None else limits[number]
            source = _blocks(self.rows("source", plan.source.start, plan.source.end)[:limit])
            target = _blocks(self.rows("target", plan.target.start, plan.target.end))
            found.append(Measured(plan, source, target, compare_blocks(source, target)))
        return found

    def _parted(self, plans: Sequence[WindowPlan], limits: Sequence[int]) -> list[Parted | None]:
        return [self._first_places(plan, limit) for plan, limit in zip(plans, limits, strict=True)]

    def _first_places(self, plan: WindowPlan, limit: int) -> Parted | None:
        ours = self.rows("source", plan.source.start, plan.source.end)[:limit]
        theirs = self.rows("target", plan.target.start, plan.target.end)
        pairs = list(zip_longest(ours, theirs, fillvalue=(None, None)))
        return next((Parted(one[0], other[0]) for one, other in pairs if one[1] != other[1]), None)

    def _continued(self, asked: Sequence[Continuation]) -> list[int | None]:
        found = []
        for source, target, reached in asked:
            ours = ((o, hash(r)) for o, r in self.rows("source", source.start, source.end))
            wanted = [hash(record) for _, record in self.rows("target", target.start, target.end)]
            found.append(chosen(ours, wanted, reached))
        return found

    def _by_key(self, plan: WindowPlan) -> Differences | None:
        sides = ((SOURCE, plan.source), (TARGET, plan.target))
        rows = [
            row_of(number, o, r)
            for number, p in sides
            for o, r in self.rows(("source", "target")[number], p.start, p.end)
        ]
        rows.sort(key=lambda row: (row["key"], row["side"], row["offset"]))
        expired = frozenset({0} if plan.source.is_expired else ()), frozenset[int]()
        batch = pa.RecordBatch.from_pylist(rows, schema=ROWS)
        found = differences([batch] if rows else [], Circumstances(expired=expired))
        told = [
            Difference(DifferenceKind(row["label"]), (), 0, row["source_offset"], 0, row["target_offset"])
            for each in found
            for row in each.to_pylist()
        ]
        return Differences(Counter(each.kind for each in told), tuple(told[:20])) if told else None

    def _first(self, plan: WindowPlan) -> FirstDifference | None:
        sides = [
            self.rows("source", plan.source.start, plan.source.end),
            self.rows("target", plan.target.start, plan.target.end),
        ]
        records = [
            [classify.Record(n, o, hash(r), hash(r[0]), hash(r[1]), 0, 0) for n, (o, r) in enumerate(rows)]
            for rows in sides
        ]
        found = classify.classify_first_difference(records[0], records[1])
        return None if found is None else FirstDifference.from_document(found.to_document())


class Judged(NamedTuple):
    """The verdict of a run, and whether a part of its windows could not be read."""

    verdict: TopicVerdict
    is_blind: bool


def judge(
    entries: Entries, measured: Callable[[Window], PartitionResult], target_ends: Offsets, *, whole: bool
) -> Judged | None:
    """Validate what is pending, or everything, as a run does, and record it; `None` without anything to judge."""
    ledger, number = entries.ledger, len(entries)
    replays = Replays(ledger, by_key=False)
    chosen = ledger.generations if whole else ledger.pending_generations
    generations = replays.with_unproved(chosen)
    if not generations:
        return None
    windows = delta_windows(generations, replays)
    if whole:
        windows = whole_windows(ledger, [TOPIC], target_ends)
    result = ValidationResult("4", "t", "t", tuple(measured(window) for window in windows))
    (verdict,) = judge_topics(result, events={TOPIC: _events(generations)}, tolerance=MANY)
    entries.append(
        Judgement(
            f"d/{number}#1",
            "t",
            whole,
            tuple(g.number for g in generations),
            {TOPIC: verdict.verdict},
            {TOPIC: verdict.source_records},
            POSITION_DIGEST,
            comparisons_of(result, {TOPIC: verdict.verdicts}, whole=whole),
        ).to_document()
    )
    return Judged(verdict, any(p.unreadable for p in result.partitions))


def _events(generations: Sequence[Generation]) -> GenerationEvents:
    return GenerationEvents(
        killed={g.number for g in generations if g.was_killed}, resent={g.number for g in generations if g.has_resent}
    )


def row_of(side: int, offset: int, record: Record) -> dict[str, Any]:
    """Return the row of a record as the comparison by key reads it."""
    key, value = record
    hashes = {"record": hash(record), "value": hash(value), "headers": 0, "timestamp": 0}
    return {"unit": 0, "key": key, "side": side, "partition": 0, "offset": offset, **hashes} | {
        "tombstone": False,
        "keyless": False,
    }


def _hash_of(value: object) -> int:
    """Return a strong hash: sums of Python's own hashes of small numbers can be equal by chance."""
    return int.from_bytes(blake2b(repr(value).encode(), digest_size=8).digest(), "big")


def _blocks(rows: Sequence[tuple[int, Record]]) -> list[Block]:
    """Return the blocks of the records of a range; each record's hash includes its rank."""
    blocks = []
    for start in range(0, len(rows), BLOCK_RECORDS):
        part = rows[start : start + BLOCK_RECORDS]
        total = sum(_hash_of((start + n, record)) for n, (_, record) in enumerate(part))
        blocks.append(Block(start // BLOCK_RECORDS, len(part), total, 0, 0, part[0][0], part[-1][0]))
    return blocks


def _count(blocks: Sequence[Block]) -> dict[str, int | None]:
    records = sum(block.records for block in blocks)
    return SideCount(records, 0, None, None).to_document()


def told(findings: Sequence[Finding]) -> set[str]:
    """Return the codes of findings."""
    return {str(finding.code) for finding in findings}
