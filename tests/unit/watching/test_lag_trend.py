"""Rules of the trend of a topic's lag."""

from __future__ import annotations

import pytest

from kafka_migration.core.watching.drain import MOST_TOPICS_BEHIND, EarlierLag, PartitionReading, TopicLag
from kafka_migration.core.watching.lag_trend import LagMoment, remembered, with_trend
from kafka_migration.core.watching.watch import Poll, Watch
from tests.unit.partitions import P0


@pytest.mark.parametrize(
    ("lag", "earlier", "expected"),
    [
        (4_000, EarlierLag(16_000, 300), "12,000 fewer in 5m00s"),
        (16_300, EarlierLag(16_000, 60), "300 more in 1m00s"),
        (16_000, EarlierLag(16_000, 300), "the same as 5m00s ago"),
        (16_000, None, "unknown"),
        (None, EarlierLag(16_000, 300), "unknown"),
    ],
)
def test_trend_in_words(lag: int | None, earlier: EarlierLag | None, expected: str) -> None:
    """A trend needs both numbers; without one of them it is unknown, never the same."""
    assert expected == TopicLag("orders", lag, earlier).trend


def polls(*found: tuple[float, int | None]) -> tuple[LagMoment, ...]:
    """Return what is remembered of polls at these seconds with these lags of a topic."""
    moments: tuple[LagMoment, ...] = ()
    for at_s, lag in found:
        moments = remembered(moments, (TopicLag("orders", lag),), at_s)
    return moments


def test_trend_looks_back_five_minutes() -> None:
    """Polls each ten seconds, for an hour: the trend is that of five minutes, rounded up to a remembered poll."""
    moments = polls(*((at_s, 10_000 - at_s) for at_s in range(0, 3601, 10)))
    (found,) = with_trend([TopicLag("orders", 6_390)], moments, 3610)

    assert found.earlier is not None
    assert 300 <= found.earlier.ago_s <= 360
    assert 6_390 + found.earlier.ago_s == found.earlier.lag


def test_rare_polls_have_a_trend_since_the_poll_before() -> None:
    """If polls are farther apart than a trend looks back, the last one is compared with the one before."""
    moments = polls((0, 900), (1_000, 700), (2_000, 600))

    assert (TopicLag("orders", 500, EarlierLag(600, 1_000)),) == with_trend([TopicLag("orders", 500)], moments, 3_000)


def test_topic_that_was_not_among_those_behind_has_no_trend() -> None:
    """It may have been behind less than twenty others, so its earlier lag is not known; nor is an unknown one."""
    moments = polls((0, None), (60, 5))

    assert (TopicLag("audit", 7, None),) == with_trend([TopicLag("audit", 7)], moments, 120)
    assert 60 == moments[0].at_s


def test_what_is_remembered_is_bounded() -> None:
    """At most six moments with at most the topics of the list are kept, however long the watch and often its polls."""
    many = [TopicLag(f"t{number}", number) for number in range(MOST_TOPICS_BEHIND)]
    moments: tuple[LagMoment, ...] = ()
    for at_s in range(0, 7_200, 7):
        moments = remembered(moments, many, at_s)
        assert 6 >= len(moments)

    assert {MOST_TOPICS_BEHIND} == {len(each.lags) for each in moments}


def test_watch_compares_its_polls() -> None:
    """A watch gives each topic that is behind its lag of an earlier poll; the first poll has none."""
    watch = Watch({P0: 0}, {P0: 100}, 600, started_s=0)
    watch.take(Poll({P0: PartitionReading(100, 0, 40)}), 0)
    first = watch.behind
    watch.take(Poll({}, unreachable="the target does not answer"), 30)
    watch.take(Poll({P0: PartitionReading(100, 0, 70)}), 60)

    assert (TopicLag("orders", 60),) == first
    assert (TopicLag("orders", 30, EarlierLag(60, 60)),) == watch.behind
