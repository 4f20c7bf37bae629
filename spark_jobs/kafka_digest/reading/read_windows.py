"""The readable part of windows, and which windows may share one read. Plain values, no Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

# Spark keeps a time as microseconds in 64 bits; a greater timestamp of Kafka (in ms) is an error of its Kafka source.
MAX_TIMESTAMP_MS = ((1 << 63) - 1) // 1000
BEYOND_TIME = f"its timestamp is beyond Spark's range, which ends at {MAX_TIMESTAMP_MS} ms"


@dataclass(frozen=True)
class LogBounds:
    """The bounds of a partition: its log start offset, its high watermark, and the end that a reader may reach.

    `readable_end` is the last stable offset under `read_committed`, else the high watermark. `beyond_time` is the
    offset of the first record with a timestamp above `MAX_TIMESTAMP_MS`.
    """

    log_start: int
    high_watermark: int
    readable_end: int
    beyond_time: int | None = None

    def bad_record_in(self, start: int, end: int) -> str | None:
        """Say which record in `[start, end)` Spark cannot read, as far as the broker knows."""
        is_there = self.beyond_time is not None and start <= self.beyond_time < end
        return f"the record at offset {self.beyond_time} cannot be read: {BEYOND_TIME}" if is_there else None


@dataclass(frozen=True)
class SideRange:
    """The offsets `[start, end)` to read on one side, and a text about the unreadable part of the window.

    `is_expired` means that only the beginning of the window is unreadable, because the log has deleted it.
    `has_bad_record` means that Spark cannot read one of its records, `is_suspect` that it cannot read an earlier record
    of the log, so that one of the range may be as bad.
    """

    topic: str
    partition: int
    start: int
    end: int
    unreadable: str | None = None
    is_expired: bool = False
    has_bad_record: bool = False
    is_suspect: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return self.start >= self.end

    @property
    def offsets(self) -> int:
        """The number of offsets to read."""
        return max(self.end - self.start, 0)

    @property
    def place(self) -> tuple[str, int]:
        """Topic and partition."""
        return self.topic, self.partition

    def between(self, start: int, end: int) -> SideRange:
        """Return other offsets of the partition."""
        return SideRange(self.topic, self.partition, start, end)

    def none_of_it(self, unreadable: str | None = None, *, has_bad_record: bool = False) -> SideRange:
        """Return the range with nothing to read."""
        return replace(self.between(self.start, self.start), unreadable=unreadable, has_bad_record=has_bad_record)


@dataclass(frozen=True)
class WindowPlan:
    """One window of the request with the ranges to read on both sides."""

    window: Mapping[str, Any]
    source: SideRange
    target: SideRange

    @property
    def is_whole(self) -> bool:
        """Whether the whole window can be read."""
        return self.source.unreadable is None and self.target.unreadable is None

    @property
    def is_expired(self) -> bool:
        """Whether only a deleted beginning cannot be read: ranks are unknown, but the rest is comparable."""
        unreadable = [side for side in (self.source, self.target) if side.unreadable is not None]
        return bool(unreadable) and all(side.is_expired for side in unreadable)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read on either side."""
        return self.source.is_empty and self.target.is_empty

    @property
    def is_suspect(self) -> bool:
        """Whether Spark cannot read an earlier record of one of the logs."""
        return self.source.is_suspect or self.target.is_suspect

    @property
    def has_bad_record(self) -> bool:
        """Whether Spark cannot read one of the window's records."""
        return self.source.has_bad_record or self.target.has_bad_record

    def lacking(self, side: str, unreadable: str, *, has_bad_record: bool) -> WindowPlan:
        """Return the plan without anything to read, because a record of a side cannot be read."""
        found = {name: getattr(self, name) for name in ("source", "target")}
        nothing = {name: each.none_of_it(each.unreadable) for name, each in found.items()}
        nothing[side] = found[side].none_of_it(unreadable, has_bad_record=has_bad_record)
        return replace(self, **nothing)

    def entry(self, source: Mapping[str, Any], target: Mapping[str, Any], *, equal: bool) -> dict[str, Any]:
        """Return the common fields of a window's result entry; `source` and `target` are the records read."""
        return {
            "window": dict(self.window),
            "source": source,
            "target": target,
            "equal": equal,
            "source_unreadable": self.source.unreadable,
            "target_unreadable": self.target.unreadable,
            "has_bad_record": self.has_bad_record,
        }


def requested_range(window: Mapping[str, Any], side: str) -> SideRange:
    """Return the requested range on `source` or `target`."""
    topic = window["topic"] if side == "source" else window["target_topic"]
    return SideRange(topic, window["partition"], window[f"{side}_start"], window[f"{side}_end"])


def plan_window(
    window: Mapping[str, Any],
    source_bounds: Mapping[tuple[str, int], LogBounds],
    target_bounds: Mapping[tuple[str, int], LogBounds],
) -> WindowPlan:
    """Return what to read for a window; if one side has no readable part, neither side is read."""
    source, target = requested_range(window, "source"), requested_range(window, "target")
    source = readable_range(source, source_bounds.get(source.place), end_may_be_missing=False)
    target = readable_range(target, target_bounds.get(target.place), end_may_be_missing=True)
    if _is_unread(window, source, "source") or _is_unread(window, target, "target"):
        return WindowPlan(window, _nothing(source), _nothing(target))
    return WindowPlan(window, source, target)


def _nothing(piece: SideRange) -> SideRange:
    return piece.none_of_it(piece.unreadable, has_bad_record=piece.has_bad_record)


def _is_unread(window: Mapping[str, Any], planned: SideRange, side: str) -> bool:
    lost = planned.unreadable is not None and planned.is_empty
    return lost and not planned.is_expired and not requested_range(window, side).is_empty


def readable_range(asked: SideRange, bounds: LogBounds | None, *, end_may_be_missing: bool) -> SideRange:
    """Return the readable part of a range.

    Records before the log start are deleted, and the ranks of the others are unknown. `end_may_be_missing`: on the
    target, offsets beyond the log's end are missing records, a difference that the comparison finds; on the source they
    cannot be read.
    """
    if asked.end < asked.start:
        return asked.none_of_it(f"the window ends at offset {asked.end}, before its start {asked.start}")
    if asked.is_empty:
        return asked
    if bounds is None:
        return asked.none_of_it("the topic or partition does not exist")
    end = min(asked.end, bounds.readable_end)
    gone = min(asked.end, bounds.log_start)
    shortage = _shortage(asked, bounds, end_may_be_missing=end_may_be_missing)
    bad = bounds.bad_record_in(max(asked.start, gone), end)
    if bad is not None:
        return asked.none_of_it(bad, has_bad_record=True)
    is_suspect = bounds.beyond_time is not None and bounds.beyond_time < asked.start
    if asked.start >= gone:
        return SideRange(*asked.place, min(asked.start, end), end, shortage, is_suspect=is_suspect)
    deleted = f"the log starts at offset {bounds.log_start}; offsets [{asked.start}, {gone}) are deleted"
    if shortage is not None:
        return asked.none_of_it(f"{deleted}; {shortage}")
    return SideRange(*asked.place, min(bounds.log_start, end), end, deleted, is_expired=True, is_suspect=is_suspect)


def _shortage(asked: SideRange, bounds: LogBounds, *, end_may_be_missing: bool) -> str | None:
    if asked.end > bounds.high_watermark and not end_may_be_missing:
        return f"the log ends at offset {bounds.high_watermark}; offsets up to {asked.end} do not exist"
    if min(asked.end, bounds.high_watermark) > bounds.readable_end:
        return (
            f"a transaction is open since offset {bounds.readable_end} (last stable offset); "
            f"committed records up to offset {min(asked.end, bounds.high_watermark)} are not known yet"
        )
    return None


class _Readable(Protocol):
    """A window, or a topic with all its windows."""

    @property
    def is_suspect(self) -> bool: ...


T = TypeVar("T", bound=_Readable)


def in_rounds(plans: Iterable[WindowPlan]) -> list[list[WindowPlan]]:
    """Split plans so that no partition of either side occurs twice in a round, keeping their order."""
    return rounds_of(plans, lambda plan: (("source", *plan.source.place), ("target", *plan.target.place)))


def rounds_of(parts: Iterable[T], places: Callable[[T], Sequence[object]]) -> list[list[T]]:
    """Split parts so that no place occurs twice in a round, keeping their order.

    Spark's Kafka source takes one range per partition and read. Suspects are read after the others, by themselves.
    """
    every = list(parts)
    rounds: list[list[T]] = []
    for suspect in (False, True):
        read: dict[object, int] = {}
        first = len(rounds)
        for part in (part for part in every if part.is_suspect is suspect):
            number = max(read.get(place, first) for place in places(part))
            read.update(dict.fromkeys(places(part), number + 1))
            if number == len(rounds):
                rounds.append([])
            rounds[number].append(part)
    return rounds
