"""The readable part of windows, and which windows may share one read. Plain values, no Spark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# The rank of a record is its number inside the task and has 33 bits (see digest.py).
MAX_WINDOW_OFFSETS = 1 << 33


@dataclass(frozen=True)
class LogBounds:
    """The bounds of a partition: its log start offset, its high watermark, and the end that a reader may reach.

    `readable_end` is the last stable offset under `read_committed`, else the high watermark.
    """

    log_start: int
    high_watermark: int
    readable_end: int


@dataclass(frozen=True)
class SideRange:
    """The offsets `[start, end)` to read on one side, and a text about the unreadable part of the window.

    `is_expired` means that only the beginning of the window is unreadable, because the log has deleted it.
    """

    topic: str
    partition: int
    start: int
    end: int
    unreadable: str | None = None
    is_expired: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return self.start >= self.end

    @property
    def place(self) -> tuple[str, int]:
        """Topic and partition."""
        return self.topic, self.partition

    def none_of_it(self, unreadable: str | None = None) -> SideRange:
        """Return the range with nothing to read."""
        return SideRange(self.topic, self.partition, self.start, self.start, unreadable)


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

    def entry(self, source: Mapping[str, Any], target: Mapping[str, Any], *, equal: bool) -> dict[str, Any]:
        """Return the common fields of a window's result entry; `source` and `target` are the records read."""
        return {
            "window": dict(self.window),
            "source": source,
            "target": target,
            "equal": equal,
            "source_unreadable": self.source.unreadable,
            "target_unreadable": self.target.unreadable,
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
        return WindowPlan(window, source.none_of_it(source.unreadable), target.none_of_it(target.unreadable))
    return WindowPlan(window, source, target)


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
    if asked.start >= gone:
        return SideRange(*asked.place, min(asked.start, end), end, shortage)
    deleted = f"the log starts at offset {bounds.log_start}; offsets [{asked.start}, {gone}) are deleted"
    if shortage is not None:
        return asked.none_of_it(f"{deleted}; {shortage}")
    return SideRange(*asked.place, min(bounds.log_start, end), end, deleted, is_expired=True)


def _shortage(asked: SideRange, bounds: LogBounds, *, end_may_be_missing: bool) -> str | None:
    if asked.end > bounds.high_watermark and not end_may_be_missing:
        return f"the log ends at offset {bounds.high_watermark}; offsets up to {asked.end} do not exist"
    if min(asked.end, bounds.high_watermark) > bounds.readable_end:
        return (
            f"a transaction is open since offset {bounds.readable_end} (last stable offset); "
            f"committed records up to offset {min(asked.end, bounds.high_watermark)} are not known yet"
        )
    return None


def in_rounds(plans: Iterable[WindowPlan]) -> list[list[WindowPlan]]:
    """Split plans so that no partition of either side occurs twice in a round, keeping their order.

    Spark's Kafka source takes one range per partition and read.
    """
    next_source: defaultdict[tuple[str, int], int] = defaultdict(int)
    next_target: defaultdict[tuple[str, int], int] = defaultdict(int)
    rounds: list[list[WindowPlan]] = []
    for plan in plans:
        number = max(next_source[plan.source.place], next_target[plan.target.place])
        next_source[plan.source.place] = next_target[plan.target.place] = number + 1
        if number == len(rounds):
            rounds.append([])
        rounds[number].append(plan)
    return rounds


def too_long(windows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the windows with a range on either side that is longer than the maximum rank."""
    return [
        window
        for window in windows
        if max(window["source_end"] - window["source_start"], window["target_end"] - window["target_start"])
        > MAX_WINDOW_OFFSETS
    ]
