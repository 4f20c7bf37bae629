"""Parties are asked at the same time; only the task's own thread asks Airflow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from threading import Thread, current_thread

import pytest
from airflow.sdk import Connection
from airflow.sdk.bases.hook import BaseHook

from kafka_migration.airflow_adapters.airflow_connections import connection_config
from kafka_migration.airflow_adapters.checked_airflow import AirflowConnections
from kafka_migration.core.migration.settings import Migration
from kafka_migration.preflight.checks import CHECKS
from kafka_migration.preflight.scene.check import run_checks
from tests.checked_scene import Airflow, Deployed, Run, alone, scene_of

KAFKA = {"conn_type": "kafka", "extra": {"bootstrap.servers": "b1:9092"}}
CONNECTIONS: Mapping[str, object] = {
    "OLD_KAFKA": KAFKA,
    "NEW_KAFKA": KAFKA,
    "SPARK": {"conn_type": "spark", "host": "local[2]"},
}
# Each of these parties reads connections that no other one has read: their checks of files are left out.
ASKING = {"certificates", "rights", "evidence", "spark client", "mirror", "quotas", "host brokers"}


def test_connections_are_read_in_the_tasks_thread(migration: Migration, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many parties are asked, each connection is read by the thread that began."""
    readers: list[Thread] = []
    read = BaseHook.get_connection

    def recorded(_: type[BaseHook], conn_id: str) -> Connection:
        readers.append(current_thread())
        return read(conn_id)

    monkeypatch.setattr(BaseHook, "get_connection", classmethod(recorded))
    for name, connection in CONNECTIONS.items():
        monkeypatch.setenv(f"AIRFLOW_CONN_{name}", json.dumps(connection))
    ours = AirflowConnections()
    run = Run(
        migration, deployment=Deployed(client_settings=lambda side: connection_config(side.connection, side.insecure))
    )
    checks = [alone(check) for check in CHECKS if check.name in ASKING]
    results = run_checks(checks, scene_of(run, Airflow(connections=ours, spark=ours)))

    assert [] == [str(finding) for result in results for finding in result.findings]
    assert {current_thread()} == set(readers)
    assert len(readers) >= len(CONNECTIONS)
