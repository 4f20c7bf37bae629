"""Windows that MirrorMaker copied in several pieces, because it was killed and started again. No Spark.

The target then holds some records twice, so it differs from the source. If each piece is equal to the source's records
from its start, the target is these pieces one after the other: nothing is lost, nothing is foreign, and the records
that the target has more are those that were sent again.

A piece is first compared with its own source range. If the source's offsets have holes, a killed process came further
than that range: then the piece is compared with as many source records as the target has. If a task was started again
within the piece, it is cut into runs (`restarts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kafka_digest.position.blocks import Block, Comparison
from kafka_digest.position.restarts import Restarts
from kafka_digest.reading.read_windows import WindowPlan


@dataclass(frozen=True)
class Measured:
    """A window with the blocks of both sides and how they compare."""

    plan: WindowPlan
    source: Sequence[Block]
    target: Sequence[Block]
    comparison: Comparison

    @property
    def differs(self) -> bool:
        """Whether any block differs."""
        return self.comparison.differing_blocks > 0

    @property
    def surplus(self) -> int:
        """How many more records the target has than the source."""
        return _records(self.target) - _records(self.source)


Measure = Callable[[Sequence[WindowPlan], "Sequence[int] | None"], Sequence[Measured]]
"""Compares ranges that may share partitions, and returns them in their order; with the most source records of each."""


class Again(NamedTuple):
    """How many records were sent again; where the first of them is on the source, and its second copy on the target."""

    records: int
    source_offset: int
    target_offset: int


def sent_again(windows: Sequence[Measured], measure: Measure, restarts: Restarts) -> dict[int, Again]:
    """Return what was sent again in each window whose pieces are all equal, by the window's number.

    A window is left out if it does not differ, was copied in one piece without a restart, or could not be read as a
    whole. Raises `JobError`.
    """
    cut = {
        number: _Pieces(one, restarts)
        for number, one in enumerate(windows)
        if one.differs and one.plan.is_whole and _has_pieces(one.plan, restarts)
    }
    found = iter(measure([plan for pieces in cut.values() for plan in pieces.plans], None))
    for pieces in cut.values():
        pieces.compared = [next(found) for _ in pieces.plans]
    asked = [(pieces, number) for pieces in cut.values() for number in pieces.longer]
    plans = [pieces.up_to_the_end(number) for pieces, number in asked]
    limits = [_records(pieces.compared[number].target) for pieces, number in asked]
    for (pieces, number), one in zip(asked, measure(plans, limits)):
        pieces.compared[number] = _as_far_as_read(one)
    again = [(pieces, number) for pieces in cut.values() for number in pieces.restarted]
    runs = restarts.runs_of([(pieces.whole.plan, pieces.plans[number]) for pieces, number in again])
    for (pieces, number), some in zip(again, runs):
        pieces.runs[number] = some
    return {number: told for number, pieces in cut.items() if (told := pieces.told()) is not None}


def _generations(plan: WindowPlan) -> Iterator[int]:
    """Yield the last generation of each piece."""
    yield from (piece[0] for piece in plan.window.get("pieces") or [(plan.window["generation"],)])


def _has_pieces(plan: WindowPlan, restarts: Restarts) -> bool:
    return bool(plan.window.get("pieces")) or plan.window["generation"] in restarts.generations


class _Pieces:
    """The pieces of one window while they are compared; `runs` are those of pieces with a restart within them."""

    def __init__(self, whole: Measured, restarts: Restarts) -> None:
        self.whole = whole
        self.plans = list(_pieces(whole))
        self.compared: list[Measured] = []
        self.runs: dict[int, list[WindowPlan]] = {}
        self._may_be_cut = [generation in restarts.generations for generation in _generations(whole.plan)]

    @property
    def longer(self) -> list[int]:
        """The pieces that may be longer than their source ranges: all but the last one, which must be explained too."""
        if self.compared[-1].differs and not self._may_be_cut[-1]:
            return []
        return [number for number, one in enumerate(self.compared[:-1]) if one.differs]

    @property
    def restarted(self) -> list[int]:
        """The pieces that differ because a task may have been started again within them; none if that is not enough."""
        differing = [number for number, one in enumerate(self.compared) if one.differs]
        return differing if all(self._may_be_cut[number] for number in differing) else []

    def up_to_the_end(self, number: int) -> WindowPlan:
        """Return a piece with the source range up to the end of the window."""
        piece = self.compared[number].plan
        return replace(piece, source=replace(piece.source, end=self.whole.plan.source.end))

    def told(self) -> Again | None:
        """Return what was sent again if all runs are equal and follow each other without a gap on the source."""
        runs: list[WindowPlan] = []
        for number, one in enumerate(self.compared):
            if one.differs and not self.runs.get(number):
                return None
            runs += self.runs[number] if one.differs else [one.plan]
        return _told(self.whole, runs)


def _pieces(one: Measured) -> Iterator[WindowPlan]:
    """Cut a window at its pieces; the first begins where both sides differ, as far as that is known."""
    plan = one.plan
    whole = (0, plan.source.start, plan.source.end, plan.target.start)
    pieces = [tuple(piece) for piece in plan.window.get("pieces") or [whole]]
    ends = [*(target_start for *_, target_start in pieces[1:]), plan.target.end]
    for number, ((_, start, end, target_start), target_end) in enumerate(zip(pieces, ends)):
        begin = start, target_start
        if number == 0:
            begin = max([begin, *_equal_starts(one, end, target_end)])
        yield WindowPlan(
            plan.window,
            replace(plan.source, start=begin[0], end=end),
            replace(plan.target, start=begin[1], end=min(target_end, plan.target.end)),
        )


def _equal_starts(one: Measured, source_end: int, target_end: int) -> Iterator[tuple[int, int]]:
    """Yield the starts of blocks before which both sides are equal, up to these offsets."""
    first = one.comparison.first_differing or 0
    for ours, theirs in zip(one.source, one.target):
        if ours.number <= first and ours.first_offset <= source_end and theirs.first_offset <= target_end:
            yield ours.first_offset, theirs.first_offset


def _as_far_as_read(piece: Measured) -> Measured:
    """Return a piece whose source range ends after the last record that was read."""
    end = piece.source[-1].last_offset + 1 if piece.source else piece.plan.source.start
    return replace(piece, plan=WindowPlan(piece.plan.window, replace(piece.plan.source, end=end), piece.plan.target))


def _told(whole: Measured, runs: Sequence[WindowPlan]) -> Again | None:
    """Return what was sent again if these equal runs follow each other without a gap on the source."""
    source = whole.plan.source
    pairs = list(zip(runs, runs[1:]))
    follows = all(source.start <= later.source.start <= earlier.source.end for earlier, later in pairs)
    # Before the last run has passed all that was sent before, some keys may end with an old record.
    if not follows or runs[-1].source.end != source.end or whole.surplus <= 0:
        return None
    again = next(later for earlier, later in pairs if later.source.start < earlier.source.end)
    return Again(whole.surplus, again.source.start, again.target.start)


def _records(blocks: Sequence[Block]) -> int:
    return sum(block.records for block in blocks)
