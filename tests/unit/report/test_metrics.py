"""Rules of metrics: what is sent, under which name, and that an unknown lag is no number."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kafka_migration.airflow_adapters import airflow_metrics as adapter
from kafka_migration.core.kafka.offsets import Known, Unknown
from kafka_migration.core.report.metrics import Metric, MetricsOf
from kafka_migration.core.watching.progress import ProgressMeter

NOW = datetime(2030, 1, 1, tzinfo=UTC)


def values(metrics: object) -> dict[str, float]:
    return {metric.full_name: metric.value for metric in metrics}  # type: ignore[attr-defined]


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
    } == values(MetricsOf("shop").headroom(before, NOW))


def test_names_carry_the_tags_where_there_are_none() -> None:
    """Plain StatsD sees what is counted, and of which migration."""
    assert "kafka_migration.verdict.pass.shop" == MetricsOf("shop").count("verdict", "PASS").name_with_tags
    assert "kafka_migration.run.nothing_to_do.shop" == MetricsOf("shop").count("run", "nothing to do").name_with_tags


def test_metrics_that_cannot_be_sent_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing depends on a metric."""
    monkeypatch.setattr(adapter, "_send", lambda metric, with_names: 1 / 0)

    adapter.emit(Metric("lag", {}))
