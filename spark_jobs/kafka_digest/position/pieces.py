"""Windows that MirrorMaker copied in several pieces, because it was killed and started again. No Spark.

The target then holds some records twice, so it differs from the source. If each piece is equal to the source's records
from its start, the target is these pieces one after the other: nothing is lost, nothing is foreign, and the records
that the target has more are those that were sent again.

A piece is first compared with its own source range. If the source's offsets have holes, a killed process came further
than that range: then the piece is compared with as many source records as the target has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from kafka_digest.position.blocks import Block, Comparison
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


def sent_again(windows: Sequence[Measured], measure: Measure) -> dict[int, Again]:
    """Return what was sent again in each window whose pieces are all equal, by the window's number.

    A window is left out if it does not differ, was copied in one piece, or could not be read as a whole.
    """
    cut = {
        number: list(_pieces(one))
        for number, one in enumerate(windows)
        if one.differs and one.plan.is_whole and one.plan.window.get("pieces")
    }
    found = _by_window(cut, measure([piece for pieces in cut.values() for piece in pieces], None))
    longer = {n: [p for p in found[n][:-1] if p.differs] for n in cut if not found[n][-1].differs}
    asked = [(windows[n], piece) for n, pieces in longer.items() for piece in pieces]
    plans = [_up_to_the_end(piece.plan, whole.plan) for whole, piece in asked]
    again = measure(plans, [_records(piece.target) for _, piece in asked])
    better = {id(piece): _as_far_as_read(other) for (_, piece), other in zip(asked, again)}
    told = {n: _told(windows[n], [better.get(id(piece), piece) for piece in found[n]]) for n in cut}
    return {number: each for number, each in told.items() if each is not None}


def _by_window(cut: dict[int, list[WindowPlan]], measured: Sequence[Measured]) -> dict[int, list[Measured]]:
    rest = iter(measured)
    return {number: [next(rest) for _ in pieces] for number, pieces in cut.items()}


def _pieces(one: Measured) -> Iterator[WindowPlan]:
    """Cut a window at its pieces; the first begins where both sides differ, as far as that is known."""
    plan = one.plan
    pieces = [tuple(piece) for piece in plan.window["pieces"]]
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


def _up_to_the_end(piece: WindowPlan, whole: WindowPlan) -> WindowPlan:
    return WindowPlan(piece.window, replace(piece.source, end=whole.source.end), piece.target)


def _as_far_as_read(piece: Measured) -> Measured:
    """Return a piece whose source range ends after the last record that was read."""
    end = piece.source[-1].last_offset + 1 if piece.source else piece.plan.source.start
    return replace(piece, plan=WindowPlan(piece.plan.window, replace(piece.plan.source, end=end), piece.plan.target))


def _told(whole: Measured, pieces: Sequence[Measured]) -> Again | None:
    """Return what was sent again if the pieces are equal and follow each other without a gap on the source."""
    source = whole.plan.source
    reached = pieces[0].plan.source.start
    for piece in pieces:
        if piece.differs or not source.start <= piece.plan.source.start <= reached:
            return None
        reached = max(reached, piece.plan.source.end)
    # Before the last piece has passed all that was sent before, some keys may end with an old record.
    if pieces[-1].plan.source.end != source.end or reached != source.end or whole.surplus <= 0:
        return None
    return Again(whole.surplus, pieces[1].plan.source.start, pieces[1].plan.target.start)


def _records(blocks: Sequence[Block]) -> int:
    return sum(block.records for block in blocks)
