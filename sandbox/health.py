"""External health check of a sandbox's parts: dead parts, and parts that run but do not answer."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Mapping
from typing import Any

from sandbox.connect import answers
from sandbox.kafka import answers_metadata
from sandbox.processes import identify
from sandbox.state import SandboxState

TIMEOUT_S = 5


def dead_parts(state: SandboxState) -> list[str]:
    """Return the parts whose process has ended."""
    return [name for name, pid in state.pids.items() if identify(pid) is None]


def troubles(state: SandboxState) -> dict[str, str]:
    """Return {part: problem}; empty if all parts are healthy."""
    dead = dead_parts(state)
    silent = [name for name in _silent(state) if name not in dead]
    return {
        **{name: f"NOT RUNNING; its log: {state.logs / f'{name}.log'}" for name in dead},
        **{name: f"runs and DOES NOT ANSWER; its log: {state.logs / f'{name}.log'}" for name in silent},
    }


def health(airflow_url: str) -> Mapping[str, Any]:
    """Return {component: status on the health page}; empty if the page does not answer."""
    try:
        with urllib.request.urlopen(f"{airflow_url}/api/v2/monitor/health", timeout=TIMEOUT_S) as reply:
            found: dict[str, Any] = json.load(reply)
    except (OSError, ValueError):
        return {}
    return found


def _silent(state: SandboxState) -> list[str]:
    addresses = {"source": state.source_bootstrap, "target": state.target_bootstrap}
    clusters = [name for name, address in addresses.items() if not answers_metadata(address)]
    workers = [name for name, url in state.connect_urls.items() if not answers(url)]
    airflow = [] if state.airflow_url is None else _silent_airflow(state.airflow_url)
    return [*clusters, *workers, *airflow]


def _silent_airflow(url: str) -> list[str]:
    found = health(url)
    if not found:
        return ["api-server"]
    components = ("scheduler", "dag-processor", "triggerer")
    return [name for name in components if found[name.replace("-", "_")]["status"] != "healthy"]
