"""Health checks of the services that have Python: `health.py airflow COMPONENT`, `health.py spark-master|spark-worker`.

Exit code 0 healthy, 1 not. Standard library only, because it starts every few seconds.
"""

from __future__ import annotations

import json
import sys
import urllib.request
from typing import Any

ANSWER_S = 5
API_SERVER = "http://api-server:8080/api/v2/monitor/health"


def airflow(component: str) -> bool:
    """True if Airflow's health page, which judges by heartbeats, calls the component healthy."""
    return bool(_page(API_SERVER)[component]["status"] == "healthy")


def spark_master() -> bool:
    """True if the master leads: it takes workers and applications."""
    return bool(_page("http://localhost:8080/json/")["status"] == "ALIVE")


def spark_worker() -> bool:
    """True if the master counts this worker among the living; its own page answers also when the master dropped it."""
    own = _page("http://localhost:8081/json/")["id"]
    workers = _page("http://spark-master:8080/json/")["workers"]
    return any((worker["id"], worker["state"]) == (own, "ALIVE") for worker in workers)


def _page(address: str) -> dict[str, Any]:
    with urllib.request.urlopen(address, timeout=ANSWER_S) as answer:
        document: dict[str, Any] = json.load(answer)
        return document


def main(arguments: list[str]) -> int:
    """Ask, and return the exit code; what was found is printed for `docker inspect`."""
    checks = {"spark-master": spark_master, "spark-worker": spark_worker}
    try:
        is_healthy = airflow(arguments[1]) if arguments[0] == "airflow" else checks[arguments[0]]()
    except (OSError, ValueError, KeyError) as error:
        print(f"{type(error).__name__}: {error}")
        return 1
    return 0 if is_healthy else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
