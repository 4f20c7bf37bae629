"""Random lives of a topic that MirrorMaker 1 copies by key: other partitions on the target, kills, stored positions.

Only Kafka and Spark are replaced: logs are lists, and the job's own part compares each key.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from kafka_digest.keys.align_tasks import SOURCE, TARGET, differences
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import GenerationStart, Judgement, StopCertificate, Window
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.validation.compared_windows import delta_key_windows, whole_windows
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.differences import Differences
from kafka_migration.core.validation.judging import TopicVerdict, comparisons_of, judge_topics
from kafka_migration.core.validation.judging_by_key import GenerationEvents
from kafka_migration.core.validation.replays import Replays
from kafka_migration.core.validation.validation_contract import (
    KEY_DIGEST,
    PartitionResult,
    SideCount,
    TopicResult,
    ValidationResult,
)
from tests.compaction.product import _SCHEMA as ROWS
from tests.growing_ledger import Entries
from tests.unit.validation.replay_model import MANY, TOPIC, Record, row_of

SOURCES, TARGETS = (0, 1), (0, 1, 2)


@dataclass
class KeyedLife:
    """A topic on both clusters, and the ledger of its runs. A generation that ends in order has copied everything."""

    seed: int
    alphabet: int
    source: list[list[Record]] = field(default_factory=lambda: [[] for _ in SOURCES])
    target: list[list[Record]] = field(default_factory=lambda: [[] for _ in TARGETS])
    sent: list[tuple[int, int]] = field(default_factory=list)
    stored: list[int] = field(default_factory=lambda: [0 for _ in SOURCES])
    entries: Entries = field(default_factory=Entries)
    runs: list[TopicVerdict] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return self.entries.ledger

    def produce(self, count: int) -> None:
        """Append records; each key has one source partition."""
        for _ in range(count):
            number = self.rng.randrange(self.alphabet) if self.alphabet else sum(map(len, self.source))
            key = number % 6
            self.source[key % len(SOURCES)].append((key, number))

    def generation(self, killed: bool) -> None:
        """Copy from the stored positions on; a killed process may have stored earlier positions."""
        number, begin = len(self.ledger.generations) + 1, list(self.stored)
        start = GenerationStart(number, f"d/g{number}#1", "t", _placed(begin), self._target_ends())
        at = list(begin)
        while open_ := [p for p in SOURCES if at[p] < len(self.source[p])]:
            if killed and self.rng.random() < 0.1:
                break
            p = self.rng.choice(open_)
            record = self.source[p][at[p]]
            self.target[record[0] % len(TARGETS)].append(record)
            self.sent.append((p, at[p]))
            at[p] += 1
        self.stored = [
            self.rng.choice((b, a, self.rng.randint(b, a))) if killed else a for b, a in zip(begin, at, strict=True)
        ]
        stop = StopCertificate(
            number, f"d/g{number}#1", "t", not killed, 143, "stopped", _placed(self.stored), self._target_ends()
        )
        self.entries += [start.to_document(), stop.to_document()]

    def _target_ends(self) -> dict[TopicPartition, int]:
        return _placed([len(log) for log in self.target])

    def judge(self, *, whole: bool = False) -> TopicVerdict | None:
        """Validate what is pending, or everything, as a run does; `None` without anything to judge."""
        ledger, number = self.ledger, len(self.entries)
        chosen = ledger.generations if whole else ledger.pending_generations
        replays = Replays(ledger, by_key=True)
        generations = replays.with_unproved(chosen)
        if not generations:
            return None
        windows = delta_key_windows(generations, replays)
        if whole:
            windows = whole_windows(ledger, [TOPIC], self._target_ends(), by_key=True)
        of_generation = {w.generation: [v for v in windows if v.generation == w.generation] for w in windows}
        found = {g: self._measured(mine) for g, mine in of_generation.items()}
        parts = tuple(part for _, mine in found.values() for part in mine)
        result = ValidationResult("4", "t", "t", parts, tuple(topic for topic, _ in found.values()), KEY_DIGEST)
        events = GenerationEvents(killed={g.number for g in generations if g.was_killed})
        (verdict,) = judge_topics(result, events={TOPIC: events}, tolerance=MANY)
        judgement = Judgement(
            f"d/{number}#1",
            "t",
            whole,
            tuple(g.number for g in generations),
            {TOPIC: verdict.verdict},
            {TOPIC: verdict.source_records},
            KEY_DIGEST,
            comparisons_of(result, {TOPIC: verdict.verdicts}, whole=whole),
        )
        self.entries.append(judgement.to_document())
        self.runs.append(verdict)
        return verdict

    def _measured(self, windows: Sequence[Window]) -> tuple[TopicResult, list[PartitionResult]]:
        """Return what the job returns for all windows of a generation."""
        rows: list[dict[str, Any]] = []
        parts = []
        for w in windows:
            ours = self.source[w.partition][w.source_start : w.source_end] if w.partition in SOURCES else []
            theirs = self.target[w.partition][w.target_start : w.target_end]
            rows += [row_of(SOURCE, w.source_start + n, r) | {"partition": w.partition} for n, r in enumerate(ours)]
            rows += [row_of(TARGET, w.target_start + n, r) | {"partition": w.partition} for n, r in enumerate(theirs)]
            counts = SideCount(len(ours), 0, None, None), SideCount(len(theirs), 0, None, None)
            parts.append(PartitionResult(w, *counts, equal=True, blocks=0, differing_blocks=0))
        rows.sort(key=lambda row: (row["key"], row["side"], row["partition"], row["offset"]))
        labels = Counter(
            row["label"]
            for batch in differences([pa.RecordBatch.from_pylist(rows, schema=ROWS)] if rows else [])
            for row in batch.to_pylist()
        )
        told = Differences({DifferenceKind(k): n for k, n in labels.items()}, ()) if labels else None
        records = sum(p.source.records for p in parts), sum(p.target.records for p in parts)
        generation = windows[0].generation
        return TopicResult(generation, TOPIC, TOPIC, not labels, len(labels), *records, "", "", told), parts


def _placed(offsets: Sequence[int]) -> dict[TopicPartition, int]:
    return {TopicPartition(TOPIC, number): offset for number, offset in enumerate(offsets)}
