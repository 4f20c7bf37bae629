"""Rules of the lag of consumer groups."""

from __future__ import annotations

import pytest

from kafka_migration.core.cutover.lag_policy import LagPolicy, LagPolicyState, LagSample, behind_text, partition_lag
from kafka_migration.core.kafka.cluster import Probe
from kafka_migration.core.kafka.offsets import Known, Lag, TopicPartition, Unknown
from tests.unit.partitions import P0, P1


def a_state(limit: int = 0, samples: int = 3, freshness_s: float = 60) -> LagPolicyState:
    return LagPolicyState(LagPolicy(limit, samples, freshness_s))


def sample(at_s: float, *lags: Lag) -> LagSample:
    return LagSample(at_s, {"shop-app": dict(zip((P0, P1), lags, strict=False))})


def fed(state: LagPolicyState, *samples: LagSample) -> list[bool]:
    return [state.take(s, s.at_s) for s in samples]


@pytest.mark.parametrize(
    ("committed", "log_start", "end", "probe", "lag"),
    [
        (7, 0, 10, None, Known(3)),
        (10, 0, 10, None, Known(0)),
        (5, 8, 10, None, Known(2)),
        (5, 10, 10, None, Known(0)),
        (None, 4, 4, None, Known(0)),
        (None, 0, 4, None, Unknown("nothing committed")),
        (None, 0, 4, Probe(4, is_end=True), Known(0)),
        (8, 0, 10, Probe(10, is_end=True), Known(0)),
        (8, 0, 10, Probe(9, is_end=False), Known(2)),
        (8, 0, 10, Probe(12, is_end=False), Known(0)),
        (11, 0, 10, None, Unknown("committed offset 11 is beyond the end 10")),
        (7, None, 10, None, Unknown("the partition's ends cannot be read")),
        (7, 0, None, Probe(7, is_end=True), Unknown("the partition's ends cannot be read")),
    ],
)
def test_lag_of_a_partition(
    committed: int | None, log_start: int | None, end: int | None, probe: Probe | None, lag: Lag
) -> None:
    """Lag counts the offsets left to read, is unknown if an offset is, and only a probe proves a residue read."""
    assert lag == partition_lag(committed, log_start, end, probe)


def test_caught_up_needs_samples_in_a_row() -> None:
    """A sample above the limit, or later than the freshness after the last one, restarts the count."""
    ok, behind = Known(0), Known(1)
    lags = [ok, ok, behind, ok, ok, ok]

    assert [False] * 5 + [True] == fed(a_state(), *(sample(n, lag, ok) for n, lag in enumerate(lags)))
    assert [False, False, True] == fed(a_state(samples=2), *(sample(at, ok) for at in (0, 61, 70)))


def test_limit_holds_for_every_partition_by_itself() -> None:
    """The limit is no sum: each partition may lag that much, and none more."""
    within, above = sample(0, Known(5), Known(5)), sample(1, Known(0), Known(6))

    assert [True, False] == fed(a_state(limit=5, samples=1), within, above)


@pytest.mark.parametrize("lags", [{}, {"shop-app": {}}, {"shop-app": {P0: Known(0), P1: Unknown("nothing committed")}}])
def test_unknown_never_counts_as_caught_up(lags: dict[str, dict[TopicPartition, Lag]]) -> None:
    """An unknown partition, a group that committed nothing and no group at all keep the gate closed."""
    state = a_state(samples=1)

    assert not state.take(LagSample(0, lags), 0)
    assert "Lag: unknown" in state.progress


def test_one_group_behind_keeps_all_waiting() -> None:
    """All groups must have caught up in the same samples."""
    state = a_state(samples=1)
    lags = {"shop-app": {P0: Known(0)}, "billing": {P0: Known(4), P1: Known(0)}}

    assert not state.take(LagSample(0, lags), 0)
    assert {"billing": {P0: Known(4)}} == state.behind
    assert "State: billing: orders[0] lag 4" in state.progress


def test_reading_that_took_too_long_counts_for_nothing() -> None:
    """A sample older than the freshness when it is judged resets the count."""
    state = a_state(samples=2)
    results = [state.take(sample(0, Known(0)), 1), state.take(sample(10, Known(0)), 71)]

    assert [False, False] == results
    assert "the sample is 61 s old" in state.progress
    assert [False, True] == fed(state, sample(80, Known(0)), sample(90, Known(0)))


def test_missed_sample_resets() -> None:
    """While the cluster does not answer, the lag is unknown, so the count restarts."""
    state = a_state(samples=2)
    fed(state, sample(0, Known(0)))
    state.miss("waiting, the source did not answer")

    assert "State: waiting, the source did not answer" in state.progress
    assert [False, True] == fed(state, sample(10, Known(0)), sample(20, Known(0)))


@pytest.mark.parametrize("bad", [{"limit_offsets": -1}, {"samples": 0}, {"freshness_s": 0}])
def test_rule_that_makes_no_sense_is_refused(bad: dict[str, int]) -> None:
    """A policy without samples, with a negative limit or without freshness cannot be made."""
    with pytest.raises(ValueError, match=next(iter(bad))):
        LagPolicy(**bad)


def test_text_names_some_partitions_and_counts_the_rest() -> None:
    """A group with lag in many partitions does not fill the log."""
    lags: dict[TopicPartition, Lag] = {TopicPartition("orders", n): Known(n + 1) for n in range(5)}

    assert "orders[0] lag 1, orders[1] lag 2 and 3 more" == behind_text(lags, named=2)
    assert "no committed offset" == behind_text({}, named=2)
