"""Generations and judgements in the ledger.

A generation is one MirrorMaker process from its start to its stop. Before each start, when the old process is dead, the
ledger records per partition P = the next source offset to copy and E = the target end. It records P' and E' after the
stop. For a same-partition copy, the window of a generation is source [P, P') against target [E, E').
`core.watching.gap_guard` checks at the next start that P' and E' are unchanged.

A judgement is the result of one validation, with each comparison and its digests, and the schema ids that it found.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar, Literal, NamedTuple, TypeVar

from kafka_migration.core.documents.codec import LATER, Document
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.offsets import Offsets, Ranges, TopicPartition
from kafka_migration.core.ledger.cutovers import LedgerEntry
from kafka_migration.core.migration.settings import Part
from kafka_migration.core.text.local_time import LocalTime


class Piece(NamedTuple):
    """What MirrorMaker sent without interruption: source `[source_start, source_end)`, to the target from an offset on.

    It ends on the target where the next piece begins, and the last one at the end of the window. `generation` is its
    last generation; only that of a window's last piece may have ended gracefully.
    """

    generation: int
    source_start: int
    source_end: int
    target_start: int


@dataclass(frozen=True, slots=True, order=True)
class Window(Document):
    """The offset ranges of one partition that one comparison covers, `[start, end)` on each cluster.

    `pieces` say how it was copied, in order, if MirrorMaker was killed and started again within it; else there are
    none. A piece may begin at source offsets that an earlier one has sent already.
    """

    generation: int
    topic: str
    target_topic: str
    partition: int
    source_start: int
    source_end: int
    target_start: int
    target_end: int
    pieces: tuple[Piece, ...] = ()

    @property
    def replaying(self) -> tuple[int, ...]:
        """The generations that were killed within the window and followed by another one."""
        return tuple(piece.generation for piece in self.pieces[:-1])

    @property
    def is_empty(self) -> bool:
        """Whether neither cluster has offsets to read."""
        return self.source_start == self.source_end and self.target_start == self.target_end


NO_GENERATIONS = range(0)
# Most of them are those of old generations, which a run does not need.
KeptOffsets = Annotated[Offsets, LATER]
_GENERATIONS = re.compile(r"(?P<first>[1-9][0-9]{0,8})(?:-(?P<last>[1-9][0-9]{0,8}))?", re.ASCII)


def parse_generations(text: str) -> range:
    """Parse generations such as `3` or `3-5`, both ends included; `ValueError` for any other text."""
    found = _GENERATIONS.fullmatch(text)
    if found is None or int(found["last"] or found["first"]) < int(found["first"]):
        raise ValueError(text)
    return range(int(found["first"]), int(found["last"] or found["first"]) + 1)


def generations_text(generations: range) -> str:
    """Return a range of generations as text for `parse_generations`; empty for none."""
    if len(generations) < 2:
        return "".join(map(str, generations))
    return f"{generations[0]}-{generations[-1]}"


@dataclass(frozen=True, slots=True)
class GenerationStart(Document):
    """The state right before a start; topic ids exist if the brokers have them."""

    generation: int
    run: str
    at: str
    mirror_positions: KeptOffsets
    target_end_offsets: KeptOffsets
    source_topic_ids: Mapping[str, str] = field(default_factory=dict)
    target_topic_ids: Mapping[str, str] = field(default_factory=dict)
    kind: Literal["generation-started"] = "generation-started"


@dataclass(frozen=True, slots=True)
class Remembered(Document):
    """The data of a stop certificate that the next start compares, in addition to positions and target ends.

    `stored_positions` are MirrorMaker's own positions; they may be lower than the certified positions, which include
    proved ones. `rewind` are positions that must be stored before the next start, because MirrorMaker's own cannot be
    trusted. `fingerprints` are the source records at the last copied offsets. `source_topic_ids` are the topic ids, if
    the brokers have them.
    """

    stored_positions: KeptOffsets = field(default_factory=dict)
    rewind: KeptOffsets = field(default_factory=dict)
    fingerprints: Annotated[Mapping[TopicPartition, Fingerprint], LATER] = field(default_factory=dict)
    source_topic_ids: Mapping[str, str] = field(default_factory=dict)

    def updated_by(self, later: Remembered, partitions: Collection[TopicPartition]) -> Remembered:
        """Return the data after a later stop of these partitions."""
        return Remembered(
            {**_without(self.stored_positions, partitions), **later.stored_positions},
            {**_without(self.rewind, partitions), **later.rewind},
            {**_without(self.fingerprints, partitions), **later.fingerprints},
            # Keep the first id of a topic: a topic that was recreated during the copy is a different one.
            {**later.source_topic_ids, **self.source_topic_ids},
        )


class Fingerprint(NamedTuple):
    """The source record at an offset: the SHA-256 (hex) of key, value, headers and timestamp."""

    offset: int
    digest: str


Value = TypeVar("Value")


def _without(
    values: Mapping[TopicPartition, Value], partitions: Collection[TopicPartition]
) -> dict[TopicPartition, Value]:
    return {p: value for p, value in values.items() if p not in partitions}


@dataclass(frozen=True, slots=True)
class StopCertificate(Document):
    """The state right after a stop, and how the process ended.

    `graceful` comes from MirrorMaker's last log line, not from the exit code (143 after SIGTERM). `gaps` are source
    offsets that were deleted before they were copied. `ahead_records` are records beyond the position that the target
    is known to have; the next start sends them again. There may be more if the source's offsets have holes. `gone` are
    topics that no longer existed, and `recreated` topics that were deleted and created again, by cluster.
    `held_back` are source offsets after an open transaction: not copied yet. `last_record_at` is the newest timestamp
    (ISO 8601) of the last copied source records; `None`: unknown. `resent`: a part of MirrorMaker was started again
    within the generation, so records may be on the target again at any place of its range. It is never graceful, and
    offsets do not show how far it came.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"resent"})
    OMITTED: ClassVar[frozenset[str]] = frozenset({"last_record_at"})

    generation: int
    run: str
    at: str
    graceful: bool
    exit_code: int | None
    reason: str
    mirror_positions: KeptOffsets
    target_end_offsets: KeptOffsets
    remembered: Remembered = Remembered()
    gaps: Ranges = field(default_factory=dict)
    ahead_records: KeptOffsets = field(default_factory=dict)
    gone: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    recreated: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    held_back: Ranges = field(default_factory=dict)
    last_record_at: str | None = None
    resent: bool = False
    kind: Literal["generation-stopped"] = "generation-stopped"

    def words(self, local: LocalTime) -> str:
        """Return when, why and how the generation ended."""
        return f"{local.minute(self.at)}, {self.manner}"

    @property
    def manner(self) -> str:
        """Why and how the generation ended."""
        exit_code = "unknown" if self.exit_code is None else self.exit_code
        how = "clean stop" if self.graceful else f"NOT a clean stop (exit code {exit_code})"
        return f"{self.reason}, {how}"

    def after(self, earlier: StopCertificate) -> StopCertificate:
        """Return the combined state after this stop and an earlier one, possibly of other topics."""
        return replace(
            self,
            mirror_positions={**earlier.mirror_positions, **self.mirror_positions},
            target_end_offsets={**earlier.target_end_offsets, **self.target_end_offsets},
            remembered=earlier.remembered.updated_by(self.remembered, self.mirror_positions.keys()),
            held_back=self.held_back_after(earlier.held_back),
        )

    def held_back_after(self, earlier: Ranges) -> Ranges:
        """Return the offsets that are held back after this stop and an earlier one."""
        return {**_without(earlier, self.mirror_positions.keys()), **self.held_back}


@dataclass(frozen=True, slots=True)
class Generation:
    """A start and, after the stop, its stop certificate."""

    start: GenerationStart
    stop: StopCertificate | None = None

    @property
    def number(self) -> int:
        """The generation's number, counted from 1."""
        return self.start.generation

    @property
    def was_killed(self) -> bool:
        """Whether it ended ungracefully; such a process may have sent more than its positions show."""
        return self.stop is not None and not self.stop.graceful

    @property
    def has_resent(self) -> bool:
        """Whether it may have sent records again at any place of its range; such a generation `was_killed` too."""
        return self.stop is not None and self.stop.resent

    @property
    def topics(self) -> frozenset[str]:
        """The topics in its stop certificate; none before the stop."""
        return frozenset(p.topic for p in self.stop.mirror_positions) if self.stop else frozenset()

    @property
    def grown_topics(self) -> frozenset[str]:
        """The topics whose target topic gained partitions while MirrorMaker ran."""
        known = self.start.target_end_offsets
        before = {p.topic for p in known}
        ends = self.stop.target_end_offsets if self.stop else {}
        return frozenset(p.topic for p in ends if p not in known and p.topic in before)

    def window(self, partition: TopicPartition, ahead: int = 0) -> Window:
        """Return what a stopped generation copied of a partition, up to the certified position and `ahead` offsets.

        A partition that is unknown at the start was added while MirrorMaker ran: it begins at offset 0.
        """
        if self.stop is None:
            raise ValueError(f"generation {self.number} has no stop certificate")
        return Window(
            generation=self.number,
            topic=partition.topic,
            target_topic=partition.topic,
            partition=partition.partition,
            source_start=self.start.mirror_positions.get(partition, 0),
            source_end=self.stop.mirror_positions.get(partition, 0) + ahead,
            target_start=self.start.target_end_offsets.get(partition, 0),
            target_end=self.stop.target_end_offsets.get(partition, 0),
        )

    def limited_to(self, topics: Collection[str]) -> Generation:
        """Return the generation with only the partitions of these topics."""
        return Generation(_only(self.start, topics), self.stop and _only(self.stop, topics))

    def by_topic(self) -> dict[str, Generation]:
        """Return the generation once per topic of its stop certificate, with only the partitions of that topic."""
        if self.stop is None:
            return {}
        starts, stops = _by_topic(self.start), _by_topic(self.stop)
        nothing = replace(self.start, mirror_positions={}, target_end_offsets={})
        return {topic: Generation(starts.get(topic, nothing), stops[topic]) for topic in self.topics}


Moment = TypeVar("Moment", GenerationStart, StopCertificate)


def _by_topic(moment: Moment) -> dict[str, Moment]:
    """Return a moment once per topic; large clusters have too many partitions to look for each topic's by itself."""
    found: dict[str, tuple[dict[TopicPartition, int], dict[TopicPartition, int]]] = {}
    for number, offsets in enumerate((moment.mirror_positions, moment.target_end_offsets)):
        for partition, offset in offsets.items():
            found.setdefault(partition.topic, ({}, {}))[number][partition] = offset
    return {
        topic: replace(moment, mirror_positions=positions, target_end_offsets=ends)
        for topic, (positions, ends) in found.items()
    }


def _only(moment: Moment, topics: Collection[str]) -> Moment:
    positions, ends = (
        {p: offset for p, offset in offsets.items() if p.topic in topics}
        for offsets in (moment.mirror_positions, moment.target_end_offsets)
    )
    return replace(moment, mirror_positions=positions, target_end_offsets=ends)


class ReadOffsets(NamedTuple):
    """The offset ranges `[start, end)` of one partition that a comparison read, and their generation."""

    partition: int
    generation: int
    source_start: int
    source_end: int
    target_start: int
    target_end: int

    @classmethod
    def of(cls, window: Window) -> ReadOffsets:
        """Return the ranges of a window."""
        return cls(*(getattr(window, name) for name in cls._fields))

    @property
    def has_offsets(self) -> bool:
        """Whether a range has an offset; a range that ends before its start has none."""
        return self.source_start < self.source_end or self.target_start < self.target_end


@dataclass(frozen=True, slots=True)
class Comparison(Document):
    """One comparison of a topic and its result.

    A comparison by position has one window; by key it has one per partition of the topic. Digests are hexadecimal
    digests of the records that were read, `None` if unknown; they are the same if all records are equal. `unreadable`
    are the clusters, `source` and `target`, of which a part could not be read.
    """

    verdict: Verdict
    windows: tuple[ReadOffsets, ...]
    source_records: int
    target_records: int
    source_digest: str | None = None
    target_digest: str | None = None
    unreadable: tuple[str, ...] = ()

    @property
    def is_blind(self) -> bool:
        """Whether the only reason for `NOT_VERIFIABLE` is that the source can no longer be read."""
        return self.verdict is Verdict.NOT_VERIFIABLE and self.unreadable == ("source",)


Comparisons = Annotated[Mapping[str, tuple[Comparison, ...]], LATER]
"""The comparisons per topic."""


@dataclass(frozen=True, slots=True)
class Judgement(LedgerEntry):
    """The verdicts of one validation: of some generations' windows, or of the whole copy.

    `digest` names the kind of comparison.
    """

    whole: bool
    generations: tuple[int, ...]
    topics: Mapping[str, Verdict]
    source_records: Mapping[str, int]
    digest: str
    comparisons: Comparisons
    kind: Literal["judged"] = "judged"

    @property
    def is_good(self) -> bool:
        """Whether every topic has a good verdict."""
        return all(verdict.is_good for verdict in self.topics.values())


@dataclass(frozen=True, slots=True)
class PartIds(Document):
    """The ids in the keys or values of one topic.

    `large` says whether there were also numbers of 2^20 or more, `too_many` whether there were too many different
    numbers to keep them, and `complete` whether all records of the topic's windows were read.
    """

    topic: str
    part: Part
    ids: tuple[int, ...]
    large: bool = False
    too_many: bool = False
    complete: bool = True


@dataclass(frozen=True, slots=True)
class SchemaIdsFound(LedgerEntry):
    """The ids that one validation found, and per topic the generations that it validated; topics by source names."""

    generations: Mapping[str, tuple[int, ...]]
    parts: tuple[PartIds, ...]
    kind: Literal["schema-ids"] = "schema-ids"
