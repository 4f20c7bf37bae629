"""Rules of the watch over a running MirrorMaker."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Probe
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.mirror.engine import FailedTask, MirrorHealth
from kafka_migration.core.watching.drain import PartitionReading
from kafka_migration.core.watching.watch import Aim, Ending, Outcome, Poll, Watch, watch_limits
from tests.present import present
from tests.unit.partitions import P0, P1

WELL = MirrorHealth(assigned=frozenset({P0, P1}))


def a_watch(stall_after_s: float = 60) -> Watch:
    return Watch({P0: 0, P1: 0}, {P0: 100, P1: 100}, stall_after_s, started_s=0)


def a_poll(first: int | None, second: int | None, log_start: int = 0, **more: object) -> Poll:
    readings = {P0: PartitionReading(100, log_start, first), P1: PartitionReading(100, log_start, second)}
    return Poll(readings, **{"health": WELL, **more})  # type: ignore[arg-type]


def test_drained_needs_two_passes_in_a_row() -> None:
    """One reading at the goal is not enough; a reading below it restarts the count."""
    watch = a_watch()

    outcomes = [watch.take(a_poll(*positions), now) for now, positions in enumerate([(100, 100), (100, 99)])]
    outcomes += [watch.take(a_poll(100, 100), now) for now in (2, 3)]

    assert [None, None, None] == outcomes[:3]
    assert present(outcomes[3]).outcome is Outcome.DRAINED


@pytest.mark.parametrize(
    ("poll", "text"),
    [
        pytest.param(a_poll(100, None), "Lag: unknown", id="position unknown"),
        pytest.param(Poll({P0: PartitionReading(100, 0, 100)}, WELL), "", id="partition missing"),
        *(
            (a_poll(100, 100, health=MirrorHealth(assigned=assigned)), "partition(s) not assigned to a task yet")
            for assigned in (frozenset({P0}), frozenset(), None)
        ),
    ],
)
def test_incomplete_poll_is_never_drained(poll: Poll, text: str) -> None:
    """The watch waits while the position or the task of any partition of the goals is unknown."""
    watch = a_watch()

    assert [None] * 5 == [watch.take(poll, now) for now in range(5)]
    assert text in watch.progress


def test_time_left_follows_the_slowest_task() -> None:
    """The partitions of a task are one share. Without known tasks, the rate of all counts; the last known ones stay."""
    watch, health = a_watch(), MirrorHealth.of_tasks([{P0}, {P1}])
    for now, (fast, slow) in enumerate([(20, 10), (50, 11), (80, 12)]):
        watch.take(a_poll(fast, slow, health=health), now)

    assert 88 == watch.meter.eta_s
    assert pytest.approx(88 / 6) == watch.end(Ending(Outcome.BEHIND, "late")).left_s
    watch.take(a_poll(90, 13), 3)
    assert 87 == watch.meter.eta_s
    mean = a_watch()
    for now, (fast, slow) in enumerate([(20, 10), (50, 11), (80, 12)]):
        mean.take(a_poll(fast, slow), now)
    assert pytest.approx(108 / 31) == mean.meter.eta_s


def test_unreachable_is_waiting_not_failing() -> None:
    """While the host or a cluster does not answer, the watch waits and names the reason."""
    watch = a_watch()

    assert watch.take(Poll({}, unreachable="host did not answer"), 1) is None
    assert "State: waiting, host did not answer" in watch.progress
    assert "Lag: unknown" in watch.progress


@pytest.mark.parametrize(
    ("poll", "code"),
    [
        (a_poll(5, 5, health=MirrorHealth(failed=(FailedTask("status-task-0", "boom"),))), Code.MIRROR_TASK_FAILED),
        (a_poll(5, 5, health=MirrorHealth(differences=("topics: a, not b",))), Code.CONFIG_NOT_EFFECTIVE),
        (a_poll(5, 5, alarm="WARN splitting and retrying"), Code.RECORD_TOO_LARGE),
        (a_poll(5, 5, log_start=7), Code.GAP_DURING_RUN),
    ],
)
def test_failure_ends_the_watch_at_once(poll: Poll, code: Code) -> None:
    """A failed task, another configuration, a refused batch and a gap need no second look."""
    result = present(a_watch().take(poll, 1))

    assert result.outcome is Outcome.FAILED
    assert code in {finding.code for finding in result.findings}


def test_stall_is_judged_per_partition() -> None:
    """A partition that stands still is named although the others move."""
    watch = a_watch(stall_after_s=60)

    results = [watch.take(a_poll(10, 10 + now), now) for now in (0, 30, 59, 60)]

    assert [None, None, None] == results[:3]
    assert ["orders[0]"] == [finding.subject for finding in present(results[3]).findings]


def test_drained_partition_does_not_stall() -> None:
    """A partition at its goal may stand still for as long as the others need."""
    watch = a_watch(stall_after_s=60)

    assert [None] * 4 == [watch.take(a_poll(100, 10 + now), now) for now in (0, 30, 60, 80)]


def test_probe_only_where_the_position_stood_still() -> None:
    """A probe is asked for after a poll without movement, never on a moving partition."""
    watch = a_watch()

    assert not watch.needs_probe(P0, 10)
    watch.take(a_poll(10, 10), 1)

    assert watch.needs_probe(P0, 10)
    assert not watch.needs_probe(P0, 11)


def test_partition_proved_by_a_probe_is_probed_again_at_the_next_poll() -> None:
    """Regression: a proof by probe was forgotten at once, so that two passes in a row never came about."""
    watch, results = Watch({P0: 0}, {P0: 21}, 60, 0), []
    for now in range(3):
        probe = Probe(21, is_end=True) if watch.needs_probe(P0, 20) else None
        results.append(watch.take(Poll({P0: PartitionReading(21, 0, 20, probe)}, WELL), now))

    assert [None, None] == results[:2]
    assert present(results[2]).outcome is Outcome.DRAINED


def test_progress_counts_from_the_start_position() -> None:
    """Copied and total are offsets between the start and the goal."""
    watch = Watch({P0: 50}, {P0: 100}, 60, 0)
    watch.take(Poll({P0: PartitionReading(100, 0, 60)}, WELL), 1)

    assert "Copy: 10/50 20.0%; Lag: 40" in watch.progress


def aimed(first: int, second: int, aim: Aim) -> Poll:
    readings = {p: PartitionReading(aim.goals[p], 0, at) for p, at in ((P0, first), (P1, second))}
    return Poll(readings, WELL, aim=aim)


def test_reaching_goals_that_are_not_final_goes_on() -> None:
    """Before the last stage of a watch nothing is over, however often its goals are reached."""
    watch, aim = a_watch(), Aim({P0: 10, P1: 10}, is_final=False, stage="near", doing="fencing: still for 3 of 60 s")

    assert [None] * 5 == [watch.take(aimed(10, 10, aim), now) for now in range(5)]
    assert "State: near, fencing: still for 3 of 60 s" in watch.progress


def test_new_goals_must_be_reached_again() -> None:
    """Passes at older goals count for nothing, and the result holds the goals that were proved."""
    watch, later = a_watch(), Aim({P0: 100, P1: 120}, stage="fenced")
    watch.take(a_poll(100, 100), 0)
    results = [watch.take(aimed(100, 120, later), now) for now in (1, 2)]

    assert results[0] is None
    assert later.goals == present(results[1]).goals
    assert {"orders": {"0": 100, "1": 120}} == present(results[1]).to_document()["goals"]


def test_aim_stays_until_another_is_given() -> None:
    """The line shows the stage, and the goals stay, also while the host does not answer."""
    watch, aim = a_watch(), Aim({P0: 150, P1: 150}, stage="fenced")
    watch.take(aimed(50, 50, aim), 1)
    watch.take(Poll({}, unreachable="host did not answer"), 2)

    assert "State: fenced, waiting, host did not answer" in watch.progress
    assert aim.goals == watch.goals


def test_total_follows_the_goals() -> None:
    """When the goals move on, what was copied stays and the total grows."""
    watch = a_watch()
    watch.take(a_poll(50, 50), 1)
    watch.take(aimed(60, 60, Aim({P0: 150, P1: 150})), 2)

    assert "Copy: 120/300 40.0%; Lag: 180" in watch.progress


def test_partition_added_since_the_start_is_copied_from_its_beginning() -> None:
    """A partition that the start did not know counts wholly."""
    watch = a_watch()
    watch.take(aimed(0, 0, Aim({P0: 100, P1: 100, TopicPartition("orders", 2): 30})), 1)

    assert watch.meter.total == 230


def test_findings_of_the_aim_end_the_watch() -> None:
    """A finding of the aim fails the watch like any other finding."""
    finding = Finding(Code.FENCE_MOVING, "topic orders", "x", "y", "z")
    result = present(a_watch().take(aimed(1, 1, Aim({P0: 5, P1: 5}, is_final=False, findings=(finding,))), 1))

    assert (Outcome.FAILED, (finding,), {}) == (result.outcome, result.findings, result.goals)


def test_rest_at_the_goal_is_no_stall_when_the_goal_moves_on() -> None:
    """Regression: a partition idle at its live goal stalled in the very poll that brought a new record."""
    watch = a_watch(stall_after_s=60)
    still = Aim({P0: 10, P1: 10}, is_final=False)
    results = [watch.take(aimed(10, 10, still), now) for now in (0, 50, 100)]
    results += [watch.take(aimed(10, 10, Aim({P0: 11, P1: 10}, is_final=False)), now) for now in (115, 159)]
    stalled = watch.take(aimed(10, 10, Aim({P0: 12, P1: 10}, is_final=False)), 160)

    assert [None] * 5 == results
    assert ["orders[0]"] == [finding.subject for finding in present(stalled).findings]


def test_ending_carries_reason_lag_and_findings() -> None:
    """A watch that ends before its goals names the reason, the lag and the findings."""
    watch, finding = a_watch(), Finding(Code.STOP_REQUESTED, "generation 1", "x", "y", "z")
    watch.take(a_poll(60, 70), 1)
    result = watch.end(Ending(Outcome.FAILED, "asked to stop", (finding,)))

    assert (Outcome.FAILED, "asked to stop", 70) == (result.outcome, result.reason, result.lag)
    assert (finding,) == result.findings


def test_lag_that_is_not_known_at_the_end_stays_unknown() -> None:
    """Ending while nothing can be read leaves the lag open, not zero."""
    watch = a_watch()
    watch.take(Poll({}, unreachable="host did not answer"), 1)

    assert watch.end(Ending(Outcome.BEHIND, "x")).lag is None


@pytest.mark.parametrize(
    ("is_final", "words"), [(True, "at the goal, confirming"), (False, "at the end of the source")]
)
def test_goal_that_is_not_final_is_not_confirmed(is_final: bool, words: str) -> None:
    """At a goal that is not final, the line promises no end; a remark precedes the state."""
    watch, poll = a_watch(), aimed(10, 10, Aim({P0: 10, P1: 10}, is_final=is_final))
    watch.take(Poll(poll.readings, WELL, aim=poll.aim, remark="x cannot be read"), 1)

    assert f"State: x cannot be read, {words}; ETA" in watch.progress


NOW = datetime(2030, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("time_limit", "ends_at", "deadline", "timeout_minutes"),
    [
        (HOUR, None, NOW + HOUR, 70),
        (HOUR, NOW + 3 * HOUR, NOW + 3 * HOUR, 190),
        (HOUR, NOW, NOW + HOUR, 70),
        (None, NOW + 3 * HOUR, None, 190),
        (None, NOW - HOUR, None, 10),
        (None, None, None, None),
    ],
)
def test_watch_is_not_late_before_its_end(
    time_limit: timedelta | None, ends_at: datetime | None, deadline: datetime | None, timeout_minutes: int | None
) -> None:
    """The deadline never lies before the end of the window, and Airflow's limit lies after both."""
    limits = watch_limits(NOW, time_limit, ends_at)
    timeout = None if timeout_minutes is None else timedelta(minutes=timeout_minutes)

    assert (deadline, timeout) == (limits.deadline, limits.trigger_timeout)


def test_partition_without_a_task_ends_the_watch() -> None:
    """A partition that has no task for the time of a stall fails the watch; an unanswered poll restarts that time."""
    watch, alone = a_watch(stall_after_s=60), MirrorHealth(assigned=frozenset({P0}))

    def take(now: float, **more: Any) -> list[Code]:
        result = watch.take(a_poll(100, 100, health=alone, **more), now)
        return [f.code for f in result.findings] if result else []

    assert [[], [], [], []] == [take(30), take(59, unreachable="no answer"), take(60), take(118)]
    assert [Code.PARTITION_NOT_ASSIGNED] == take(119)


def test_overtaken_partition_ends_the_watch() -> None:
    """The result has the range; the finding has none, because the position may be older than the copy."""
    result = present(a_watch().take(a_poll(5, 9, log_start=7), 1))

    assert {P0: (5, 7)} == result.gaps
    assert "up to offset 6, but the position that MirrorMaker stored last is 5." in str(result.findings[0])
    assert "5–6" not in str(result.findings[0])
    assert {"orders": {"0": [5, 7]}} == result.to_document()["gaps"]


def test_what_a_probe_proved_stays_proved() -> None:
    """Nothing is left to copy below the offset that a probe found, however the watch ends."""
    watch = Watch({P0: 0}, {P0: 21}, 60, 0)
    watch.take(Poll({P0: PartitionReading(21, 0, 18, Probe(20, is_end=False))}, WELL), 1)

    assert {P0: 20} == watch.proved
    assert {P0: 20} == watch.end(Ending(Outcome.BEHIND, "x")).proved
    watch.take(Poll({P0: PartitionReading(21, 0, 21)}, WELL), 2)
    drained = present(watch.take(Poll({P0: PartitionReading(21, 0, 21)}, WELL), 3))
    assert {"orders": {"0": 21}} == drained.to_document()["proved"]


def test_time_without_a_poll_is_no_stall() -> None:
    """Regression: a MirrorMaker that had been dead for long was called stalled by the first poll after its restart."""
    watch = a_watch(stall_after_s=60)
    polls = [a_poll(10, 10), Poll({}, unreachable="generation 1 died"), a_poll(10, 10), a_poll(10, 10)]

    assert [None] * 4 == [watch.take(poll, now) for poll, now in zip(polls, (0, 300, 359, 359.5), strict=True)]
    assert watch.take(a_poll(10, 10), 360) is not None
