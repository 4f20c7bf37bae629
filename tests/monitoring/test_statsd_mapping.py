"""The StatsD mapping: every metric becomes a series with the labels that dashboard and rules use."""

from __future__ import annotations

from kafka_migration.core.report.metrics import MetricName
from tests.monitoring.statsd import RECORDED, every_metric, lines_of, mapped, parsed


def test_mapping_gives_what_the_real_exporter_gave() -> None:
    """The series of each metric are those that statsd_exporter made of the same lines."""
    assert parsed(RECORDED.read_text()) == mapped(lines_of(every_metric()))


def test_every_metric_has_a_series_with_its_tags() -> None:
    """A series is called after its metric, ends with `_total` if it counts, and has the tags as labels."""
    expected = {
        (
            f"airflow_kafka_migration_{name}" + "_total" * (name.kind == "counter"),
            frozenset({name.tag, "migration"} - {""}),
        )
        for name in MetricName
    }
    found = {(series.name, frozenset(dict(series.labels))) for series in mapped(lines_of(every_metric()))}

    assert expected == found


def test_every_series_names_its_migration() -> None:
    """Names that Airflow sends without a migration become no series, or the values of all migrations would be mixed."""
    lines = lines_of(every_metric())

    assert any(line.startswith("airflow.kafka_migration.lag:") for line in lines)
    assert {"shop-1"} == {dict(series.labels)["migration"] for series in mapped(lines)}
