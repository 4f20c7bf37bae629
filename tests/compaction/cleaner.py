"""A log and its cleaner, as Kafka has them: what a reader of committed records finds at any moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple


class Record(NamedTuple):
    """What is copied; a tombstone has no value."""

    key: int | None
    value: int | None
    timestamp: int


@dataclass(slots=True)
class Entry:
    """An offset that is in use: of a record, or of a marker that ends a transaction (`record` is `None`)."""

    offset: int
    record: Record | None
    is_aborted: bool = False
    removed_after: int | None = None

    @property
    def is_committed(self) -> bool:
        """Whether a reader of committed records gets it."""
        return self.record is not None and not self.is_aborted


@dataclass(slots=True)
class Log:
    """One partition. Its last segment is the active one and is not cleaned.

    :param delete_retention: for how long a tombstone stays after it was first cleaned
    """

    delete_retention: int
    compacts: bool = True
    entries: list[Entry] = field(default_factory=list)
    end: int = 0
    active_from: int = 0
    clean_to: int = 0

    def append(self, record: Record | None, *, is_aborted: bool = False) -> int:
        """Add a record or a marker; return its offset."""
        self.entries.append(Entry(self.end, record, is_aborted))
        self.end += 1
        return self.end - 1

    def roll(self) -> None:
        """Begin a new segment."""
        self.active_from = self.end

    def clean(self, now: int, upto: int | None = None) -> None:
        """Clean the log up to an offset, at most to the active segment: what has a newer one of its key there goes.

        A tombstone goes by a later cleaning, once its time is over; so does a marker. Records without a key and those
        of aborted transactions go at once.
        """
        upto = self.active_from if upto is None else min(upto, self.active_from)
        if not self.compacts:
            return
        newest = {
            entry.record.key: entry.offset
            for entry in self.entries
            if entry.record is not None and entry.is_committed and self.clean_to <= entry.offset < upto
        }
        self.entries = [e for e in self.entries if e.offset >= upto or self._is_kept(e, newest, now)]
        self.clean_to = max(self.clean_to, upto)

    def _is_kept(self, entry: Entry, newest: dict[int | None, int], now: int) -> bool:
        if entry.record is not None:
            if entry.is_aborted or entry.record.key is None or entry.offset < newest.get(entry.record.key, 0):
                return False
            if entry.record.value is not None:
                return True
        if entry.removed_after is None:
            entry.removed_after = now + self.delete_retention
            return True
        return now <= entry.removed_after

    def read(self, start: int = 0, end: int | None = None) -> Iterator[tuple[int, Record]]:
        """Return the committed records from an offset on, up to another."""
        for entry in self.entries:
            if entry.offset >= start and (end is None or entry.offset < end) and entry.is_committed:
                assert entry.record is not None
                yield entry.offset, entry.record
