"""Debian's promtool, and scenes for it: what Prometheus has stored of the metrics that runs have sent."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kafka_migration.core.report.metrics import Metric, MetricsOf
from tests.monitoring.statsd import FILES, Series, lines_of, mapped
from tests.programs import installed

RULES = FILES / "prometheus-rules.yaml"
# Coarser than in life, because promtool judges all rules at each step.
STEP_S = 1800
HOUR_S = 3600


def at(hours: float) -> datetime:
    """Return a moment of a scene; promtool's time begins with the epoch."""
    return datetime.fromtimestamp(hours * HOUR_S, UTC)


def promtool(*arguments: str | Path) -> str:
    """Return what promtool says; it must succeed."""
    done = subprocess.run([installed("promtool"), *arguments], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Restart:
    """The exporter is restarted: it has no values until they are sent again."""


@dataclass
class Story:
    """What happens to one migration, in order of time; `of` makes its metrics."""

    name: str = "shop"

    def __post_init__(self) -> None:
        self.of = MetricsOf(self.name)
        self.events: list[tuple[float, Sequence[Metric] | type[Restart]]] = []

    def then(self, hours: float, *metrics: Metric) -> Story:
        """Let these metrics be sent at a moment; without any, the exporter is restarted."""
        self.events.append((hours, metrics or Restart))
        return self


def input_series(stories: Iterable[Story], until_h: float) -> list[dict[str, str]]:
    """Return the series that Prometheus has at the end of the stories, in promtool's form."""
    texts: dict[Series, list[str]] = {}
    steps = round(until_h * HOUR_S / STEP_S) + 1
    for story in stories:
        known: dict[Series, float] = {}
        left = list(story.events)
        for step in range(steps):
            while left and left[0][0] * HOUR_S <= step * STEP_S:
                _, sent = left.pop(0)
                known = {} if isinstance(sent, type) else mapped(lines_of(sent), known)
            for series, value in known.items():
                texts.setdefault(series, ["_"] * step).append(f"{value:.3f}")
            for series in texts.keys() - known.keys():
                if f'migration="{story.name}"' in str(series):
                    texts[series].append("_")
    return [{"series": str(series), "values": " ".join(values)} for series, values in texts.items()]


def unit_tests(folder: Path, tests: Sequence[Mapping[str, Any]], rules: Path = RULES) -> None:
    """Let promtool run unit tests of rules; raises `AssertionError` with what it says of those that fail."""
    file = folder / "tests.yaml"
    # JSON is YAML.
    document = {"rule_files": [str(rules)], "evaluation_interval": f"{STEP_S}s", "tests": list(tests)}
    file.write_text(json.dumps(document))
    promtool("test", "rules", file)
