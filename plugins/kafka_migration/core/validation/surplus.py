"""Target ranges that are longer than the source's: records that were sent twice, or that others wrote.

Without exactly-once one target offset is one record that was sent. A log cleaner removes records and keeps their
offsets. So on a compacted target the lengths of the ranges show what can no longer be read there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.findings.verdict import Verdict, worst
from kafka_migration.core.ledger.generations import Generation, Window
from kafka_migration.core.validation.difference_words import EXPLANATIONS, SENT_TWICE, Words

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


def surplus_in_place(window: Window, lengths: Lengths, killed: Iterable[int]) -> Surplus:
    """Return the surplus of a window of a copy that keeps partitions.

    :param lengths: of the generations that it covers
    """
    replayed = sum(max(0, earlier.source_end - later.source_start) for earlier, later in pairwise(window.pieces))
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
