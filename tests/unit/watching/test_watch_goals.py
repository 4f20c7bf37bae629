"""Rules of the course of a watch whose goals move with the source."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from kafka_migration.core.kafka.cluster import IsolationLevel
from kafka_migration.core.kafka.offsets import Known, TopicPartition, Unknown
from kafka_migration.core.watching.fence import FenceWatch, SourceEnds
from kafka_migration.core.watching.watch_goals import CutoverCourse, follow
from tests.unit.partitions import P0, P1

Ends = Mapping[TopicPartition, int]


def a_course(isolation: IsolationLevel = "read_committed") -> CutoverCourse:
    return CutoverCourse({P0: 10, P1: 10}, near_offsets=100, isolation=isolation)


def look(at_s: float, high: Ends, stable: Ends | None = None) -> SourceEnds:
    return SourceEnds(at_s, frozenset({P0, P1, *high}), high, high if stable is None else stable)


def announced(course: CutoverCourse, at_s: float = 0) -> CutoverCourse:
    course.fence = FenceWatch(quiet_s=60, wait_s=600, announced_s=at_s)
    return course


def fenced() -> CutoverCourse:
    """Return a course whose fence is proved."""
    course = announced(a_course())
    for at_s in (0, 60):
        course.aim(look(at_s, {P0: 20, P1: 12}))
    return course


@pytest.mark.parametrize(("isolation", "goals"), [("read_committed", 15), ("read_uncommitted", 20)])
def test_goals_follow_the_live_end_at_first(isolation: IsolationLevel, goals: int) -> None:
    """Until the fence is proved the goals are the ends that MirrorMaker's consumer can see now."""
    aim = a_course(isolation).aim(look(0, {P0: 20, P1: 12}, {P0: 15, P1: 12}))

    assert {P0: goals, P1: 12} == aim.goals
    assert (False, "approaching") == (aim.is_final, aim.stage)


@pytest.mark.parametrize(("isolation", "goal"), [("read_committed", 15), ("read_uncommitted", 20)])
def test_following_has_the_live_ends_as_goals_and_none_is_final(isolation: IsolationLevel, goal: int) -> None:
    """The goals are the ends that MirrorMaker's consumer can see, also of new partitions; unread ones stay."""
    added = TopicPartition("orders", 2)
    aim = follow({P0: 10, P1: 10}, look(0, {P0: 20, added: 3}, {P0: 15, added: 3}), isolation)

    assert ({P0: goal, P1: 10, added: 3}, (P1,)) == (aim.goals, aim.unread)
    assert (False, "following") == (aim.is_final, aim.stage)


def test_end_that_cannot_be_read_keeps_its_goal_and_proves_nothing() -> None:
    """A partition without a known end stays among the goals, marked as not read."""
    aim = a_course().aim(look(0, {P0: 20}))

    assert ({P0: 20, P1: 10}, (P1,)) == (aim.goals, aim.unread)


@pytest.mark.parametrize(
    ("lag", "is_near"), [(Known(100), True), (Known(0), True), (Known(101), False), (Unknown("x"), False)]
)
def test_near_is_a_known_lag_within_the_limit(lag: Known | Unknown, is_near: bool) -> None:
    """One poll within the limit is enough, an unknown lag is never near, and there is one announcement only."""
    assert is_near is a_course().is_near(lag)
    assert not announced(a_course()).is_near(lag)


def test_fenced_ends_become_the_goals() -> None:
    """With the fence proved the goals are its ends, and reaching them ends the watch."""
    course = announced(a_course())
    first, second = (course.aim(look(at_s, {P0: 20, P1: 12})) for at_s in (0, 60))

    assert (False, "near", "fencing: ends unchanged for 0 of 60 s") == (first.is_final, first.stage, first.doing)
    assert (True, "fenced", {P0: 20, P1: 12}) == (second.is_final, second.stage, second.goals)


@pytest.mark.parametrize(
    ("high", "stable"),
    [
        ({P0: 21, P1: 12}, None),
        ({P0: 22, P1: 12}, {P0: 20, P1: 12}),
        ({P0: 20, P1: 12, TopicPartition("orders", 2): 1}, None),
    ],
)
def test_fence_breaks_when_anything_arrives(high: Ends, stable: Ends | None) -> None:
    """A record, an open transaction or a new partition after the proof opens the fence again."""
    course = fenced()
    aim = course.aim(look(70, high, stable))

    assert (False, "near", None) == (aim.is_final, aim.stage, course.fenced_ends)
    assert 12 == aim.goals[P1]


def test_fence_that_broke_can_be_proved_again() -> None:
    """A straggler's last records become part of the fenced ends, within the time to wait."""
    course = fenced()
    aims = [course.aim(look(at_s, {P0: 21, P1: 12})) for at_s in (70, 130)]

    assert [False, True] == [aim.is_final for aim in aims]
    assert {P0: 21, P1: 12} == aims[1].goals


def test_fence_that_broke_after_the_wait_is_refused() -> None:
    """Also while draining the time to wait is counted from the announcement."""
    aim = fenced().aim(look(600, {P0: 21, P1: 12}))

    assert ["topic orders"] == [finding.subject for finding in aim.findings]


def test_fence_holds_while_a_partition_cannot_be_read() -> None:
    """What cannot be read does not break a proved fence, and is not drained either."""
    aim = fenced().aim(look(700, {P0: 20}))

    assert (True, (P1,), ()) == (aim.is_final, aim.unread, aim.findings)


def test_recorded_fence_is_taken_up_by_a_restarted_watcher() -> None:
    """A restarted watcher that knows the fenced ends continues to drain, if they are still the ends."""
    course = announced(a_course(), at_s=-3600)
    course.fenced_ends = {P0: 20, P1: 12}

    assert course.aim(look(0, {P0: 20, P1: 12})).is_final
    assert not course.aim(look(15, {P0: 20, P1: 13})).is_final
