"""The course of a migration: bounded, in order, with its nights and events, and unknown stays unknown."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from itertools import pairwise

import pytest

from kafka_migration.adapters.store.document_files import to_json
from kafka_migration.core.documents.codec import DoesNotFit
from kafka_migration.core.report.progress_series import (
    MOST_EVENTS,
    MOST_POINTS,
    MOST_RUNS,
    NEAREST,
    ProgressSeries,
    SeriesPoint,
    with_point,
)
from kafka_migration.core.run.run_identity import RunIdentity
from tests.unit.cli.test_cli_present import POLLED

BEGIN = datetime(2030, 1, 1, 22, tzinfo=UTC)
EMPTY = ProgressSeries()
STEPS = [f"step_{number}" for number in range(20)]


def point(seconds: float, event: str = "", begin: datetime = BEGIN) -> SeriesPoint:
    """Return a point with the largest numbers that can be expected."""
    at = begin + timedelta(seconds=seconds, microseconds=123456)
    if event:
        return SeriesPoint(at, event, event=event)
    return SeriesPoint(at, "watch_lag", 10**13, 10**13, 10**13, 123456.7)


def run_of(night: int, name: str = "") -> str:
    """Return the name of a night's run."""
    return RunIdentity("kafka_migration__shop", f"{name}{night}", 1).holder


def after_nights(nights: int, polls: int, every_s: float = 30, name: str = "") -> ProgressSeries:
    """Return the series after some nights with 20 steps and some polls each."""
    series = EMPTY
    for night in range(nights):
        begin, run = BEGIN + timedelta(days=night), run_of(night, name)
        told = [point(number, step, begin) for number, step in enumerate(STEPS)]
        told += [point(60 + number * every_s, begin=begin) for number in range(polls)]
        for each in told:
            series = with_point(series, run, each)
    return series


@pytest.fixture(scope="module")
def five_nights() -> ProgressSeries:
    """Five nights of six hours, polled every two minutes."""
    return after_nights(5, polls=180, every_s=120)


def test_points_are_kept_in_order_of_time_and_by_run() -> None:
    """Points of machines whose clocks differ are in order too; a run has its own."""
    told = [("one", point(0)), ("one", point(60)), ("one", point(30)), ("two", point(90))]
    series = reduce(lambda known, each: with_point(known, *each), told, EMPTY)

    assert {"one": [0, 30, 60], "two": [90]} == {
        each.run: [(at.at - BEGIN).seconds for at in each.points] for each in series.runs
    }
    assert sorted(each.at for each in series.points) == [each.at for each in series.points]


def test_ordinary_point_near_to_another_is_left_out() -> None:
    """Only the times of the points decide; an event is always kept."""
    series = with_point(EMPTY, "run", point(0))
    near = NEAREST.total_seconds() - 1

    assert series is with_point(series, "run", point(near))
    assert 2 == len(with_point(series, "run", point(NEAREST.total_seconds())).points)
    assert 2 == len(with_point(series, "run", point(near, "plan")).points)


def test_event_that_repeats_the_last_one_is_left_out() -> None:
    """A deferred task reports its step when it begins and when it resumes. That is one event."""
    series = with_point(with_point(EMPTY, "run", point(0, "watch_lag")), "run", point(30))

    assert series is with_point(series, "run", point(60, "watch_lag"))
    assert 3 == len(with_point(series, "run", point(60, "stop_mirror")).points)


def test_last_nights_are_kept_with_events(five_nights: ProgressSeries) -> None:
    """Each of five nights keeps its begin, its events and some polls; the newest night keeps most of the polls."""
    polls = [[each for each in run.points if not each.event] for run in five_nights.runs]

    assert [run_of(night) for night in range(5)] == [each.run for each in five_nights.runs]
    assert [20] * 5 == [sum(bool(each.event) for each in run.points) for run in five_nights.runs]
    assert all(len(each) >= 10 for each in polls)
    assert [len(each) for each in polls] == sorted(len(each) for each in polls)
    assert len(polls[-1]) > 90


def test_newest_night_is_shown_evenly(five_nights: ProgressSeries) -> None:
    """No part of six hours is without points: the largest step is some minutes."""
    at = [each.at for each in five_nights.runs[-1].points if not each.event]

    assert max(after - before for before, after in pairwise(at)) <= timedelta(minutes=10)


def test_oldest_events_go_first() -> None:
    """There is a bound for events too, and polls have room beside them."""
    series = after_nights(MOST_RUNS, polls=1)
    events = [each for each in series.points if each.event]

    assert MOST_EVENTS == len(events)
    assert BEGIN + timedelta(days=MOST_RUNS - MOST_EVENTS / 20) < events[0].at


def test_document_is_small_at_its_limit_with_long_names() -> None:
    """360 points of 24 runs, each of the longest name, are at most 64 KiB."""
    series = after_nights(MOST_RUNS + 6, polls=40, every_s=500, name="é" * 240)

    assert (MOST_POINTS, MOST_RUNS) == (len(series.points), len(series.runs))
    assert run_of(MOST_RUNS + 5, "é" * 240) == series.runs[-1].run
    assert len(to_json(series.to_document(), indent=None).encode()) <= 64 * 1024


def test_unknown_stays_unknown_and_is_not_written() -> None:
    """While the lag is unknown a poll has no values; a missing value is read as None, never as 0."""
    unknown = SeriesPoint.polled({**POLLED, "lag": None, "rate": None})
    series = with_point(EMPTY, "run", unknown)

    assert (None, None, None, None) == (unknown.end, unknown.copied, unknown.lag, unknown.rate)
    assert {"at", "step", "event"} == set(unknown.to_document())
    assert series == ProgressSeries.from_document(series.to_document())


def test_poll_has_its_readings_and_its_end() -> None:
    """A poll tells end, copied, lag and rate; the last one says how the watch ended."""
    polled = SeriesPoint.polled({**POLLED, "outcome": "drained"})

    assert (200_000, 120_000, 80_000, 9_500.0) == (polled.end, polled.copied, polled.lag, polled.rate)
    assert ("watch_lag", "drained") == (polled.step, polled.event)


def test_progress_of_another_form_is_refused() -> None:
    """A document whose values have other types gives no point."""
    with pytest.raises(DoesNotFit):
        SeriesPoint.polled({**POLLED, "lag": "much"})


def test_wrong_clock_does_not_end_the_series() -> None:
    """After a point of the far future the next ones are still kept."""
    series = with_point(EMPTY, "run", replace(point(0), at=datetime(2099, 1, 1, tzinfo=UTC)))
    series = reduce(lambda known, n: with_point(known, "run", point(n * 30)), range(10), series)

    assert 11 == len(series.points)
