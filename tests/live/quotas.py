"""Client quotas on a real cluster, read and changed with Kafka's own tool."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sandbox.environment import java
from sandbox.jars import kafka_home


@contextmanager
def slow_reads(config: Mapping[str, str], bytes_per_s: int) -> Iterator[None]:
    """Limit each client of the cluster to so many bytes per second; `config` has the settings of a client."""
    setting = "consumer_byte_rate"
    _alter(config["bootstrap.servers"], "--add-config", f"{setting}={bytes_per_s}")
    try:
        yield
    finally:
        _alter(config["bootstrap.servers"], "--delete-config", setting)


def config_command(bootstrap: str, *words: str) -> str:
    """Run Kafka's tool for quotas on a cluster and return its output."""
    tool = [java(os.environ), "-cp", f"{kafka_home() / 'libs'}/*", "kafka.admin.ConfigCommand"]
    command = [*tool, "--bootstrap-server", bootstrap, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def _alter(bootstrap: str, *change: str) -> None:
    config_command(bootstrap, "--alter", "--entity-type", "clients", "--entity-default", *change)
