"""Clusters without an Airflow, and the clean environment into which the project is put."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from sandbox.sandbox import Sandbox
from tests.deploy.stock import StockAirflow, build_wheel, copy_folders, make_environment
from tests.documents import blocks
from tests.live.migrations import file_text

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Clusters:
    """Two real clusters and a MirrorMaker host."""

    sandbox: Sandbox

    def connections(self) -> dict[str, str]:
        """Return the connections and Spark's jars, the one setting that a closed network needs."""
        kept = ("AIRFLOW_CONN_", "AIRFLOW__KAFKA_MIGRATION__SPARK_JARS")
        return {name: value for name, value in self.sandbox.airflow_env().items() if name.startswith(kept)}

    def migrate(self, airflow: StockAirflow, name: str, *cli: str) -> None:
        """Copy a new topic with one run, as `airflow dags test` does it, and ask the command line what is proved.

        `cli` are the words that call the command line.
        """
        self.fill(name, partitions=2, records=1_000)
        text = file_text(name, {})
        (airflow.home / "include" / "migrations" / f"{name}.yaml").write_text(text)

        airflow.airflow("dags", "test", f"kafka_migration__{name}", "--conf", '{"mode": "sync"}')

        verdict = json.loads(airflow.command(*cli, "verdict", name, "-o", "json"))
        assert ("PASS", [name]) == (verdict["standing"], list(verdict["topics"]))

    @property
    def source(self) -> dict[str, str]:
        """The settings of a client of the source."""
        return {"bootstrap.servers": self.sandbox.state.source_bootstrap}

    def fill(self, topic: str, *, partitions: int, records: int) -> None:
        """Create a topic on the source, and send records to it."""
        admin = AdminClient(self.source)
        for future in admin.create_topics([NewTopic(topic, partitions, 1)]).values():
            future.result(30)
        producer = Producer(self.source)
        for number in range(records):
            producer.produce(topic, key=f"k{number % 20}", value=f"value {number}")
        assert 0 == producer.flush(60)


@pytest.fixture(scope="session")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    """Both clusters and the MirrorMaker host, without an Airflow."""
    with Sandbox(tmp_path_factory.mktemp("sandbox"), airflow=False) as running:
        yield Clusters(running)


@pytest.fixture(scope="module")
def stock(tmp_path_factory: pytest.TempPathFactory) -> StockAirflow:
    """A clean environment with the dependencies; a module may install the package, so each has its own."""
    return make_environment(tmp_path_factory.mktemp("clean") / "venv")


@pytest.fixture(scope="module")
def copied(stock: StockAirflow, clusters: Clusters, tmp_path_factory: pytest.TempPathFactory) -> StockAirflow:
    """Its Airflow with the four folders in its home; nothing is installed and nothing is set."""
    home = tmp_path_factory.mktemp("copied")
    copy_folders(home)
    return stock.with_home(home, **clusters.connections())


@pytest.fixture(scope="module")
def installed(clusters: Clusters, tmp_path_factory: pytest.TempPathFactory) -> StockAirflow:
    """An environment of its own with the wheel, with the DAG file of the installation page."""
    stock = make_environment(tmp_path_factory.mktemp("with-wheel") / "venv")
    stock.install(str(build_wheel(tmp_path_factory.mktemp("wheel"))))
    home = tmp_path_factory.mktemp("installed")
    for folder in (home / "dags", home / "include" / "migrations"):
        folder.mkdir(parents=True)
    made = stock.with_home(home, **clusters.connections())
    page = (ROOT / "docs" / "installation.md").read_text()
    (dag_file,) = blocks(page, "python")
    (home / "dags" / "migrations.py").write_text(dag_file)
    return made
