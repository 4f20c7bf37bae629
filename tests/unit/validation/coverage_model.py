"""Random lives of a topic for the tests of coverage, and the same rules over single offsets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.ledger.generations import (
    Comparison,
    Generation,
    GenerationStart,
    Judgement,
    ReadOffsets,
    StopCertificate,
    Window,
)
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.validation.compared_windows import delta_windows, whole_windows
from kafka_migration.core.validation.coverage import FlawKind, TopicCoverage
from kafka_migration.core.validation.validation_contract import POSITION_DIGEST
from tests.growing_ledger import Entries

TOPIC = "orders"
PARTITIONS = (TopicPartition(TOPIC, 0), TopicPartition(TOPIC, 1))
# Mostly as it should be.
SHIFTS = st.sampled_from([0] * 10 + [-3, -1, 1, 2])
VERDICTS = st.sampled_from([Verdict.PASS] * 4 + [Verdict.WARN, Verdict.FAIL, Verdict.NOT_VERIFIABLE, "blind"])


@dataclass(frozen=True)
class Copy:
    """A generation's copy of one partition, by its start relative to the end of the previous one."""

    source_shift: int
    source: int
    target_shift: int
    target: int
    ahead: int
    lost: int


@dataclass(frozen=True)
class Reading:
    """One judgement: of what is pending, of some generations again, or of the whole copy."""

    kind: str
    first: int
    count: int
    verdicts: tuple[Any, ...]
    beyond: int


copies = st.builds(
    Copy,
    SHIFTS,
    st.integers(0, 5),
    SHIFTS,
    st.integers(0, 5),
    st.sampled_from([0, 0, 2]),
    st.sampled_from([0, 0, 0, 1]),
)
readings = st.builds(
    Reading,
    st.sampled_from(["pending", "again", "whole"]),
    st.integers(1, 5),
    st.integers(1, 3),
    st.tuples(VERDICTS, VERDICTS, VERDICTS),
    st.sampled_from([0, 0, 2]),
)
# Rounds: copies of both partitions, and what is read after them.
lives = st.lists(st.tuples(st.tuples(copies, copies), st.lists(readings, max_size=3)), max_size=5)


def is_empty(read: ReadOffsets) -> bool:
    """Return whether neither range has an offset between its start and its end."""
    return (read.source_start, read.target_start) == (read.source_end, read.target_end)


@dataclass
class Life:
    """A topic's ledger, made of rounds of copies and readings."""

    rounds: Iterable[tuple[tuple[Copy, Copy], list[Reading]]]
    entries: Entries = field(default_factory=Entries)
    read: list[Judgement] = field(default_factory=list)

    def __post_init__(self) -> None:
        for pieces, readings in self.rounds:
            self._copy(pieces)
            for reading in readings:
                self._judge(reading)

    @property
    def ledger(self) -> Ledger:
        """The ledger."""
        return self.entries.ledger

    def _copy(self, pieces: tuple[Copy, ...]) -> None:
        last, number = self.ledger.last_stop, len(self.ledger.generations) + 1
        ends = (last.mirror_positions, last.target_end_offsets) if last else ({}, {})
        begin = {p: max(0, ends[0].get(p, 0) + c.source_shift) for p, c in zip(PARTITIONS, pieces, strict=True)}
        target = {p: max(0, ends[1].get(p, 0) + c.target_shift) for p, c in zip(PARTITIONS, pieces, strict=True)}
        ahead = {p: c.ahead for p, c in zip(PARTITIONS, pieces, strict=True) if c.ahead}
        stop = StopCertificate(
            number,
            f"dag/run{number}#1",
            "t",
            not ahead,
            143,
            "stopped",
            {p: begin[p] + c.source for p, c in zip(PARTITIONS, pieces, strict=True)},
            {p: target[p] + c.target + c.ahead for p, c in zip(PARTITIONS, pieces, strict=True)},
            gaps={p: (begin[p], begin[p] + c.lost) for p, c in zip(PARTITIONS, pieces, strict=True) if c.lost},
            ahead_records=ahead,
        )
        self.entries.append(GenerationStart(number, f"dag/run{number}#1", "t", begin, target).to_document())
        self.entries.append(stop.to_document())

    def _judge(self, reading: Reading) -> None:
        generations = self._read_by(reading)
        if not generations:
            return
        windows = delta_windows(generations)
        if reading.kind == "whole":
            assert self.ledger.last_stop is not None
            ends = {p: end + reading.beyond for p, end in self.ledger.last_stop.target_end_offsets.items()}
            windows = whole_windows(self.ledger, [TOPIC], ends)
        comparisons = tuple(_comparison(w, reading.verdicts[n % 3]) for n, w in enumerate(windows))
        kept = tuple(c for c in comparisons if reading.kind == "whole" or not is_empty(c.windows[0]))
        judgement = Judgement(
            f"dag/judge{len(self.entries)}#1",
            "t",
            reading.kind == "whole",
            tuple(g.number for g in generations),
            {TOPIC: worst([Verdict.PASS, *(c.verdict for c in kept)])},
            {TOPIC: 0},
            POSITION_DIGEST,
            {TOPIC: kept},
        )
        self.read.append(judgement)
        self.entries.append(judgement.to_document())

    def _read_by(self, reading: Reading) -> tuple[Generation, ...]:
        if reading.kind == "pending":
            return self.ledger.pending_generations
        if reading.kind == "again":
            again = range(reading.first, reading.first + reading.count)
            return tuple(g for g in self.ledger.generations if g.number in again)
        return self.ledger.generations


def _comparison(window: Window, verdict: Any) -> Comparison:
    offsets = window.source_start, window.source_end, window.target_start, window.target_end
    read = ReadOffsets(window.partition, window.generation, *offsets)
    if verdict == "blind":
        return Comparison(Verdict.NOT_VERIFIABLE, (read,), 0, 0, unreadable=("source",))
    # Where nothing is to be read, nothing is wrong.
    return Comparison(Verdict.PASS if is_empty(read) else verdict, (read,), 0, 0)


Offset = tuple[str, int, int]
"""Side, partition and offset."""


class SingleOffsets:
    """The rules of coverage, one offset after the other."""

    def __init__(self, life: Life) -> None:
        self.generations = life.ledger.generations
        self.known: dict[Offset, tuple[Verdict, bool]] = {}
        self.settled: dict[int, int] = {}
        self.judged = {number for j in life.read for number in j.generations}
        newest = life.read[-1].comparisons[TOPIC] if life.read else ()
        self.without_offsets = [c.verdict for c in newest if not offsets_of(c.windows[0])]
        for judgement in life.read:
            self._take(judgement)

    def _take(self, judgement: Judgement) -> None:
        for comparison in judgement.comparisons[TOPIC]:
            self._read(judgement, comparison.verdict, bool(comparison.unreadable), comparison.windows[0])

    def _read(self, judgement: Judgement, found: Verdict, blind: bool, window: ReadOffsets) -> None:
        if judgement.whole and found is not Verdict.NOT_VERIFIABLE:
            self.known = {o: known for o, known in self.known.items() if o[1] != window.partition}
            if found.is_good:
                self.settled[window.partition] = max(judgement.generations)
        for offset in offsets_of(window):
            before = self.known.get(offset)
            if before is None or self._wins(before[0], found, blind):
                self.known[offset] = (found, blind)

    @staticmethod
    def _wins(before: Verdict, found: Verdict, blind: bool) -> bool:
        if found is Verdict.NOT_VERIFIABLE:
            return before is Verdict.NOT_VERIFIABLE or (before.is_good and not blind)
        return True

    @property
    def proved(self) -> set[Offset]:
        """The offsets that are proved."""
        return {offset for offset, (verdict, _) in self.known.items() if verdict.is_good}

    def flaws(self) -> dict[FlawKind, set[Offset]]:
        """Return the offsets that are not, by the reason; kinds that do not occur are left out."""
        found: dict[FlawKind, set[Offset]] = {kind: set() for kind in FlawKind}
        for offset, (verdict, _) in self.known.items():
            if not verdict.is_good:
                found[FlawKind.DIFFERS if verdict is Verdict.FAIL else FlawKind.NOT_VERIFIABLE].add(offset)
        for generation in self.generations:
            if generation.number in self.judged:
                copied = {offset for window in delta_windows([generation]) for offset in offsets_of(window)}
                found[FlawKind.NOT_JUDGED] |= copied - self.known.keys()
        for partition in PARTITIONS:
            for generation in self.generations:
                assert generation.stop is not None
                lost = generation.stop.gaps.get(partition, (0, 0))
                found[FlawKind.GAP] |= {("source", partition.partition, o) for o in range(*lost)}
            self._seams(partition, found)
        return {kind: offsets for kind, offsets in found.items() if offsets}

    def _seams(self, partition: TopicPartition, found: dict[FlawKind, set[Offset]]) -> None:
        number = partition.partition
        for later in self.generations:
            before = [g for g in self.generations if g.number < later.number]
            settled = self.settled.get(number, 0)
            if not before or later.number <= settled:
                continue
            counts = [g.stop.mirror_positions[partition] for g in before if g.stop and g.number >= settled]
            reached, start = max(counts), later.start.mirror_positions[partition]
            assert later.stop is not None
            assert before[-1].stop is not None
            end = later.stop.mirror_positions[partition]
            found[FlawKind.NOT_COPIED] |= {("source", number, o) for o in range(reached, start)}
            found[FlawKind.OVERLAP] |= {("source", number, o) for o in range(start, end) if o < reached}
            ended, began = before[-1].stop.target_end_offsets[partition], later.start.target_end_offsets[partition]
            found[FlawKind.WRITTEN_BY_OTHERS] |= {
                ("target", number, o) for o in range(min(ended, began), max(ended, began))
            }

    def verdict(self) -> Verdict | None:
        """Return the worst of all."""
        known = [verdict for verdict, _ in self.known.values()]
        verdicts = [*known, *self.without_offsets, *(k.verdict for k in self.flaws())]
        return worst([*verdicts, *([Verdict.PASS] if self.judged else [])]) if verdicts or self.judged else None


def offsets_of(window: Window | ReadOffsets) -> set[Offset]:
    """Return every offset of a window, on both sides."""
    source = {("source", window.partition, o) for o in range(window.source_start, window.source_end)}
    return source | {("target", window.partition, o) for o in range(window.target_start, window.target_end)}


def proved_by(coverage: TopicCoverage) -> set[Offset]:
    """Return every offset that a coverage says is proved."""
    return {
        (side, number, offset)
        for number, partition in coverage.partitions.items()
        for side in ("source", "target")
        for span in partition.proved(side)
        for offset in range(*span)
    }


def flaws_of(coverage: TopicCoverage) -> dict[FlawKind, set[Offset]]:
    """Return every offset of a coverage's flaws, by kind."""
    found: dict[FlawKind, set[Offset]] = {}
    for flaw in coverage.flaws:
        found.setdefault(flaw.kind, set()).update((flaw.side, flaw.partition, o) for o in range(flaw.start, flaw.end))
    return found
