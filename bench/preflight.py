"""The cost of a preflight whose host asks both clusters, against one start of a tool of Kafka that connects."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from unittest.mock import patch

from bench.measuring import interleaved, ratio
from bench.results import Row
from bench.sizes import Preflight as Size
from bench.topics import SYNC, clusters_and_files, create_topics, source_cluster, write_file
from sandbox.environment import java
from sandbox.jars import kafka_home

TOPICS = ("preflight-1", "preflight-2")
# The checks that the program on the host answers.
ASKED = ("host brokers", "cluster clocks", "target space", "quotas")
WITH_TOOLS = {"AIRFLOW__KAFKA_MIGRATION__HOST_TOOLS": "True"}


def rows(size: Size) -> Iterator[Row]:
    """Run preflights and the tool in turn; yield the figure."""
    with clusters_and_files() as folder, patch.dict(os.environ, WITH_TOOLS):
        create_topics(TOPICS)
        write_file(folder, "shop", TOPICS)
        address = source_cluster().facts().addresses[0]
        arms = {"preflight": partial(_preflight, folder), "tool": partial(_tool, address)}
        costs = interleaved(arms, size.runs)
    yield ratio(
        "preflight with the host's tools ÷ one start of a tool of Kafka that connects", costs, "preflight", "tool"
    )


def _preflight(folder: Path) -> None:
    from kafka_migration.cli.shell.airflow_access import shown_deployment, this_airflow
    from kafka_migration.steps.before.planned_run import preview
    from kafka_migration.steps.before.preflight_checks import checked

    with preview("shop", SYNC, shown_deployment(folder)) as run:
        results = {result.name: result for result in checked(run, this_airflow())}
    found = [finding for result in results.values() for finding in result.findings]
    assert not found, found
    assert not any(results[name].warnings for name in ASKED), results


def _tool(address: str) -> None:
    """Ask the source's brokers for their versions, as a preflight once did six times per cluster."""
    words = ("kafka.admin.BrokerApiVersionsCommand", "--bootstrap-server", address)
    command = (java(os.environ), "-cp", f"{kafka_home() / 'libs'}/*", *words)
    subprocess.run(command, capture_output=True, check=True, timeout=300)
