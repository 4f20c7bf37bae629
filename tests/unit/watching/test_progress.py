"""Rules of the progress line."""

from __future__ import annotations

import pytest

from kafka_migration.core.kafka.offsets import Known, Unknown
from kafka_migration.core.text.terminal_text import duration
from kafka_migration.core.watching.progress import ProgressMeter, Share, progress_line


def _meter(total: int, *samples: tuple[float, int]) -> ProgressMeter:
    meter = ProgressMeter(total)
    for at_s, copied in samples:
        meter.add(at_s, copied)
    return meter


HALF = _meter(1000, (0, 100), (5, 300), (10, 500))


def test_line_has_the_shape_of_gh_ost() -> None:
    """The line has copied/total, per cent, lag, rate, elapsed time, state and time left."""
    line = progress_line(HALF, Known(500), 12, "mirroring")

    assert line == "Copy: 500/1,000 50.0%; Lag: 500; Rate: 40/s; Elapsed: 12s; State: mirroring; ETA: 12s"


def test_unknown_lag_hides_the_time_left() -> None:
    """If the lag is unknown, the line begins with the reason and shows no time left."""
    line = progress_line(HALF, Unknown("target did not answer"), 12, "waiting, target did not answer")

    assert line == "State: waiting, target did not answer; Copy: 500/1,000 50.0%; Lag: unknown; Elapsed: 12s"


@pytest.mark.parametrize("lag", [Known(10**12), Unknown("no answer")])
def test_line_is_never_longer_than_160(lag: Known | Unknown) -> None:
    """However long the reason is, or of how many lines: the numbers stay, and the reason is cut."""
    meter = _meter(10**13, (0, 0), (5, 10**11), (10, 9 * 10**12))
    line = progress_line(meter, lag, 360_000, "waiting, the broker\nsays " + "no " * 200)

    assert (160, True) == (len(line), "…; " in line)
    assert "\n" not in line


def test_rate_is_that_of_the_last_minute() -> None:
    """What was copied more than a minute ago says nothing about now; three samples are kept even if they are rare."""
    often = _meter(10**6, *[(at_s, 100 * at_s) for at_s in range(1, 61, 15)], (76, 10_000), (91, 20_000), (106, 30_000))
    rarely = _meter(10**6, (100, 1_000), (400, 2_000), (700, 32_000))

    assert [(30_000 - 4_600) / 60, 31_000 / 600] == [often.rate, rarely.rate]


def test_start_of_mirrormaker_is_no_time_of_copying() -> None:
    """Rate, time left and the average begin with the last moment at which nothing was copied yet."""
    meter = _meter(30_000, (0, 0), (15, 0), (30, 0), (31, 1_000), (32, 2_000))

    assert (1_000, 28, 1_000) == (meter.rate, meter.eta_s, meter.average_rate(0))


def test_rate_covers_some_steps_of_the_positions() -> None:
    """Workers of Kafka Connect store positions every minute by default: then the rate is that of four such steps."""
    stepwise = _meter(10**6, *[(at_s, 1_000 * (at_s // 60)) for at_s in range(0, 601, 5)])
    stalled = _meter(10**6, *[(at_s, 100 * min(at_s, 300)) for at_s in range(0, 401, 5)])

    assert 4_000 / 240 == stepwise.rate
    assert 0 == stalled.rate


def _of_tasks(*copied: tuple[tuple[int, int], ...]) -> ProgressMeter:
    """Return a meter with samples five seconds apart, each with what every task has copied, of how much."""
    meter = ProgressMeter(0)
    for number, shares in enumerate(copied):
        meter.total = sum(whole for _, whole in shares)
        meter.add(number * 5, sum(done for done, _ in shares))
        meter.add_parts(number * 5, {task: Share(*share) for task, share in enumerate(shares)})
    return meter


def test_time_left_is_that_of_the_slowest_task() -> None:
    """The mean of all tasks says 20 s, but one of them needs 90 s for what it has left."""
    meter = _of_tasks(((400, 1_000), (10, 200)), ((600, 1_000), (20, 200)), ((900, 1_000), (20 + 0, 200)))
    ahead = _of_tasks(((400, 1_000), (190, 200)), ((600, 1_000), (200, 200)), ((900, 1_000), (200, 200)))

    assert pytest.approx(180) == meter.eta_s
    assert pytest.approx(90) == meter.average_left_s(0)
    assert pytest.approx(2) == ahead.eta_s


def test_task_that_makes_no_progress_leaves_the_time_unknown() -> None:
    """While a task has something left and copies nothing, no other task's rate says when the copy ends."""
    meter = _of_tasks(((400, 1_000), (20, 200)), ((600, 1_000), (20, 200)), ((900, 1_000), (20, 200)))

    assert meter.eta_s is None
    assert meter.rate == 50


def test_new_task_begins_with_its_first_sample() -> None:
    """After tasks were distributed anew, the time left is unknown until each has a rate; the rate of all remains."""
    meter = _of_tasks(((400, 1_000),), ((600, 1_000),), ((900, 1_000),))
    meter.add(15, 950)
    meter.add_parts(15, {"a": Share(500, 520), "b": Share(450, 480)})

    assert meter.eta_s is None
    assert meter.rate is not None


@pytest.mark.parametrize("samples", [[], [(0, 10)], [(0, 10), (5, 20)]])
def test_no_rate_before_three_samples(samples: list[tuple[float, int]]) -> None:
    """A rate out of fewer than three samples would be a guess."""
    assert _meter(1000, *samples).rate is None


def test_no_time_left_below_one_per_cent_or_without_movement() -> None:
    """Before 1 % and while nothing moves there is no estimate."""
    assert _meter(100_000, (0, 0), (5, 1), (10, 2)).eta_s is None
    assert _meter(100, (0, 50), (5, 50), (10, 50)).eta_s is None
    assert _meter(100).eta_s is None


def test_time_left_at_the_end_is_zero() -> None:
    """If everything is copied, the time left is known without a rate: 0."""
    assert 0 == _meter(100, (6, 100)).eta_s
    assert 0 == _meter(0, (6, 0)).eta_s


def test_nothing_to_copy_is_complete() -> None:
    """A run without anything to copy shows 100 %."""
    assert "0/0 100.0%" in progress_line(ProgressMeter(0), Known(0), 0, "done")


@pytest.mark.parametrize("meter", [ProgressMeter(0), ProgressMeter(10), _meter(0, (6, 0))])
def test_unknown_copy_is_not_complete(meter: ProgressMeter) -> None:
    """Before a reading, and without a goal, nothing is known of the copy: neither 100 % nor 0 %."""
    line = progress_line(meter, Unknown("the source does not answer"), 5, "waiting")

    assert "Copy: unknown; Lag: unknown" in line
    assert "%" not in line


def test_last_reading_stays_if_the_lag_is_unknown() -> None:
    """What was copied at the last reading remains copied."""
    assert "Copy: 50/100 50.0%; Lag: unknown" in progress_line(_meter(100, (0, 50)), Unknown("x"), 5, "waiting")


@pytest.mark.parametrize(("seconds", "text"), [(0, "0s"), (59, "59s"), (61, "1m01s"), (3660, "1h01m")])
def test_duration(seconds: float, text: str) -> None:
    """Durations are written for people."""
    assert text == duration(seconds)
