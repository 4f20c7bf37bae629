"""What Airflow sends to a StatsD server, and the series that statsd_exporter makes of it with the mapping.

Debian has no package of statsd_exporter. `mapped` follows its rules as far as the mapping uses them, and
`statsd_exporter.prom` has what the real program made of `every_metric`. After a change of the metrics, write that file
again, with the program from https://github.com/prometheus/statsd_exporter:

    python -m tests.monitoring.statsd /path/to/statsd_exporter
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import yaml
from airflow.sdk._shared.observability.metrics.statsd_logger import get_statsd_logger
from statsd import StatsClient

from kafka_migration.airflow_adapters import airflow_metrics
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.kafka.offsets import Known
from kafka_migration.core.migration.alert_settings import AlertKind
from kafka_migration.core.migration.settings import Mode, Phase
from kafka_migration.core.report.metrics import Metric, MetricsOf
from kafka_migration.core.watching.progress import ProgressMeter
from tests.waiting import wait_until

FILES = Path(__file__).parents[2] / "plugins" / "kafka_migration" / "monitoring"
MAPPING = FILES / "statsd-mapping.yaml"
RECORDED = Path(__file__).with_name("statsd_exporter.prom")
HOST = "127.0.0.1"
OUTCOMES = ("failed", "success", "partly done", "not in window", *sorted({code.late for code in Code if code.late}))


def every_metric() -> Iterator[Metric]:
    """Yield each metric of the package at least once, with each value of its tag."""
    of, now = MetricsOf("shop-1"), datetime(2030, 1, 1, 0, 0, 0, 500_000, UTC)
    meter = ProgressMeter(1000)
    for second in range(3):
        meter.add(second, 100 * second)
    yield from of.freed(Phase.CUT_OVER)
    yield from of.began(Mode.CUTOVER, now)
    yield from of.polled(Known(800), meter, now, now)
    yield of.waits(AlertKind.APPROVAL, now)
    yield from of.next_start(now, now)
    for verdict in Verdict:
        yield from of.judged(verdict, now)
    for kind in AlertKind:
        yield of.alerted(kind)
    for outcome in OUTCOMES:
        yield from of.ended(outcome, now)


class _Collecting(StatsClient):  # type: ignore[misc]
    """Airflow's StatsD client, which keeps what it would send."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        self.lines: list[str] = []

    def _send(self, data: str) -> None:
        self.lines += data.splitlines()


def lines_of(metrics: Iterable[Metric]) -> list[str]:
    """Return what a StatsD server receives of these metrics from an Airflow with the default settings."""
    logger = get_statsd_logger(stats_class=_Collecting, host=HOST, port=8125, prefix="airflow", ipv6=False)
    with patch.object(airflow_metrics, "stats", logger):
        airflow_metrics.emit(*metrics)
    lines: list[str] = logger.statsd.lines
    logger.statsd.close()
    return lines


class Series(NamedTuple):
    """A time series of Prometheus: its name and its labels, in order."""

    name: str
    labels: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        labels = ",".join(f'{name}="{value}"' for name, value in self.labels)
        return f"{self.name}{{{labels}}}"


def mapped(lines: Iterable[str], before: Mapping[Series, float] | None = None) -> dict[Series, float]:
    """Return the values of all series after these lines; `before` has the earlier values."""
    values = dict(before or {})
    for line in lines:
        found = re.fullmatch(r"([\w.-]+):([0-9.]+)\|([gc])", line)
        assert found, line
        series = _series_of(found[1])
        if series is not None:
            values[series] = float(found[2]) + (values.get(series, 0) if found[3] == "c" else 0)
    return values


@cache
def _series_of(name: str) -> Series | None:
    """Return the series of a name; `None`: the name is dropped. A name that no rule maps is a mistake."""
    for rule, pattern in _rules():
        if found := pattern.fullmatch(name):
            if rule.get("action") == "drop":
                return None
            labels = {label: _filled(text, found) for label, text in rule["labels"].items()}
            return Series(_filled(rule["name"], found), tuple(sorted(labels.items())))
    raise AssertionError(f"no rule maps {name}")


@cache
def _rules() -> tuple[tuple[dict[str, Any], re.Pattern[str]], ...]:
    """Return the rules in the order in which statsd_exporter tries them: globs come before regular expressions."""
    rules = sorted(yaml.safe_load(MAPPING.read_text())["mappings"], key=lambda rule: "match_type" in rule)
    return tuple((rule, re.compile(_pattern(rule))) for rule in rules)


def _pattern(rule: Mapping[str, str]) -> str:
    return rule["match"] if "match_type" in rule else re.escape(rule["match"]).replace(r"\*", "([^.]*)")


def _filled(template: str, found: re.Match[str]) -> str:
    return re.sub(r"\$(\d)", lambda number: str(found[int(number[1])]), template)


def parsed(text: str) -> dict[Series, float]:
    """Return the series of the package in what Prometheus reads from an exporter."""
    found = re.findall(r"^(airflow_\w+)(?:\{(.*)\})? (\S+)$", text, re.MULTILINE)
    return {
        Series(name, tuple(sorted(re.findall(r'(\w+)="(.*?)"', labels)))): float(value) for name, labels, value in found
    }


def scraped(program: str, lines: Iterable[str]) -> str:
    """Return the package's part of what a real statsd_exporter serves after it has received these lines."""
    udp, tcp = _free_port(socket.SOCK_DGRAM), _free_port(socket.SOCK_STREAM)
    listening = (f"--statsd.listen-udp={HOST}:{udp}", "--statsd.listen-tcp=", f"--web.listen-address={HOST}:{tcp}")
    with tempfile.TemporaryFile() as log:
        exporter = subprocess.Popen([program, *listening, f"--statsd.mapping-config={MAPPING}"], stderr=log)
        try:
            address = f"http://{HOST}:{tcp}/metrics"
            wait_until(lambda: _read(address) is not None, 60, "an answer of statsd_exporter")
            sent = list(lines)
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                for line in sent:
                    sender.sendto(line.encode(), (HOST, udp))
            counted = f"statsd_exporter_lines_total {len(sent)}"
            wait_until(lambda: counted in (_read(address) or ""), 60, "all lines at statsd_exporter")
            return "".join(f"{line}\n" for line in (_read(address) or "").splitlines() if line.startswith("airflow_"))
        finally:
            exporter.terminate()
            exporter.wait(60)


def _read(address: str) -> str | None:
    try:
        with urllib.request.urlopen(address, timeout=10) as answer:
            return str(answer.read().decode())
    except OSError:
        return None


def _free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    RECORDED.write_text(scraped(sys.argv[1], lines_of(every_metric())))
