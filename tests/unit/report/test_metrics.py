"""Rules of metrics: what is sent, under which name, and that an unknown lag is no number."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kafka_migration.airflow_adapters import airflow_metrics as adapter
from kafka_migration.core.kafka.offsets import Known, Unknown
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.report.metrics import ASKING, Metric, MetricName, MetricsOf
from kafka_migration.core.watching.progress import ProgressMeter

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def values(metrics: object) -> dict[str, float]:
    return {metric.name.full: metric.value for metric in metrics}  # type: ignore[attr-defined]


def test_known_lag_has_rate_and_time_left() -> None:
    """With enough samples all of it is sent."""
    meter = ProgressMeter(1000)
    for second in range(3):
        meter.add(second, 100 * second)

    assert {
        "kafka_migration.lag_unknown": 0,
        "kafka_migration.lag": 800,
        "kafka_migration.rate": 100,
        "kafka_migration.eta": 8,
    } == values(MetricsOf("shop").lag(Known(800), meter))


def test_unknown_lag_is_not_sent_as_a_number() -> None:
    """An unknown lag is sent as unknown, neither as zero nor as its last value."""
    assert {"kafka_migration.lag_unknown": 1} == values(MetricsOf("shop").lag(Unknown("no answer"), ProgressMeter(1)))


def test_headroom_is_never_negative() -> None:
    """StatsD reads a negative number as a decrease, so the headroom ends at zero; the moment is sent as well."""
    before = NOW - timedelta(hours=1)

    assert {
        "kafka_migration.gap_headroom": 0,
        "kafka_migration.next_start_before": before.timestamp(),
    } == values(MetricsOf("shop").next_start(before, NOW))


def test_no_limit_replaces_the_last_one() -> None:
    """If the source deletes nothing, the earlier limit does not hold any more; a headroom does not exist."""
    assert {"kafka_migration.next_start_before": 0} == values(MetricsOf("shop").next_start(None, NOW))


@pytest.mark.parametrize(
    ("phase", "ends_limit"), [(Phase.SYNCING, False), (Phase.CUTTING_OVER, False), (Phase.CUT_OVER, True)]
)
def test_limit_of_the_next_start_ends_when_all_topics_are_moved(phase: Phase, ends_limit: bool) -> None:
    """As long as a topic is mirrored, the next run has a limit."""
    sent = list(MetricsOf("shop").freed(phase))

    assert ends_limit == (MetricName.NEXT_START_BEFORE in {metric.name for metric in sent})
    assert {str(phase): 1} == {each.of: each.value for each in sent if each.name is MetricName.PHASE and each.value}


def test_unknown_phase_is_not_sent() -> None:
    """Without a ledger that can be read, the phase of the last run stays."""
    assert MetricName.PHASE not in {metric.name for metric in MetricsOf("shop").freed(None)}


def test_freed_ends_whatever_a_run_has_begun() -> None:
    """A run that was killed anywhere leaves no state behind, once its reservation is free."""
    metrics = MetricsOf("shop")
    begun = (*metrics.began(Mode.CUTOVER, NOW), metrics.watched(NOW), *(metrics.waits(each, NOW) for each in ASKING))
    ended = {metric.name_with_tags for metric in metrics.freed(None) if metric.value == 0}

    assert set() == {metric.name_with_tags for metric in begun} - ended


def test_one_run_is_active() -> None:
    """The mode of the run that begins has the moment, and every other mode has none."""
    sent = list(MetricsOf("shop").began(Mode.SYNC, NOW))

    assert {"sync": NOW.timestamp()} == {metric.of: metric.value for metric in sent if metric.value}
    assert list(Mode) == [metric.of for metric in sent]


def test_names_carry_the_tags_where_there_are_none() -> None:
    """Plain StatsD sees what is counted, and of which migration."""
    metrics = (*MetricsOf("shop").judged("PASS", NOW), *MetricsOf("shop").ended("not in window", NOW))

    assert [
        "kafka_migration.verdict.pass.shop",
        "kafka_migration.judged.pass.shop",
        "kafka_migration.run.not_in_window.shop",
        "kafka_migration.ended.not_in_window.shop",
    ] == [metric.name_with_tags for metric in metrics]


def test_metrics_that_cannot_be_sent_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing depends on a metric."""
    monkeypatch.setattr(adapter, "_send", lambda metric, with_names: 1 / 0)

    adapter.emit(Metric(MetricName.LAG, "shop"))
