"""Coverage: which offsets of a copy are proved, by which judgement, and which are wrong or pending.

The rules are in `core.validation.coverage_rules`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import ClassVar

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.kafka.offsets import Span, joined
from kafka_migration.core.ledger.generations import Comparison, Judgement
from kafka_migration.core.text.shortened import some

SIDES: tuple[Side, Side] = ("source", "target")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Offsets `[start, end)` of a partition on one side, and the comparison that gives their verdict."""

    start: int
    end: int
    comparison: Comparison
    judgement: Judgement

    @property
    def span(self) -> Span:
        """Start and end."""
        return self.start, self.end

    @property
    def verdict(self) -> Verdict:
        """The verdict of the comparison."""
        return self.comparison.verdict

    def cut(self, start: int, end: int) -> Stretch:
        """Return the part of it that lies in `[start, end)`; start and end are equal if it is empty."""
        start = max(start, self.start)
        return replace(self, start=start, end=max(start, min(end, self.end)))


class FlawKind(StrEnum):
    """What keeps offsets from being proved; docs/concepts/evidence.md defines each."""

    DIFFERS = "differs"
    GAP = "gap"
    OVERLAP = "overlap"
    NOT_VERIFIABLE = "not verifiable"
    NOT_JUDGED = "not judged"
    NOT_COPIED = "not copied"
    WRITTEN_BY_OTHERS = "written by others"

    @property
    def verdict(self) -> Verdict:
        """The verdict that it gives the topic."""
        return Verdict.FAIL if self in _KNOWN_TO_BE_WRONG else Verdict.NOT_VERIFIABLE


_KNOWN_TO_BE_WRONG = {FlawKind.DIFFERS, FlawKind.GAP, FlawKind.OVERLAP}


@dataclass(frozen=True, slots=True)
class Flaw:
    """Offsets that are not proved, and why."""

    kind: FlawKind
    side: Side
    partition: int
    start: int
    end: int
    detail: str

    def __str__(self) -> str:
        return f"{self.side} partition {self.partition}, offsets [{self.start:,}, {self.end:,}): {self.detail}"


@dataclass(frozen=True, slots=True)
class PartitionCoverage:
    """The judged stretches of a partition on either side, ascending, and its flaws."""

    source: tuple[Stretch, ...]
    target: tuple[Stretch, ...]
    flaws: tuple[Flaw, ...]

    def stretches(self, side: Side) -> tuple[Stretch, ...]:
        """Return the judged stretches of one side."""
        return self.source if side == "source" else self.target

    def proved(self, side: Side) -> list[Span]:
        """Return the offsets of one side whose copy is proved."""
        return joined(s.span for s in self.stretches(side) if s.verdict.is_good)


@dataclass(frozen=True, slots=True)
class CoverageSummary(Document):
    """What the ledger proves about a topic, without its partitions: the properties of `TopicCoverage`."""

    ADDED: ClassVar[frozenset[str]] = frozenset({"source_records"})

    verdict: Verdict | None
    standing: str
    proved: bool
    source_offsets: int
    target_records: int | None
    surplus_records: int
    pending_generations: tuple[int, ...]
    judged_at: str | None
    judged_by: str | None
    reasons: tuple[str, ...]
    further_reasons: int
    source_records: int | None = None


@dataclass(frozen=True)
class TopicCoverage:
    """What the ledger proves about a topic.

    `pending` are generations that copied it and have no judgement. `last` is the newest judgement. `held_back` are
    source offsets after an open transaction at the last stop, by partition: not copied, so no verdict is about them.
    """

    topic: str
    partitions: Mapping[int, PartitionCoverage] = field(default_factory=dict)
    pending: tuple[int, ...] = ()
    last: Judgement | None = None
    held_back: Mapping[int, Span] = field(default_factory=dict)

    @cached_property
    def flaws(self) -> tuple[Flaw, ...]:
        """What keeps offsets from being proved, by partition."""
        return tuple(flaw for _, partition in sorted(self.partitions.items()) for flaw in partition.flaws)

    @cached_property
    def verdict(self) -> Verdict | None:
        """The worst verdict of all judgements and flaws; `None` without a judgement.

        Pending generations are not included.
        """
        verdicts = {flaw.kind.verdict for flaw in self.flaws}
        verdicts |= {s.verdict for p in self.partitions.values() for side in SIDES for s in p.stretches(side)}
        if self.last is not None:
            verdicts.add(_verdict_without_offsets(self.last, self.topic))
        return worst(verdicts) if verdicts else None

    @property
    def is_proved(self) -> bool:
        """Whether everything that was ever copied of the topic is proved, and nothing is pending."""
        return not self.pending and self.verdict is not None and self.verdict.is_good

    @property
    def standing(self) -> str:
        """The verdict in a word; `pending` if nothing is wrong and not everything was judged."""
        if self.verdict is not None and (not self.pending or not self.verdict.is_good):
            return str(self.verdict)
        return "pending" if self.pending else "nothing copied"

    @property
    def source_offsets(self) -> int:
        """The number of proved source offsets, including transaction markers and holes; none counts twice."""
        return sum(end - start for p in self.partitions.values() for start, end in p.proved("source"))

    @property
    def source_records(self) -> int | None:
        """The number of proved source records; `None` if parts of a comparison cannot be counted."""
        return self._records("source")

    @property
    def target_records(self) -> int | None:
        """The number of proved target records; `None` if parts of a comparison cannot be counted."""
        return self._records("target")

    def _records(self, side: Side) -> int | None:
        counts = [_count(comparison, side, offsets) for comparison, offsets in self._proved_on[side]]
        return None if None in counts else sum(count for count in counts if count is not None)

    @property
    def surplus_records(self) -> int:
        """The number of proved target records that the source does not have as often: most were sent again."""
        source = {id(comparison): offsets for comparison, offsets in self._proved_on["source"]}
        return sum(_surplus(each, offsets, source.get(id(each), 0)) for each, offsets in self._proved_on["target"])

    @cached_property
    def _proved_on(self) -> Mapping[Side, Collection[tuple[Comparison, int]]]:
        """Per side the good comparisons, each with the number of offsets whose verdict it gives."""
        return {side: self._good_on(side) for side in SIDES}

    def _good_on(self, side: Side) -> Collection[tuple[Comparison, int]]:
        found: dict[int, tuple[Comparison, int]] = {}
        for stretch in (s for p in self.partitions.values() for s in p.stretches(side) if s.verdict.is_good):
            known = found.get(id(stretch.comparison), (stretch.comparison, 0))
            found[id(stretch.comparison)] = (known[0], known[1] + stretch.end - stretch.start)
        return found.values()

    def summary(self, shown: int = 20) -> CoverageSummary:
        """Return it without its partitions, with the first `shown` reasons."""
        reasons = tuple(self.reasons())
        return CoverageSummary(
            verdict=self.verdict,
            standing=self.standing,
            proved=self.is_proved,
            source_offsets=self.source_offsets,
            target_records=self.target_records,
            surplus_records=self.surplus_records,
            pending_generations=self.pending,
            judged_at=None if self.last is None else self.last.at,
            judged_by=None if self.last is None else self.last.run,
            reasons=reasons[:shown],
            further_reasons=len(reasons[shown:]),
            source_records=self.source_records,
        )

    def reasons(self) -> Iterator[str]:
        """Describe what is not proved."""
        if self.pending:
            yield f"generation {some([str(each) for each in self.pending])}: not judged yet"
        yield from map(str, self.flaws)
        for number, (start, end) in sorted(self.held_back.items()):
            yield (
                f"source partition {number}, offsets [{start:,}, {end:,}): after a transaction that was open at the "
                "last stop, not copied yet and not part of the proof"
            )


def _verdict_without_offsets(judgement: Judgement, topic: str) -> Verdict:
    """Return the verdict of a judgement on a topic as far as no offset carries it, else `PASS`."""
    comparisons = judgement.comparisons.get(topic)
    if not comparisons:
        return judgement.topics[topic]
    return worst([Verdict.PASS, *(c.verdict for c in comparisons if not any(w.has_offsets for w in c.windows))])


def _surplus(comparison: Comparison, offsets: int, on_source: int) -> int:
    """Return the surplus in this many of a comparison's target and source offsets; others have replaced the rest."""
    surplus = max(0, comparison.target_records - comparison.source_records)
    return surplus if offsets == _spanned(comparison, "target") else min(surplus, max(0, offsets - on_source))


def _spanned(comparison: Comparison, side: Side) -> int:
    if side == "source":
        return sum(w.source_end - w.source_start for w in comparison.windows)
    return sum(w.target_end - w.target_start for w in comparison.windows)


def _count(comparison: Comparison, side: Side, offsets: int) -> int | None:
    """Return the number of records in this many of a comparison's offsets on a side; `None` if unknown."""
    records = comparison.source_records if side == "source" else comparison.target_records
    spanned = _spanned(comparison, side)
    if offsets == spanned:
        return records
    return offsets if records == spanned else None
