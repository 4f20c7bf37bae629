"""The verdict on a comparison by key, a verdict and a finding per topic, and what every verdict must consider.

Target ranges that are longer than the source's (`Surplus`) are records that were sent twice, or that others wrote.
Without exactly-once one target offset is one record that was sent. A log cleaner removes records and keeps their
offsets. So on a compacted target the lengths of the ranges show what can no longer be read there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.ledger.generations import Generation, Window
from kafka_migration.core.migration.settings import NO_TOLERANCE, Tolerance
from kafka_migration.core.text.shortened import LONGEST_SENTENCE, some
from kafka_migration.core.validation.difference_words import (
    DIFFERS,
    EXPLANATIONS,
    OF_A_KILL,
    OF_NEW_PARTITIONS,
    SENT_TWICE,
    UNPROVED,
    Words,
    compare_commands,
    describe_counts,
    describe_kind,
    record_words,
    topic_words,
    unreadable_words,
)
from kafka_migration.core.validation.differences import Difference, Differences, tolerated
from kafka_migration.core.validation.validation_contract import PartitionResult, TopicResult

Judged = tuple[Verdict, Finding | None]
Lengths = Mapping[int, Mapping[int, int]]
"""By how much the target range is longer than the source range (negative: shorter), per generation and partition."""


@dataclass(frozen=True, slots=True)
class Surplus:
    """The offsets that the target's ranges have more than the source's.

    :param replayed: those that stop certificates explain: killed generations sent them, and the next ones again
    :param unexplained: the others
    """

    replayed: int = 0
    unexplained: int = 0

    def applied_to(self, judged: Judged, subject: str, counts: str) -> Judged:
        """Return a verdict and a finding that are never better than the surplus allows."""
        verdict, finding = judged
        if not verdict.is_good or not (self.replayed or self.unexplained):
            return judged
        if self.unexplained:
            return Verdict.NOT_VERIFIABLE, self._finding(Code.RECORDS_NOT_VERIFIABLE, subject, counts, SENT_TWICE)
        if finding is not None and finding.code is Code.RECORDS_REPLAYED:
            return judged
        replay = self._finding(Code.RECORDS_REPLAYED, subject, counts, EXPLANATIONS[Code.RECORDS_REPLAYED])
        return worst([verdict, Verdict.WARN]), replay

    def _finding(self, code: Code, subject: str, counts: str, words: Words) -> Finding:
        return words.finding(
            code,
            subject,
            f"{counts}; the target's range is {self.replayed + self.unexplained:,} offsets longer than the source's, "
            f"and stop certificates of killed generations explain {self.replayed:,} of them",
            "no more offsets than on the source: each is a record that was sent",
        )


def lengths_of(generations: Iterable[Generation], topic: str) -> Lengths:
    """Return how much longer the target ranges of a topic are, as the certificates have them."""
    return {g.number: _lengths(g, topic) for g in generations if topic in g.topics}


def _lengths(generation: Generation, topic: str) -> dict[int, int]:
    start, stop = generation.start, generation.stop
    if stop is None:
        return {}
    found: dict[int, int] = {}
    for sign, begin, end in (
        (1, start.target_end_offsets, stop.target_end_offsets),
        (-1, start.mirror_positions, stop.mirror_positions),
    ):
        for partition, offset in end.items():
            if partition.topic == topic:
                length = offset - begin.get(partition, 0)
                found[partition.partition] = found.get(partition.partition, 0) + sign * length
    return found


def surplus_in_place(
    window: Window, lengths: Lengths, killed: Collection[int], resent: Collection[int] = ()
) -> Surplus:
    """Return the surplus of a window of a copy that keeps partitions.

    :param lengths: of the generations that it covers
    :param killed: those of them that ended ungracefully
    :param resent: those of them that may have sent records again at any place: this explains all that they have more
    """
    replayed = sum(max(0, earlier.source_end - later.source_start) for earlier, later in pairwise(window.pieces))
    replayed += sum(max(0, mine.get(window.partition, 0)) for g, mine in lengths.items() if g in resent)
    graceful = (mine.get(window.partition, 0) for g, mine in lengths.items() if g not in killed)
    return _surplus([window], replayed, graceful)


def surplus_by_key(windows: Sequence[Window], lengths: Lengths, killed: Iterable[int]) -> Surplus:
    """Return the surplus of all windows of a topic together: a record may be in any partition."""
    totals = {g: sum(mine.values()) for g, mine in lengths.items()}
    replayed = sum(max(0, total) for g, total in totals.items() if g in killed)
    return _surplus(windows, replayed, (total for g, total in totals.items() if g not in killed))


def _surplus(windows: Sequence[Window], replayed: int, graceful: Iterable[int]) -> Surplus:
    # A hole of the source hides a surplus of another generation, so each is looked at by itself.
    by_generation = sum(max(0, longer) for longer in graceful)
    as_a_whole = sum((w.target_end - w.target_start) - (w.source_end - w.source_start) for w in windows) - replayed
    return Surplus(replayed, max(0, by_generation, as_a_whole))


@dataclass(frozen=True, slots=True)
class GenerationEvents:
    """The ledger's events of the generations that a comparison covers.

    :param killed: those that ended ungracefully
    :param resent: those of them that may have sent records again at any place of their ranges
    :param grown: those during which the target got partitions
    :param lengths: of topics whose target offsets are each a record that was sent and may be gone; else empty
    """

    killed: Collection[int] = ()
    grown: Collection[int] = ()
    lengths: Lengths | None = None
    resent: Collection[int] = ()

    def limited_to(self, generations: range, also_killed: Collection[int] = ()) -> GenerationEvents:
        """Return the events of these generations, with others that were killed."""
        return GenerationEvents(
            {*also_killed, *(g for g in self.killed if g in generations)},
            {g for g in self.grown if g in generations},
            None if self.lengths is None else {g: each for g, each in self.lengths.items() if g in generations},
            {g for g in self.resent if g in generations},
        )

    def was_replayed(self, last: int) -> bool:
        """Whether a generation of those compared sent records again: one that was killed was followed by another, or
        the same one did so.
        """
        return bool(self.resent) or any(generation < last for generation in self.killed)


UNEVENTFUL = GenerationEvents()


def judge_topic_by_key(
    result: TopicResult,
    windows: Sequence[PartitionResult],
    *,
    events: GenerationEvents = UNEVENTFUL,
    tolerance: Tolerance = NO_TOLERANCE,
) -> tuple[Verdict, Finding | None]:
    """Judge the copy of one topic.

    Unreadable records are not verifiable; a difference in the other records still counts.
    """
    judged = _judged_by_records(result, windows, events, tolerance)
    if events.lengths is None:
        return judged
    surplus = surplus_by_key([w.window for w in windows], events.lengths, events.killed)
    return surplus.applied_to(judged, _subject(result), _counts(result))


def _judged_by_records(
    result: TopicResult, windows: Sequence[PartitionResult], events: GenerationEvents, tolerance: Tolerance
) -> tuple[Verdict, Finding | None]:
    unreadable = [f"partition {w.window.partition}, {text}" for w in windows for text in w.unreadable]
    if result.equal and not unreadable:
        return Verdict.PASS, None
    found = result.differences and result.differences.known
    verdict, code, words = _judged(result, found, events, tolerance)
    is_rest_good = verdict is not Verdict.FAIL or not found or not found.damage
    if unreadable and is_rest_good:
        return Verdict.NOT_VERIFIABLE, _unreadable_finding(result, windows, unreadable)
    if result.differences and result.differences.is_unproved and is_rest_good:
        return Verdict.NOT_VERIFIABLE, _finding(result, Code.RECORDS_NOT_VERIFIABLE, UNPROVED)
    return verdict, _finding(result, code, words)


def is_tail(found: Differences | None) -> bool:
    """Whether the target only has additional records, as a killed generation may leave them."""
    return found is not None and bool(found.unexplained) and all(k.may_be_tail for k in found.unexplained)


def _judged(
    result: TopicResult, found: Differences | None, events: GenerationEvents, tolerance: Tolerance
) -> tuple[Verdict, Code, Words]:
    """Judge differences.

    After a killed generation the next one sends records again: if one followed, duplicates are a warning. Additional
    records on the target that a killed *last* generation may have left are not verifiable. Neither is the order of keys
    if the target got partitions during the copy. Everything else that is not explained is `FAIL`.
    """
    is_last_killed = result.generation in events.killed
    good = tolerated(tolerance, found, replayed=events.was_replayed(result.generation) and not is_last_killed)
    if good is not None:
        return *good, EXPLANATIONS[good[1]]
    damage = found.unexplained if found else frozenset()
    if is_tail(found) and is_last_killed:
        return Verdict.NOT_VERIFIABLE, Code.RECORDS_NOT_VERIFIABLE, OF_A_KILL
    if damage and events.grown and all(kind.changes_with_partitions for kind in damage):
        return Verdict.NOT_VERIFIABLE, Code.RECORDS_NOT_VERIFIABLE, OF_NEW_PARTITIONS
    return Verdict.FAIL, Code.COPY_DIFFERS, DIFFERS


def _unreadable_finding(result: TopicResult, windows: Sequence[PartitionResult], unreadable: Sequence[str]) -> Finding:
    code, words = unreadable_words(has_bad_record=any(window.has_bad_record for window in windows))
    found = some(unreadable, 3, separator="; ", longest=LONGEST_SENTENCE)
    return words.finding(code, _subject(result), found, "all partitions readable, because a key can be in any of them")


def _finding(result: TopicResult, code: Code, words: Words) -> Finding:
    found = f"{_counts(result)}; {describe_differences(result.differences)}"
    commands = _first_commands(result) if words is DIFFERS else ""
    return words.finding(code, _subject(result), found, "the same records, in the same order for each key", commands)


def _counts(result: TopicResult) -> str:
    return record_words(result.source_records, result.target_records)


def describe_differences(differences: Differences | None) -> str:
    """Return how many differences of each kind there are and where the first is, as a phrase."""
    if differences is None or not differences.first:
        return "the digests differed at first, but the records were equal when read again"
    first = differences.first[0]
    places = " and ".join(_places(first))
    return f"{describe_counts(differences.counts)}; the first: {describe_kind(first)} at {places}"


def _places(difference: Difference) -> list[str]:
    sides = (
        ("source", difference.source_partition, difference.source_offset),
        ("target", difference.target_partition, difference.target_offset),
    )
    return [f"{side} partition {p} offset {offset}" for side, p, offset in sides if offset is not None]


def _subject(result: TopicResult) -> str:
    return f"{topic_words(result.topic, result.target_topic)}, generation {result.generation}"


def _first_commands(result: TopicResult) -> str:
    if result.differences is None or not result.differences.first:
        return "validate again"
    first = result.differences.first[0]
    return compare_commands(
        ("source", result.topic, first.source_partition, first.source_offset),
        ("target", result.target_topic, first.target_partition, first.target_offset),
    )
