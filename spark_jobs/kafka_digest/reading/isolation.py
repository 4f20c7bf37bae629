"""Keeps an error of one topic or partition away from the others that are read together with it.

If the cause is a record that Spark cannot read, `Search` finds its side, partition and offset.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pyspark.sql import DataFrame

from kafka_digest.reading.hashing import RECORD, hash_of
from kafka_digest.reading.read_windows import BEYOND_TIME, SideRange, WindowPlan
from kafka_digest.runtime.job_errors import RECORD_UNREADABLE, RECORDS_DELETED, JobError, naming, tell

Reader = Callable[[str, Sequence[SideRange]], "DataFrame | None"]
"""Returns one frame over ranges of a side; `None` if all are empty."""
T = TypeVar("T")

# If so many parts failed alone and none was ever read, the cause is not in the data.
MOST_FAILURES = 16
# A search takes some tens of small Spark jobs; of the others only the offsets of the window are named.
MOST_SEARCHES = 20
_OUT_OF_MEMORY = "OutOfMemoryError"


@dataclass
class Isolation:
    """Reads all parts of a job at once, and after an error in two halves, until only those fail that are the cause.

    Halves without an error are kept, so one bad part costs at most two more readings of everything.
    """

    _first: JobError | None = None
    _read: int = 0
    _failed: int = 0
    _has_bad_record: bool = False

    def run(
        self, parts: Sequence[T], read: Callable[[Sequence[T]], object], lost: Callable[[T, JobError], object]
    ) -> None:
        """Read these parts.

        Raises `JobError` if fewer parts cannot help, as when a cluster does not answer.

        :param read: reads some of the parts, and changes nothing if it raises `JobError`
        :param lost: gets each part that cannot be read alone, and why
        """
        if not parts:
            return
        try:
            read(parts)
            self._read += len(parts)
            return
        except JobError as error:
            self._note(error)
            cause = error
        if len(parts) > 1:
            tell(f"{cause}. They are read again in two parts, because one of them may be the cause")
            half = len(parts) // 2
            for some in (parts[:half], parts[half:]):
                self.run(some, read, lost)
        else:
            self._failed += 1
            self._has_bad_record |= cause.code == RECORD_UNREADABLE
            lost(parts[0], cause)
            if self._failed >= MOST_FAILURES:
                self.require_some()

    def _note(self, error: JobError) -> None:
        self._first = self._first or error
        if error.is_of_all:
            raise error

    def require_some(self, *, has_bad_record: bool = False) -> None:
        """Raise the first error if nothing could be read and no record is the cause.

        :param has_bad_record: whether a search has found a record that is the cause
        """
        if self._first is not None and not (self._read or self._has_bad_record or has_bad_record):
            raise self._first


def as_far_as_possible(
    parts: Sequence[T], read: Callable[[Sequence[T]], object], lost: Callable[[T, JobError], object]
) -> None:
    """Read parts on which no result depends, as `Isolation.run` does; an error of all topics loses the rest."""
    left = {id(part): part for part in parts}

    def reading(some: Sequence[T]) -> None:
        read(some)
        for part in some:
            del left[id(part)]

    def losing(part: T, error: JobError) -> None:
        del left[id(part)]
        lost(part, error)

    try:
        Isolation().run(parts, reading, losing)
    except JobError as error:
        for part in left.values():
            lost(part, error)


@dataclass(frozen=True)
class Unread:
    """What cannot be read: a range of a side, why, and whether one of its records is the cause."""

    side: str
    piece: SideRange
    text: str
    has_bad_record: bool


@dataclass
class Search:
    """Looks for the bad records of a job by reading smaller and smaller ranges.

    :param read: returns the frame over ranges of a side
    """

    read: Reader
    _left: int = MOST_SEARCHES

    def find(self, ranges: Mapping[str, Sequence[SideRange]], error: JobError) -> Unread:
        """Return what cannot be read of these ranges, by side; reading all of them together raised the error."""
        held = {side: [piece for piece in pieces if not piece.is_empty] for side, pieces in ranges.items()}
        if self._left > 0 and error.code != RECORDS_DELETED:
            self._left -= 1
            for side, pieces in held.items():
                if (found := self._find(side, pieces)) is not None:
                    return found
        side, whole = next((side, pieces[0]) for side, pieces in held.items() if pieces)
        text = f"offsets [{whole.start}, {whole.end}) cannot be read: {_reason(error)}"
        return Unread(side, whole, text, error.code == RECORD_UNREADABLE)

    def _find(self, side: str, pieces: Sequence[SideRange]) -> Unread | None:
        if not pieces or self._error(side, pieces) is None:
            return None
        while len(pieces) > 1:
            half = len(pieces) // 2
            pieces = pieces[:half] if self._error(side, pieces[:half]) else pieces[half:]
        (piece,) = pieces
        start, end = piece.start, piece.end
        while end - start > 1:
            middle = (start + end) // 2
            if self._error(side, [piece.between(start, middle)]):
                end = middle
            else:
                start = middle
        error = self._error(side, [piece.between(start, end)])
        if error is None:
            return None
        # A consumer also fetches records after those that it is asked for.
        which = "a record at or after" if _OUT_OF_MEMORY in str(error) else "the record at"
        return Unread(side, piece, f"{which} offset {start} cannot be read: {_reason(error)}", True)

    def _error(self, side: str, pieces: Sequence[SideRange]) -> JobError | None:
        """Return the error of reading these ranges with everything that the comparisons read of a record."""
        try:
            with naming("Spark"):
                frame = self.read(side, pieces)
                if frame is not None:
                    frame.selectExpr(f"max({hash_of(*RECORD)})").collect()
        except JobError as error:
            if error.is_of_all:
                raise
            return error
        return None


def _reason(error: JobError) -> str:
    text = str(error)
    if _OUT_OF_MEMORY in text:
        return f"it does not fit into the memory of Spark's tasks, which can be raised ({text})"
    return BEYOND_TIME if "ArithmeticException: long overflow" in text else text


@dataclass
class LostWindows:
    """The windows of a job that cannot be read although they are within the bounds of the logs.

    :param plans: by the identity of the plan of the request, the plan with the reason and nothing to read
    """

    read: Reader
    plans: dict[int, WindowPlan] = field(default_factory=dict)
    _search: Search | None = None

    def add(self, plan: WindowPlan, error: JobError) -> None:
        """Note a window that was read alone and raised this error."""
        self._search = self._search or Search(self.read)
        found = self._search.find({"source": [plan.source], "target": [plan.target]}, error)
        self.plans[id(plan)] = plan.lacking(found.side, found.text, has_bad_record=found.has_bad_record)
