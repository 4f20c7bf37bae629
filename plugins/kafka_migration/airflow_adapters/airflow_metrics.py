"""Sends metrics through Airflow's metrics: StatsD, Datadog or OpenTelemetry, as configured in section `[metrics]`."""

from __future__ import annotations

import logging
from functools import cache

from airflow.sdk import conf
from airflow.sdk.observability import stats as stats_module
from airflow.sdk.observability.metrics import stats_utils

from kafka_migration.airflow_adapters.deployed_airflow import METRICS_ARE_FUNCTIONS
from kafka_migration.core.report.metrics import Metric, MetricKind

log = logging.getLogger(__name__)

# Before 3.3 the functions are those of a class.
stats = stats_module if METRICS_ARE_FUNCTIONS else stats_module.Stats


def emit(*metrics: Metric) -> None:
    """Send metrics, if metrics are enabled in Airflow. Never raises, because nothing depends on metrics."""
    try:
        has_names = bool(conf.getboolean("metrics", "legacy_names_on", fallback=True))
        for metric in metrics:
            _send(metric, with_names=has_names)
    except Exception:
        log.warning("Metrics were not sent.", exc_info=True)


def _send(metric: Metric, *, with_names: bool) -> None:
    is_gauge = metric.name.kind is MetricKind.GAUGE
    write = stats.gauge if is_gauge else stats.incr
    # A counter accepts only integers.
    value = metric.value if is_gauge else int(metric.value)
    if with_names:
        write(metric.name_with_tags, value)
    write(metric.name.full, value, tags=dict(metric.tags))


@cache
def begin_metrics() -> None:
    """Set up Airflow's metrics for DAG authors in a triggerer, which has only those of Airflow's core.

    In tasks Airflow does this itself. A second setup would make OpenTelemetry lose earlier measurements of the task.
    """
    if METRICS_ARE_FUNCTIONS:
        has_names = conf.getboolean("metrics", "legacy_names_on", fallback=True)
        stats.initialize(factory=stats_utils.get_stats_factory(), export_legacy_names=has_names)
    else:
        stats.initialize(factory=stats_utils.get_stats_factory(stats))
