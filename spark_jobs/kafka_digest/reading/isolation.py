"""Keeps an error of one topic or partition away from the others that are read together with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from kafka_digest.runtime.job_errors import RECORD_UNREADABLE, JobError, tell

T = TypeVar("T")

# If so many parts failed alone and none was ever read, the cause is not in the data.
MOST_FAILURES = 16


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
