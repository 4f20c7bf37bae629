"""Rules of telling how far the validation's reading is."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from kafka_digest.reading.read_windows import SideRange, WindowPlan
from kafka_digest.reading.spark_progress import Workload, progress_line, telling_progress
from kafka_migration.core.report.run_status import Reading

MINUTE = 60.0
BEGAN = datetime(2030, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("read", "offsets", "elapsed_s", "expected"),
    [
        (12_400_000, 40_000_000, 108, "12,400,000 of at most 40,000,000 records read (31 %), about 4 min left"),
        (1, 3, 10, "1 of at most 3 records read (33 %), less than a minute left"),
        (10, 100, 15 * MINUTE, "10 of at most 100 records read (10 %), about 2 h 15 min left"),
        (999, 1_000, MINUTE, "999 of at most 1,000 records read (99 %), less than a minute left"),
        (100, 100, MINUTE, "100 of at most 100 records read (100 %)"),
        (0, 100, MINUTE, "0 of at most 100 records read (0 %)"),
        (0, 0, MINUTE, "0 of at most 0 records read"),
        # A task that was tried again has read twice.
        (110, 100, MINUTE, "110 of at most 110 records read (100 %)"),
    ],
)
def test_line(read: int, offsets: int, elapsed_s: float, expected: str) -> None:
    """The time left follows from the rate so far; the share is rounded down, so only a complete read shows 100 %.

    Airflow's side reads the same numbers from the line.
    """
    assert expected == progress_line(read, offsets, elapsed_s)
    told = Reading.of(expected, BEGAN, BEGAN + timedelta(seconds=elapsed_s))
    assert told == Reading(BEGAN, BEGAN + timedelta(seconds=elapsed_s), read, max(offsets, read))


def window(start: int, end: int) -> WindowPlan:
    """Return a window of one partition, the same on both sides."""
    piece = SideRange("orders", 0, start, end)
    return WindowPlan({}, piece, piece)


def test_workload_grows_only_by_what_is_read_again() -> None:
    """The planned offsets of both sides count from the start; the first read adds nothing, each later one does."""
    workload = Workload()
    workload.plan([window(0, 10), window(10, 30), window(7, 7), window(9, 3)])
    for piece in (SideRange("orders", 0, 0, 10), SideRange("orders", 0, 10, 30)):
        for side in ("source", "target"):
            workload.note(side, [piece])
    assert 60 == workload.offsets

    workload.note("source", [SideRange("orders", 0, 20, 30)])
    workload.note("source", [SideRange("orders", 0, 0, 30), SideRange("orders", 1, 0, 30)])
    assert 60 + 10 + 30 == workload.offsets


class Counter:
    """Records as they are counted, one number per look; `is_seen` once all have been."""

    def __init__(self, *counts: int | Exception) -> None:
        self._counts: Iterator[int | Exception] = iter(counts)
        self.is_seen = threading.Event()

    def __call__(self) -> int:
        count = next(self._counts, None)
        if count is None:
            self.is_seen.set()
            return 0
        if isinstance(count, Exception):
            self.is_seen.set()
            raise count
        return count


@pytest.fixture(autouse=True)
def job(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line begins with the name of its job."""
    monkeypatch.setattr(sys, "argv", ["/jobs/validate_topics.py"])


def told(capsys: pytest.CaptureFixture[str], counter: Counter) -> list[str]:
    """Return the lines that were printed until all numbers were counted."""
    workload = Workload(offsets=100)
    with telling_progress(counter, workload, every_s=0.001):
        assert counter.is_seen.wait(30)
    return [line.partition(" records")[0] for line in capsys.readouterr().err.splitlines()]


def test_only_movement_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A line comes when more was read than at the last one; what was read before does not count."""
    lines = told(capsys, Counter(5, 5, 15, 15, 45))

    assert ["validate_topics: 10 of at most 100", "validate_topics: 40 of at most 100"] == lines


def test_progress_that_cannot_be_told_fails_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    """If the counting fails, the work continues, and one line says so."""
    (line,) = told(capsys, Counter(0, RuntimeError("no such method")))

    assert "validate_topics: the progress of the read is unknown (RuntimeError)" == line
