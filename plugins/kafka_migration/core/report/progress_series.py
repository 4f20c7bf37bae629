"""How a migration went over several nights: points in time, few enough for one small document.

The runs themselves report all of it. No decision uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, Literal

from kafka_migration.core.documents.codec import Document

# Together at most 64 KiB, also if each run has a name of 500 characters.
MOST_POINTS, MOST_EVENTS, MOST_RUNS = 360, 100, 24
# Ordinary points are at least this far apart.
NEAREST = timedelta(seconds=5)
# Points of the last six hours are about equally far apart; older ones are farther apart, the older they are.
FULL_DETAIL = timedelta(hours=6)


@dataclass(frozen=True, slots=True)
class SeriesPoint(Document):
    """What a run told at a moment; `None` means *unknown*, or *not measured by this step*.

    `end` is how many source offsets the run copies, `copied` how many of them the target has, `rate` is in offsets per
    second. `read` is how many records Spark has read, of at most `at_most`. An `event` says what happened, such as
    `generation 3 stopped`; it is empty for an ordinary point.
    """

    OMITTED: ClassVar[frozenset[str]] = frozenset({"end", "copied", "lag", "rate", "read", "at_most"})

    at: datetime
    step: str
    end: int | None = None
    copied: int | None = None
    lag: int | None = None
    rate: float | None = None
    read: int | None = None
    at_most: int | None = None
    event: str = ""

    @classmethod
    def polled(cls, progress: Mapping[str, object]) -> SeriesPoint:
        """Return the point of a poll; `DoesNotFit` if the progress document has another form.

        While the lag is unknown, the document has the last known values of the rest.
        """
        when = {"at": progress.get("at"), "step": progress.get("step", ""), "event": progress.get("outcome") or ""}
        if progress.get("lag") is None:
            return cls.from_document(when)
        own = {"end": "total", "copied": "copied", "lag": "lag", "rate": "rate"}
        return cls.from_document({**when, **{name: progress.get(other) for name, other in own.items()}})


@dataclass(frozen=True, slots=True)
class RunSeries(Document):
    """The points of one attempt of a run, in order of time."""

    run: str
    points: tuple[SeriesPoint, ...]


@dataclass(frozen=True, slots=True)
class ProgressSeries(Document):
    """The points of a migration's newest runs, the newest run last."""

    runs: tuple[RunSeries, ...] = ()
    schema: Literal[1] = 1

    @property
    def points(self) -> tuple[SeriesPoint, ...]:
        """The points of all runs, in order of time."""
        return _in_order(point for each in self.runs for point in each.points)


def with_point(series: ProgressSeries, run: str, point: SeriesPoint, most: int = MOST_POINTS) -> ProgressSeries:
    """Return the series with one more point, and with at most `most` of them.

    The same series, if the point is an ordinary one and too near to another, or repeats the last event of its run.
    """
    by_run = {each.run: each.points for each in series.runs}
    if _adds_nothing(point, by_run.get(run, ())):
        return series
    by_run[run] = (*by_run.get(run, ()), point)
    kept = set(_kept(_in_order(each for points in by_run.values() for each in points), most))
    runs = (RunSeries(name, _in_order(kept.intersection(points))) for name, points in by_run.items())
    return ProgressSeries(tuple(each for each in runs if each.points)[-MOST_RUNS:])


def _adds_nothing(point: SeriesPoint, known: tuple[SeriesPoint, ...]) -> bool:
    # A deferred task reports its step again when it resumes.
    if point.event:
        return point.event == next((each.event for each in reversed(known) if each.event), "")
    return any(abs(point.at - each.at) < NEAREST for each in known if not each.event)


def _kept(points: tuple[SeriesPoint, ...], most: int) -> Iterator[SeriesPoint]:
    """Yield the newest events, and those ordinary points that show most of the course."""
    events = [each for each in points if each.event][-min(MOST_EVENTS, most // 2) :]
    yield from events
    ordinary = [each for each in points if not each.event]
    yield from _thinned(ordinary, most - len(events), points[-1].at)


def _thinned(points: list[SeriesPoint], most: int, newest: datetime) -> Iterator[SeriesPoint]:
    """Yield at most `most` points, without those whose neighbours are near to each other for their age."""

    def worth(number: int) -> float:
        if not 0 < number < len(points) - 1:
            return float("inf")
        return (points[number + 1].at - points[number - 1].at) / (newest - points[number].at + FULL_DETAIL)

    numbers = sorted(range(len(points)), key=worth, reverse=True)[:most]
    yield from (points[number] for number in numbers)


def _in_order(points: Iterable[SeriesPoint]) -> tuple[SeriesPoint, ...]:
    return tuple(sorted(points, key=lambda point: point.at))
