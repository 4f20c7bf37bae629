"""How the lags of the topics that are behind have changed, over about five minutes. No decision uses it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kafka_migration.core.watching.drain import EarlierLag, TopicLag

# A trend looks back about so far. Polls that are remembered are at least so far apart, so they are at most six.
LOOKS_BACK_S, NEAREST_S = 300.0, 60.0


@dataclass(frozen=True, slots=True)
class LagMoment:
    """The known lags of the topics that were behind at a poll, and when that was, in monotonic seconds."""

    at_s: float
    lags: Mapping[str, int]


def with_trend(behind: Iterable[TopicLag], moments: Sequence[LagMoment], now_s: float) -> tuple[TopicLag, ...]:
    """Return the topics, each with its lag at the oldest moment in sight that has one."""
    earliest: dict[str, EarlierLag] = {}
    for moment in _in_sight(moments, now_s):
        for topic, lag in moment.lags.items():
            earliest.setdefault(topic, EarlierLag(lag, round(now_s - moment.at_s)))
    return tuple(replace(each, earlier=earliest.get(each.topic)) for each in behind)


def remembered(moments: tuple[LagMoment, ...], behind: Iterable[TopicLag], now_s: float) -> tuple[LagMoment, ...]:
    """Return the moments to remember after a poll, oldest first; a poll without a known lag adds none."""
    lags = {each.topic: each.lag for each in behind if each.lag is not None}
    if not lags or (moments and now_s - moments[-1].at_s < NEAREST_S):
        return moments
    return (*_in_sight(moments, now_s), LagMoment(now_s, lags))


def _in_sight(moments: Sequence[LagMoment], now_s: float) -> tuple[LagMoment, ...]:
    """Return the moments, of those that are older than a trend looks back only the newest."""
    old = [each for each in moments if now_s - each.at_s >= LOOKS_BACK_S]
    return (*old[-1:], *moments[len(old) :])
