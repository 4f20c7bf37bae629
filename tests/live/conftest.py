"""One pair of clusters, one sandbox with Airflow, and small migrations of their own for the tests of whole runs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import pytest

from sandbox.airflow import AirflowFolders
from sandbox.airflow_api import AirflowApi
from sandbox.sandbox import Sandbox
from sandbox.security.listeners import WAYS
from tests.live.connect_scenarios import connect_scenario
from tests.live.connect_world import ConnectWorld, connect_world
from tests.live.faults import Faults
from tests.live.listening import Mailbox, StatsD, mail_server
from tests.live.listening import statsd as receive_metrics
from tests.live.migrations import LiveMigration
from tests.live.reliability_table import SCENARIOS
from tests.live.scenarios import Scenario, host_scenario
from tests.live.stage import Stage, set_the_stage
from tests.live.warm_spark import warm_driver

# How soon Airflow gives up on a task or a scheduler that went silent; five minutes each, unless told otherwise.
SILENCE = {
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "60",
    "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "5",
    "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "20",
}
# Tests ask for the parsing of a file that they wrote; doing it again and again would keep a core busy.
PARSING = {"AIRFLOW__DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "30"}
# A Java program in each preflight would keep a core busy; tests/live/test_host_probe.py runs it.
PARSING |= {"AIRFLOW__KAFKA_MIGRATION__HOST_TOOLS": "False"}
ROOT = Path(__file__).parents[2]
# What a user may have that is to be called in a cutover.
USERS_DAG = """\
from airflow.sdk import DAG, task

with DAG("of_a_user", schedule=None):

    @task
    def work(**context):
        print(context["dag_run"].conf)

    work()
"""


@dataclass(frozen=True, slots=True)
class LiveWorld:
    """A running sandbox, its Airflow, and the folder of its migration files."""

    sandbox: Sandbox
    api: AirflowApi
    migrations: Path

    def migration(self, name: str, **settings: str) -> LiveMigration:
        """Return a migration of one topic that bears its name; its file is written and its DAG known."""
        made = LiveMigration(self.sandbox, self.api, self.migrations / f"{name}.yaml", settings)
        made.prepare()
        return made


@pytest.fixture(autouse=True)
def _masks() -> Iterator[None]:
    """Forget the secrets of a test, because Airflow compiles the pattern of all secrets again for each new one."""
    yield
    if masking := sys.modules.get("airflow.sdk._shared.secrets_masker"):
        masking._secrets_masker().reset_masker()


@pytest.fixture(scope="session")
def migrations_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of migration files that tests may write to."""
    folder = tmp_path_factory.mktemp("migrations")
    (folder / "demo.yaml").write_text((ROOT / "include" / "migrations" / "demo.yaml").read_text())
    return folder


@pytest.fixture(scope="session")
def dags_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout's own DAGs, and one of a user."""
    folder = tmp_path_factory.mktemp("dags")
    shutil.copytree(ROOT / "dags", folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "of_a_user.py").write_text(USERS_DAG)
    return folder


@pytest.fixture(scope="session")
def mailbox() -> Iterator[Mailbox]:
    """The mails of whoever is on call."""
    with mail_server() as running:
        yield running


@pytest.fixture(scope="session")
def statsd() -> Iterator[StatsD]:
    """The metrics that Airflow sends."""
    with receive_metrics() as running:
        yield running


@pytest.fixture(scope="session")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Both clusters and the MirrorMaker host, without Airflow: one pair for all tests that need no whole run."""
    with Sandbox(tmp_path_factory.mktemp("brokers"), airflow=False) as running:
        yield running


@pytest.fixture(scope="session")
def spark_submit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment with the `spark-submit` of whole runs: with WARM_SPARK=1 one driver that stays."""
    if os.environ.get("WARM_SPARK") != "1":
        yield {}
        return
    with warm_driver(tmp_path_factory.mktemp("spark")) as environment:
        yield environment


@pytest.fixture(scope="session")
def sandbox(
    tmp_path_factory: pytest.TempPathFactory,
    migrations_folder: Path,
    dags_folder: Path,
    mailbox: Mailbox,
    statsd: StatsD,
    spark_submit: dict[str, str],
) -> Iterator[Sandbox]:
    """Both clusters, the MirrorMaker host and Airflow on the checkout's own plugins."""
    folders = AirflowFolders(dags=dags_folder, migrations=migrations_folder)
    environment = {**SILENCE, **PARSING, **mailbox.environment, **statsd.environment, **spark_submit}
    root = tmp_path_factory.mktemp("sandbox")
    with Sandbox(root, folders=folders, extra_environment=environment, secured=True) as running:
        yield running


@pytest.fixture(scope="session")
def live(sandbox: Sandbox, migrations_folder: Path) -> Iterator[LiveWorld]:
    """Everything that a test of a whole run needs."""
    with AirflowApi.of(sandbox.state) as api:
        yield LiveWorld(sandbox, api, migrations_folder)


@pytest.fixture(scope="session")
def secured_connections(live: LiveWorld) -> None:
    """Connections `source_<way>` and `target_<way>` for each way to log in, whose users have no rights yet."""
    for side, security in live.sandbox.security.items():
        for way in WAYS:
            live.api.add_connection(f"{side}_{way}", "kafka", security.connection(way))


@pytest.fixture(scope="module")
def workers(live: LiveWorld, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectWorld]:
    """Two workers of Kafka Connect for all tests of a file."""
    with connect_world(live, tmp_path_factory.mktemp("connect")) as running:
        yield running


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Try each row of the campaign's table on a host, and on Kafka Connect if it can happen there."""
    row = SCENARIOS.get(metafunc.definition.originalname)
    if row and not row.not_on_connect:
        metafunc.parametrize("scenario", ["host", "connect"], indirect=True)


@pytest.fixture
def scenario(live: LiveWorld, request: pytest.FixtureRequest) -> Iterator[Scenario]:
    """A scenario of a migration of its own, which bears the test's name."""
    test = request.node.originalname
    marker = request.node.get_closest_marker("settings")
    settings = marker.kwargs if marker else {}
    if getattr(request, "param", "host") == "connect":
        with connect_scenario(test, request.getfixturevalue("workers"), **settings) as on_connect:
            yield on_connect
        return
    migration = live.migration(test.removeprefix("test_").replace("_", "-")[:40].rstrip("-"), **settings)
    with host_scenario(test, migration, live.api, Faults(live.sandbox, migration)) as on_host:
        yield on_host


@pytest.fixture
def new_stage(brokers: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Stage]]:
    """Make migrations of topics that bear names of their own; nothing of them runs on after the test."""
    set_the_stage(brokers, tmp_path, monkeypatch)
    made: list[Stage] = []

    def make(*suffixes: str, engine: str = "mirrormaker2", mirror: str = "") -> Stage:
        name = f"proof-{uuid4().hex[:8]}"
        topics = [f"{name}-{suffix}" for suffix in suffixes or ("a",)]
        made.append(Stage(brokers, name, tmp_path, topics, engine, mirror))
        return made[-1]

    yield make
    for stage in made:
        stage.end()
