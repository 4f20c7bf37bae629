"""Checks of the Kafka Connect cluster after a run: the migration's connector has stopped and shows no login."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sandbox.compose.checks import MIGRATION
from sandbox.compose.failure import ComposeTestFailed
from sandbox.compose.project import Project

CONNECTOR = f"kafka-migration.{MIGRATION}"
RESERVATION = f"kafka-migration-reservation.{MIGRATION}"
ADDRESS = "http://connect-1:8083/connectors?expand=info&expand=status"
_ASK = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1], timeout=30).read().decode())"


def require_stopped_connector(project: Project, login: str) -> None:
    """Require what `connector_flaws` says of all connectors of the cluster, asked from Airflow's scheduler."""
    answer = project.execute("scheduler", "python", "-c", _ASK, ADDRESS)
    flaws = connector_flaws(json.loads(answer), login)
    if flaws:
        raise ComposeTestFailed("the Connect cluster is not as expected: " + "; ".join(flaws))


def connector_flaws(connectors: Mapping[str, Mapping[str, Any]], login: str) -> list[str]:
    """Return what is wrong after a run. The connector must have stopped, its reservation be gone, and no login show."""
    shown = [
        f"the configuration of {name} has Kafka's login" for name, each in connectors.items() if login in str(each)
    ]
    reserved = [f"{RESERVATION} still exists"] if RESERVATION in connectors else []
    if CONNECTOR not in connectors:
        return [*shown, *reserved, f"{CONNECTOR} does not exist, so another engine has copied"]
    status = connectors[CONNECTOR]["status"]
    state, tasks = status["connector"]["state"], status["tasks"]
    running = [f"{CONNECTOR} is {state} with {len(tasks)} tasks"] if state != "STOPPED" or tasks else []
    return [*shown, *reserved, *running]
