"""A stock Airflow that runs with all its parts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from sandbox.parts import free_ports
from tests.deploy.stock import StockAirflow
from tests.live.faults import descendants
from tests.waiting import wait_until


@contextmanager
def standalone(stock: StockAirflow, folder: Path, environment: Mapping[str, str]) -> Iterator[StockAirflow]:
    """Run `airflow standalone` with a fresh home until the end of the block; everything below it ends with it."""
    (port,) = free_ports(1)
    url = f"http://localhost:{port}"
    airflow = stock.with_home(
        folder / "home",
        AIRFLOW__API__PORT=str(port),
        AIRFLOW__API__BASE_URL=url,
        AIRFLOW__CORE__EXECUTION_API_SERVER_URL=f"{url}/execution/",
        AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL="5",
        **environment,
    )
    log = folder / "airflow.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [str(airflow.venv / "bin" / "airflow"), "standalone"],
            env=airflow.environ(),
            cwd=airflow.home,
            stdout=output,
            stderr=output,
        )
    try:
        wait_until(lambda: "Airflow is ready" in log.read_text(), 300, "Airflow to be ready")
        yield airflow
    finally:
        # The parent alone does not end what it started.
        for pid in (process.pid, *descendants(process.pid)):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait(30)


def admins(folder: Path, passwords: Mapping[str, str]) -> dict[str, str]:
    """Write a file with the passwords of these administrators; return the settings that name them."""
    file = folder / "passwords.json"
    file.write_text(json.dumps(dict(passwords)))
    return {
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{user}:admin" for user in passwords),
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(file),
    }


def url_of(airflow: StockAirflow) -> str:
    """Return the address of its UI and API."""
    return airflow.environment["AIRFLOW__API__BASE_URL"]
