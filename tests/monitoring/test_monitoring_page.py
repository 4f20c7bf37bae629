"""The page on monitoring: its command, and that it names every alarm and every metric."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import yaml

from kafka_migration.core.report.metrics import MetricKind, MetricName
from tests.monitoring.promtool import RULES
from tests.monitoring.statsd import FILES

PAGE = (Path(__file__).parents[2] / "docs" / "operate" / "monitoring.md").read_text()


def test_command_copies_the_files(tmp_path: Path) -> None:
    """The command of the page copies all files that it names, from wherever Python finds the package."""
    (command,) = re.findall(r"```sh\n\s*(.*)\n", PAGE)
    environment = {**os.environ, "PYTHONPATH": str(FILES.parents[1])}

    subprocess.run(["bash", "-euc", command], cwd=tmp_path, env=environment, check=True, timeout=60)

    copied = {path.name for path in (tmp_path / "monitoring").iterdir()}
    assert {path.name for path in FILES.iterdir()} == copied
    assert set(re.findall(r"[\w-]+\.(?:json|yaml)", PAGE)) == copied


def test_page_lists_every_metric() -> None:
    """The table of the metrics has the rows of the code, in their order."""
    rows = [
        f"| `{name.full}`{' (counter)' * (name.kind is MetricKind.COUNTER)} | {f'`{name.tag}`' if name.tag else '–'} "
        f"| {name.meaning} |"
        for name in MetricName
    ]

    assert rows == [line for line in PAGE.splitlines() if line.startswith("| `kafka_migration.")]


def test_page_lists_every_alarm() -> None:
    """The table of the alarms names each alarm of the rules once, and no other."""
    rules = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
    named = re.findall(r"`(?:KafkaMigration|…)(\w+)`", PAGE.partition("## Alarms")[2].partition("\nThese alarms")[0])

    assert sorted(rule["alert"].removeprefix("KafkaMigration") for rule in rules) == sorted(named)
