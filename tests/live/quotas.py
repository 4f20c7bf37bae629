"""Client quotas on a real cluster, set by Kafka's own tool."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from sandbox.environment import java
from sandbox.jars import kafka_home


@contextmanager
def slow_reads(config: Mapping[str, str], bytes_per_s: int) -> Iterator[None]:
    """Let every client read the cluster of a client's settings at so many bytes a second only."""
    setting = "consumer_byte_rate"
    _alter(config, "--add-config", f"{setting}={bytes_per_s}")
    try:
        yield
    finally:
        _alter(config, "--delete-config", setting)


def _alter(config: Mapping[str, str], *change: str) -> None:
    tool = [java({}), "-cp", f"{kafka_home() / 'libs'}/*", "kafka.admin.ConfigCommand"]
    where = ["--bootstrap-server", config["bootstrap.servers"], "--entity-type", "clients", "--entity-default"]
    subprocess.run([*tool, *where, "--alter", *change], capture_output=True, check=True)
