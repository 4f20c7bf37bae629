"""The linter stands alone: it needs neither Airflow, nor a Kafka client, nor the migration file's library.

It starts quickly, so properties are judged without the readers of other files.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.unit

PLUGINS = Path(__file__).parents[2] / "plugins"
PACKAGE = "kafka_migration.mirrormaker_files"
NEEDLESS = ("airflow", "confluent_kafka", "pydantic", "yaml", f"{PACKAGE}.manifests", f"{PACKAGE}.scripts")
PROGRAM = f"""
import sys
for name in {NEEDLESS}:
    sys.modules[name] = None  # so that an import of it fails
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint
files = read_mirror_files("mm2.properties", sys.stdin.read())
for each in lint(list(files), kafka_keys()):
    print(each.code, each.line)
print(sorted({{".".join(name.split(".")[:3]) for name in sys.modules if name.startswith("kafka_migration.core.")}}))
"""
FILE = "clusters = a, b\na.bootstrap.servers = a:1\nb.bootstrap.servers = b:1\na->b.enabled = true\na->b.topcs = x\n"


def test_properties_need_no_airflow_no_kafka_no_pydantic_and_no_yaml() -> None:
    """A file is judged where these packages cannot be imported, and of `core` only what findings are made of loads."""
    environment = {**os.environ, "PYTHONPATH": str(PLUGINS)}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, input=FILE, env=environment, capture_output=True, text=True, check=False)

    assert ("", 0) == (done.stderr, done.returncode)
    *findings, loaded = done.stdout.splitlines()
    assert "KEY_MISSPELLED 5" in findings
    assert str([f"kafka_migration.core.{room}" for room in ("documents", "findings", "text")]) == loaded
