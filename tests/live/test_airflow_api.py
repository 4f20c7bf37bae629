"""A real API server of Airflow keeps the contract of the command line."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.conftest import MIGRATION_TEXT
from tests.contract.airflow_api_contract import AirflowApiContract
from tests.contract.airflow_server import PASSWORD, USER
from tests.waiting import wait_until

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]


def environment(home: Path) -> dict[str, str]:
    """Return the environment of an Airflow with one user and one migration file."""
    (home / "migrations").mkdir()
    (home / "migrations" / "shop.yaml").write_text(MIGRATION_TEXT)
    (home / "passwords.json").write_text(json.dumps({USER: PASSWORD}))
    return os.environ | {
        "AIRFLOW_HOME": str(home),
        "PYTHONPATH": str(ROOT / "plugins"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "dags"),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow.db",
        "AIRFLOW__KAFKA_MIGRATION__MIGRATIONS_FOLDER": str(home / "migrations"),
    }


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An API server that has read the DAG file."""
    home = tmp_path_factory.mktemp("airflow")
    settings, airflow = environment(home), (sys.executable, "-m", "airflow")
    for words in (("db", "migrate"), ("dags", "reserialize")):
        subprocess.run((*airflow, *words), env=settings, check=True, capture_output=True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    begin = (*airflow, "api-server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1")
    with (
        (home / "api.log").open("w") as log,
        subprocess.Popen(begin, env=settings, stdout=log, stderr=log) as server,
    ):
        try:
            wait_until(lambda: is_up(f"http://127.0.0.1:{port}"))
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()


def is_up(url: str) -> bool:
    """Return whether the server answers."""
    try:
        return httpx.get(f"{url}/api/v2/version", trust_env=False).is_success
    except httpx.TransportError:
        return False


class TestRealAirflow(AirflowApiContract):
    """Airflow's own API server."""

    @pytest.fixture(autouse=True)
    def _serves(self, url: str) -> None:
        self.url = url
