"""Rules of the progress line."""

from __future__ import annotations

import pytest

from kafka_migration.core.lag import Known, Unknown
from kafka_migration.core.progress import ProgressMeter, duration, progress_line

pytestmark = pytest.mark.unit


def _meter(total: int, *samples: tuple[float, int]) -> ProgressMeter:
    meter = ProgressMeter(total)
    for at_s, copied in samples:
        meter.add(at_s, copied)
    return meter


def test_line_has_the_shape_of_gh_ost():
    """Copied/total, per cent, lag, rate, elapsed, state and time left stand in one line."""
    meter = _meter(1000, (0, 100), (5, 300), (10, 500))

    line = progress_line(meter, Known(500), 12, "mirroring")

    assert line == "Copy: 500/1,000 50.0%; Lag: 500; Rate: 40/s; Elapsed: 12s; State: mirroring; ETA: 12s"


def test_unknown_lag_hides_the_time_left():
    """With a lag that cannot be read nobody is told when it will end."""
    meter = _meter(1000, (0, 100), (5, 300), (10, 500))

    line = progress_line(meter, Unknown("target did not answer"), 12, "waiting")

    assert "Lag: unknown (target did not answer)" in line
    assert line.endswith("ETA: unknown")


@pytest.mark.parametrize("samples", [[], [(0, 10)], [(0, 10), (5, 20)]])
def test_no_rate_before_three_samples(samples: list[tuple[float, int]]):
    """A rate out of fewer than three samples would be a guess."""
    assert _meter(1000, *samples).rate is None


def test_no_time_left_below_one_per_cent_or_without_movement():
    """Before 1 % and while nothing moves there is no estimate."""
    assert _meter(100_000, (0, 0), (5, 1), (10, 2)).eta_s is None
    assert _meter(100, (0, 50), (5, 50), (10, 50)).eta_s is None


def test_nothing_to_copy_is_complete():
    """A run without anything to copy stands at 100 %."""
    assert "0/0 100.0%" in progress_line(ProgressMeter(0), Known(0), 0, "done")


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (59, "59s"), (61, "1m01s"), (3660, "1h01m")])
def test_duration(seconds: float, text: str):
    """Durations are written for people."""
    assert text == duration(seconds)
