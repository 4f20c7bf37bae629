"""The page that leads a newcomer to the first migration: its commands, run as they stand there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sandbox.jars import kafka_home
from tests.deploy.conftest import Clusters
from tests.deploy.standalone import admins, standalone, url_of
from tests.deploy.stock import StockAirflow, build_wheel
from tests.documents import blocks, commands
from tests.live.groups import commit

pytestmark = [pytest.mark.live, pytest.mark.campaign]

PAGE = (Path(__file__).parents[2] / "docs" / "start" / "first-migration.md").read_text()
TOPIC = "first-orders"


@pytest.fixture
def airflow(stock: StockAirflow, clusters: Clusters, tmp_path: Path) -> Iterator[StockAirflow]:
    """A running Airflow without anything of ours but Spark's jars, which a closed network needs."""
    kept = "AIRFLOW__KAFKA_MIGRATION__SPARK_JARS"
    settings = {kept: clusters.connections()[kept], **admins(tmp_path, {"ada": "ada-password"})}
    with standalone(stock, tmp_path, settings) as running:
        yield running


def addressed(text: str, airflow: StockAirflow, clusters: Clusters, wheel: Path) -> str:
    """Return a command or a file with the newcomer's addresses and paths in place of the page's."""
    state = clusters.sandbox.state
    ssh = json.loads(clusters.connections()["AIRFLOW_CONN_DEMO_MIRROR_HOST"])
    for shown, mine in (
        ("old1.example:9092", state.source_bootstrap),
        ("new1.example:9092", state.target_bootstrap),
        ("mirror.example", ssh["host"]),
        ('"port": 22', f'"port": {ssh["port"]}'),
        ('"login": "mirror"', f'"login": "{ssh["login"]}"'),
        ("/home/airflow/.ssh/id_ed25519", ssh["extra"]["key_file"]),
        ("ssh-ed25519 AAAA", ssh["extra"]["host_key"]),
        ("/opt/kafka", str(kafka_home())),
        ("http://localhost:8080", url_of(airflow)),
        ("--topic payments", f"--topic {TOPIC}"),
        ("kafka_migration_airflow-0.1.0-py3-none-any.whl", str(wheel)),
    ):
        text = text.replace(shown, mine)
    return text


def test_its_commands_lead_to_a_verdict(airflow: StockAirflow, clusters: Clusters, tmp_path: Path) -> None:
    """A newcomer who does what the page says has a first migration file, and a proved copy."""
    clusters.fill(TOPIC, partitions=1, records=500)
    commit(clusters.source, "first-billing", TOPIC, {0: 100})
    wheel = build_wheel(tmp_path / "wheel")
    *steps, verdict = [addressed(command, airflow, clusters, wheel) for command in commands(PAGE, "sh")]
    (connections,) = blocks(PAGE, "json")
    (airflow.home / "connections.json").write_text(addressed(connections, airflow, clusters, wheel))

    for step in steps:
        if step.startswith("export "):
            name, _, value = step.removeprefix("export ").partition("=")
            airflow.environment[name] = value
        else:
            airflow.shell(step)

    assert {"preflight", "plan", "trigger"} <= {step.split()[1] for step in steps if step.startswith("kafka-migration")}
    assert "PASS" in airflow.shell(verdict, expected=None)
    (run,) = airflow.airflow_json("dags", "list-runs", "kafka_migration__shop-01")
    assert "success" == run["state"]
