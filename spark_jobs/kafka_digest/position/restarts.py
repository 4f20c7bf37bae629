"""Finds where a task of MirrorMaker was started again within a piece, by the content of its records. No Spark.

Such a piece is several *runs*, one after the other on the target. A run is equal to the source from an offset on that
is not after the end of the run before it. It ends where the target continues with another record than the source. The
next run begins at the source record that equals this one; of several, at that with the most equal records after it, and
of these at the last one.

So whatever an earlier run had sent of a key, a later run that begins before the key's last record also sends that one:
if the last run ends with the source, no key ends with an old record on the target. Two tasks that copy at the same time
have no such runs.

The choice is a guess, and the runs prove it: each is compared as a whole, record by record. If a guess was wrong, a
later record has no place, and the piece is compared by key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kafka_digest.reading.read_windows import SideRange, WindowPlan

# A window with more runs was not copied by tasks that were started again now and then.
MOST_RUNS = 32
# So many target offsets choose between equal source records.
CONTEXT_OFFSETS = 32


class Parted(NamedTuple):
    """The first records at which two ranges differ, by offset; `None`: the side has no further record."""

    source_offset: int | None
    target_offset: int | None


class Continuation(NamedTuple):
    """Target offsets whose first record begins a run, and where to look for it on the source.

    :param reached: the source offset at which the run before it ends; the run begins there at the latest
    """

    source: SideRange
    target: SideRange
    reached: int

    @property
    def is_suspect(self) -> bool:
        """Whether Spark may not be able to read a record of it: it has read the window before."""
        return False


FindParted = Callable[[Sequence[WindowPlan], Sequence[int]], Sequence["Parted | None"]]
"""Returns where the sides of each range part, `None` if they are equal; with the most source records of each."""
FindContinued = Callable[[Sequence[Continuation]], Sequence["int | None"]]
"""Returns the source offset of each record; `None` if the source does not have it."""


@dataclass(frozen=True)
class Restarts:
    """Cuts pieces of these generations into runs."""

    generations: Collection[int]
    find_parted: FindParted
    find_continued: FindContinued

    def runs_of(self, pieces: Sequence[tuple[WindowPlan, WindowPlan]]) -> list[list[WindowPlan]]:
        """Return the runs of each piece, given with its window; none if it does not consist of runs.

        Raises `JobError`.
        """
        cuts = [_Cut.of(whole, piece) for whole, piece in pieces]
        for _ in range(MOST_RUNS):
            if not (unfinished := [cut for cut in cuts if cut.rest is not None]):
                break
            rests = [cut.rest for cut in unfinished if cut.rest is not None]
            # One more than the target can have, so that the sides are only equal if the source ends too.
            parted = self.find_parted(rests, [rest.target.offsets + 1 for rest in rests])
            self._continue([cut for cut, at in zip(unfinished, parted) if cut.take(at)])
        return [cut.runs if cut.rest is None else [] for cut in cuts]

    def _continue(self, cuts: Sequence[_Cut]) -> None:
        found = self.find_continued([cut.continuation for cut in cuts]) if cuts else ()
        for cut, offset in zip(cuts, found):
            cut.begin_at(offset)


@dataclass
class _Cut:
    """One piece while it is cut; `rest` is not compared yet, `None` at the end. A failed one has no runs."""

    whole: WindowPlan
    rest: WindowPlan | None
    runs: list[WindowPlan] = field(default_factory=list)

    @classmethod
    def of(cls, whole: WindowPlan, piece: WindowPlan) -> _Cut:
        return cls(whole, replace(piece, source=replace(piece.source, end=whole.source.end)))

    def take(self, parted: Parted | None) -> bool:
        """Add the run up to where the sides part; return whether the target has more."""
        assert self.rest is not None
        source, target = self.rest.source, self.rest.target
        if parted == (None, None) or (parted is not None and self.runs and parted.target_offset == target.start):
            # The logs changed between two readings, or the record that a run begins with is another one.
            return self._fail()
        source_end, target_end = parted or (source.end, target.end)
        run_end = source.end if source_end is None else source_end
        cut_at = target.end if target_end is None else target_end
        self.runs.append(replace(self.rest, source=replace(source, end=run_end), target=replace(target, end=cut_at)))
        self.rest = (
            None if target_end in (None, target.end) else replace(self.rest, target=replace(target, start=cut_at))
        )
        return self.rest is not None

    @property
    def continuation(self) -> Continuation:
        """What to look for next."""
        assert self.rest is not None
        source, target, reached = self.whole.source, self.rest.target, self.runs[-1].source.end
        source = source.between(source.start, min(source.end, reached + CONTEXT_OFFSETS))
        target = target.between(target.start, min(target.end, target.start + CONTEXT_OFFSETS))
        return Continuation(source, target, reached)

    def begin_at(self, offset: int | None) -> None:
        """Begin the next run at a source offset; `None`: there is none."""
        assert self.rest is not None
        if offset is None:
            self._fail()
        else:
            self.rest = replace(self.rest, source=replace(self.rest.source, start=offset))

    def _fail(self) -> bool:
        self.rest, self.runs = None, []
        return False


def chosen(rows: Iterator[tuple[int, int]], wanted: Sequence[int], reached: int) -> int | None:
    """Return the offset of the best place for a run among source records, as `locate_runs` does in SQL.

    :param rows: offset and hash of the source records, in log order
    :param wanted: the hashes of the target records with which the run begins
    """
    records = list(rows)
    places = [n for n, (offset, record) in enumerate(records) if record == wanted[0] and offset <= reached]
    alike = {n: sum(theirs == ours for theirs, (_, ours) in zip(wanted, records[n:])) for n in places}
    return records[max(places, key=lambda n: (alike[n], n))][0] if places else None
