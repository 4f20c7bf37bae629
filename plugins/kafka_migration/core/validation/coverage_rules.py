"""What the ledger proves about each topic: the pure rules over generations and judgements.

- Each offset of either side has the verdict of the newest comparison that read it. So a FAIL remains until everything
  that it read, on both sides, has been read again.
- NOT_VERIFIABLE never replaces FAIL. It replaces a good verdict only if the reason is not an unreadable source: records
  that the source has deleted since do not invalidate earlier verdicts.
- A whole validation replaces all earlier verdicts of its partitions, unless it is NOT_VERIFIABLE. If it is good, it
  also settles flaws between the windows of the generations that it read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.kafka.offsets import Span, TopicPartition, without
from kafka_migration.core.ledger.generations import Comparison, Generation, Judgement, ReadOffsets, Window
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.validation.compared_windows import copied_windows
from kafka_migration.core.validation.coverage import (
    SIDES,
    Flaw,
    FlawKind,
    PartitionCoverage,
    Stretch,
    TopicCoverage,
)
from kafka_migration.core.validation.validation_contract import is_by_key


@dataclass(frozen=True, slots=True)
class _Copied:
    """What one generation copied of a partition.

    `position` is the certified source position, `None` if the source has no such partition. The records from there to
    the window's end are those that the next generation sends again.
    """

    window: Window
    position: int | None
    lost: Span | None


def coverage_of(ledger: Ledger) -> dict[str, TopicCoverage]:
    """Return the coverage of every topic that was copied or judged, sorted by topic."""
    generations, judgements = ledger.generations, ledger.judgements
    by_key = {topic for j in judgements if is_by_key(j.digest) for topic in j.topics}
    copied: dict[str, list[_Copied]] = {}
    for piece in _copied(generations, by_key):
        copied.setdefault(piece.window.topic, []).append(piece)
    copying = {g.number: _topics_of(g) for g in generations}
    topics = {topic for of in copying.values() for topic in of} | {topic for j in judgements for topic in j.topics}
    held = ledger.held_back
    return {
        topic: replace(
            _covered(
                topic,
                copied.get(topic, []),
                [number for number, of in copying.items() if topic in of],
                [j for j in judgements if topic in j.topics],
            ),
            held_back={p.partition: offsets for p, offsets in held.items() if p.topic == topic},
        )
        for topic in sorted(topics)
    }


def _topics_of(generation: Generation) -> frozenset[str]:
    """Return the topics of a generation; for an open one, those that it was started for."""
    return generation.topics if generation.stop else frozenset(p.topic for p in generation.start.mirror_positions)


def _copied(generations: Iterable[Generation], by_key: set[str]) -> Iterator[_Copied]:
    for generation in generations:
        stop = generation.stop
        for keyed in (False, True) if stop and by_key else (False,):
            for window in copied_windows(generation, by_key=keyed):
                if stop and keyed is (window.topic in by_key):
                    partition = TopicPartition(window.topic, window.partition)
                    yield _Copied(window, stop.mirror_positions.get(partition), stop.gaps.get(partition))


def _covered(
    topic: str, copied: Sequence[_Copied], generations: Iterable[int], judgements: Sequence[Judgement]
) -> TopicCoverage:
    judged = {number for j in judgements for number in j.generations}
    ground = _Ground(topic, [piece.window for piece in copied])
    for judgement in judgements:
        ground.take(judgement)
    pieces = {number: list(mine) for number, mine in groupby(sorted(copied, key=_number), key=_number)}
    partitions = {number: _partition(ground, number, pieces.get(number, []), judged) for number in ground.numbers}
    return TopicCoverage(
        topic=topic,
        partitions=partitions,
        pending=tuple(number for number in generations if number not in judged),
        last=judgements[-1] if judgements else None,
    )


def _number(copied: _Copied) -> int:
    return copied.window.partition


@dataclass
class _Ground:
    """The verdicts on the offsets of a topic, while its judgements are added, oldest first.

    `settled` is per partition the newest generation of a good whole validation.
    """

    topic: str
    windows: Sequence[Window]
    known: dict[tuple[Side, int], list[Stretch]] = field(default_factory=dict)
    settled: dict[int, int] = field(default_factory=dict)

    @property
    def numbers(self) -> list[int]:
        """The partitions that were copied or read."""
        return sorted({w.partition for w in self.windows} | {number for _, number in self.known})

    def take(self, judgement: Judgement) -> None:
        """Add a judgement."""
        for comparison in judgement.comparisons.get(self.topic, ()):
            for window in comparison.windows:
                self._lay(window, comparison, judgement)

    def _lay(self, window: ReadOffsets, comparison: Comparison, judgement: Judgement) -> None:
        resets = judgement.whole and comparison.verdict is not Verdict.NOT_VERIFIABLE
        if resets and comparison.verdict.is_good:
            self.settled[window.partition] = max(judgement.generations, default=0)
        for side in SIDES:
            known = [] if resets else self.known.get((side, window.partition), [])
            start, end = _span(window, side)
            self.known[side, window.partition] = _laid(known, Stretch(start, end, comparison, judgement))


def _span(window: Window | ReadOffsets, side: Side) -> Span:
    if side == "source":
        return window.source_start, window.source_end
    return window.target_start, window.target_end


def _laid(known: Sequence[Stretch], new: Stretch) -> list[Stretch]:
    """Lay a stretch over the known ones; where they overlap, the deciding one is kept."""
    if new.start >= new.end:
        return list(known)
    if not known or known[-1].end <= new.start:
        return [*known, new]
    pieces = [new.cut(*span) for span in without([new.span], [old.span for old in known])]
    for old in known:
        pieces += [old.cut(old.start, new.start), old.cut(new.end, old.end)]
        met = old.cut(new.start, new.end)
        pieces.append(new.cut(*met.span) if _gives_way(met.comparison, new.comparison) else met)
    return sorted((piece for piece in pieces if piece.start < piece.end), key=lambda piece: piece.start)


def _gives_way(earlier: Comparison, later: Comparison) -> bool:
    if later.verdict is not Verdict.NOT_VERIFIABLE or earlier.verdict is Verdict.NOT_VERIFIABLE:
        return True
    return earlier.verdict is not Verdict.FAIL and not later.is_blind


def _partition(ground: _Ground, number: int, copied: Sequence[_Copied], judged: set[int]) -> PartitionCoverage:
    known: Mapping[Side, Sequence[Stretch]] = {side: ground.known.get((side, number), []) for side in SIDES}
    windows = [piece.window for piece in copied if piece.window.generation in judged]
    settled = ground.settled.get(number, 0)
    flaws = [
        *(flaw for piece in copied for flaw in _lost(piece)),
        *(flaw for piece in copied if piece.window.generation > settled for flaw in _shrunk(piece.window)),
        *_seams(_not_settled(copied, settled)),
        *(flaw for side in SIDES for flaw in _bad(number, side, known[side])),
        *(flaw for side in SIDES for flaw in _not_judged(number, side, known[side], windows)),
    ]
    return PartitionCoverage(tuple(known["source"]), tuple(known["target"]), tuple(flaws))


def _lost(piece: _Copied) -> Iterator[Flaw]:
    if piece.lost is not None:
        detail = f"deleted by the source before generation {piece.window.generation} copied them"
        yield Flaw(FlawKind.GAP, "source", piece.window.partition, *piece.lost, detail)


def _shrunk(window: Window) -> Iterator[Flaw]:
    """Return the flaw of a target log that ended lower after a generation than before it."""
    if window.target_end < window.target_start:
        detail = (
            f"the target ended at {window.target_start:,} when generation {window.generation} started, and at "
            f"{window.target_end:,} when it stopped"
        )
        span = window.target_end, window.target_start
        yield Flaw(FlawKind.WRITTEN_BY_OTHERS, "target", window.partition, *span, detail)


def _not_settled(copied: Sequence[_Copied], settled: int) -> Sequence[_Copied]:
    """Return the last piece that a good whole validation covers, up to this generation, and those after it."""
    before = sum(piece.window.generation <= settled for piece in copied)
    return copied[max(0, before - 1) :]


def _seams(copied: Sequence[_Copied]) -> Iterator[Flaw]:
    """Return the flaws where a generation does not start at the end of the previous ones, oldest first."""
    yield from _source_seams([piece for piece in copied if piece.position is not None])
    for earlier, later in pairwise(piece.window for piece in copied):
        if earlier.target_end != later.target_start:
            yield _changed_target(earlier, later)


def _source_seams(copied: Iterable[_Copied]) -> Iterator[Flaw]:
    reached = 0
    for earlier, later in pairwise(copied):
        reached = max(reached, earlier.position or 0)
        number, start, end = later.window.partition, later.window.source_start, min(reached, later.position or 0)
        if reached < start:
            detail = f"copied neither by generation {earlier.window.generation} nor by {later.window.generation}"
            yield Flaw(FlawKind.NOT_COPIED, "source", number, reached, start, detail)
        elif start < end:
            detail = f"copied by generation {later.window.generation} and by an earlier one"
            yield Flaw(FlawKind.OVERLAP, "source", number, start, end, detail)


def _changed_target(earlier: Window, later: Window) -> Flaw:
    detail = (
        f"the target ended at {earlier.target_end:,} when generation {earlier.generation} stopped, and at "
        f"{later.target_start:,} when generation {later.generation} started"
    )
    start, end = sorted((earlier.target_end, later.target_start))
    return Flaw(FlawKind.WRITTEN_BY_OTHERS, "target", later.partition, start, end, detail)


def _bad(number: int, side: Side, known: Iterable[Stretch]) -> Iterator[Flaw]:
    for stretch in known:
        if not stretch.verdict.is_good:
            kind = FlawKind.DIFFERS if stretch.verdict is Verdict.FAIL else FlawKind.NOT_VERIFIABLE
            detail = f"{stretch.verdict}, judged at {stretch.judgement.at} by {stretch.judgement.run}"
            yield Flaw(kind, side, number, stretch.start, stretch.end, detail)


def _not_judged(number: int, side: Side, known: Iterable[Stretch], windows: Iterable[Window]) -> Iterator[Flaw]:
    """Return the offsets that judged generations copied and no comparison read."""
    for start, end in without([_span(window, side) for window in windows], [stretch.span for stretch in known]):
        yield Flaw(FlawKind.NOT_JUDGED, side, number, start, end, "copied, but not read by any validation")
