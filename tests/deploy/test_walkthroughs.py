"""The walkthroughs of the documentation: all their commands, from an empty folder to a cutover.

Cluster managers are servers of the tests; Amazon MSK is a broker with the same login. Everything else is real.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from confluent_kafka.admin import AdminClient, NewTopic

from sandbox.airflow_api import AirflowApi
from sandbox.connect import ConnectWorker, running_workers, workers_of
from sandbox.jars import kafka_home
from sandbox.sandbox import Sandbox
from sandbox.security.listeners import Way
from tests.deploy.conftest import Clusters
from tests.deploy.standalone import admins, standalone, url_of
from tests.deploy.stock import StockAirflow, build_wheel
from tests.live.groups import commit, committed, decide, ends, wait_for_question
from tests.waiting import ASKING_AIRFLOW_S, wait_until
from tests.walkthroughs import PEM, PREPARATION, ExitCodes, Replaced, in_json, managers, replaced, steps

pytestmark = [pytest.mark.live, pytest.mark.campaign]

RECORDS = 300
RUN_S = 1_800
GROUP = "billing"
DAG = "kafka_migration__shop"
# One person triggers, another one approves.
PASSWORDS = {"ada": "ada-password", "grace": "grace-password"}
# Kafka's scripts, which the jars do not have.
TOOLS = {
    "kafka-acls.sh": "kafka.admin.AclCommand",
    "kafka-consumer-groups.sh": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
    "kafka-mirror-maker.sh": "kafka.tools.MirrorMaker",
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
}


@dataclass
class Walk:
    """A person who follows a page; `told` is what each command printed, which is also in `told.txt`."""

    airflow: StockAirflow
    clusters: Clusters
    table: Replaced
    told: list[tuple[str, str]] = field(default_factory=list)

    def follow(self, page: str, before: Mapping[str, Callable[[], None]] | None = None) -> None:
        """Do what a page says; `before` has what happens before the command that begins like this."""
        codes = ExitCodes(page)
        for step in [*steps(PREPARATION), *steps(page)]:
            if step.file:
                self.write(step.file, replaced(step.text, self.table))
                continue
            for beginning, act in (before or {}).items():
                if step.text.startswith(beginning):
                    act()
            self.do(step.text, codes.next_of(step.text))

    def write(self, name: str, text: str) -> None:
        """Write a file, a migration file with what one broker and a test's patience need."""
        if name.endswith(".yaml"):
            document = yaml.safe_load(text)
            document["target"]["replication_factor"] = 1
            document["watch"] = {"poll_interval": "2s"}
            document["cutover"]["fence_quiet"] = "3s"
            text = yaml.safe_dump(document)
        (self.airflow.home / name).write_text(text)

    def do(self, shown: str, expected: int) -> None:
        """Run a command."""
        command = replaced(shown, self.table)
        if command.startswith("export "):
            name, _, value = command.removeprefix("export ").partition("=")
            self.airflow.environment[name] = value.replace("$PATH", self.airflow.environ()["PATH"])
            return
        is_cutover = "trigger shop --mode cutover" in command
        run = self.approved if is_cutover else partial(self.airflow.shell, expected=expected)
        printed = run(f"{{ {command}; }} 2>&1")
        self.told.append((shown, printed))
        with (self.airflow.home / "told.txt").open("a") as file:
            file.write(f"$ {shown}\n{printed}\n")

    def approved(self, command: str) -> str:
        """Run the command of a cutover while another person approves it."""
        with AirflowApi(url_of(self.airflow), "grace", PASSWORDS["grace"]) as api, ThreadPoolExecutor(1) as pool:
            before = set(api.run_states(DAG))
            printed = pool.submit(self.airflow.shell, command)
            wait_until(lambda: set(api.run_states(DAG)) - before, 120, "the run", ASKING_AIRFLOW_S)
            (run_id,) = set(api.run_states(DAG)) - before
            watched = OneDag(api, DAG)
            waiting = "awaiting_input"
            wait_until(lambda: printed.done() or watched.task_state(run_id, "approve") == waiting, RUN_S, "the plan")
            if not printed.done():
                wait_for_question(watched, run_id)
                decide(api, watched, run_id, "Approve")
            return printed.result()

    def answer_to(self, command: str) -> str:
        """Return what the last command that begins like this printed."""
        return [printed for shown, printed in self.told if shown.startswith(command)][-1]


@dataclass
class OneDag:
    """The runs of a DAG."""

    api: AirflowApi
    dag_id: str

    def task_state(self, run_id: str, task_id: str) -> str | None:
        """Return the state of a task of a run; `None` before it is scheduled."""
        task = self.api.run(self.dag_id, run_id).task(task_id)
        return task.state if task else None


@pytest.fixture(scope="module")
def tools(stock: StockAirflow) -> Path:
    """The folder of the environment's commands, with scripts in place of Kafka's own."""
    folder = stock.venv / "bin"
    for name, main_class in TOOLS.items():
        script = f"#!/bin/sh\nexec java -cp '{kafka_home()}/libs/*' {main_class} \"$@\"\n"
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    return folder


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the package."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@contextmanager
def walk(stock: StockAirflow, wheel: Path, folder: Path, **settings: Any) -> Iterator[Walk]:
    """Run clusters with the settings, and an Airflow without anything of ours."""
    folder.mkdir(exist_ok=True)
    jars = "AIRFLOW__KAFKA_MIGRATION__SPARK_JARS"
    with ExitStack() as running:
        sandbox = running.enter_context(Sandbox(folder / "sandbox", airflow=False, **settings))
        clusters = Clusters(sandbox)
        environment = {
            # A closed network needs the jars of Spark's connector.
            jars: clusters.connections()[jars],
            **admins(folder, PASSWORDS),
        }
        airflow = running.enter_context(standalone(stock, folder, environment))
        table = [*running.enter_context(managers(folder)), *prepared(clusters, airflow, wheel)]
        yield Walk(airflow, clusters, table)


def prepared(clusters: Clusters, airflow: StockAirflow, wheel: Path) -> Replaced:
    """Return what replaces the addresses and paths of the preparation."""
    ssh = json.loads(clusters.connections()["AIRFLOW_CONN_DEMO_MIRROR_HOST"])
    return [
        ("kafka_migration_airflow-0.1.0-py3-none-any.whl", str(wheel)),
        ("mirror.example", ssh["host"]),
        ('"port": 22', f'"port": {ssh["port"]}'),
        ('"login": "mirror"', f'"login": "{ssh["login"]}"'),
        ("/home/airflow/.ssh/id_ed25519", ssh["extra"]["key_file"]),
        ("ssh-ed25519 AAAA", ssh["extra"]["host_key"]),
        ("http://localhost:8080", url_of(airflow)),
        ("/opt/kafka", str(kafka_home())),
    ]


def fill(clusters: Clusters, *topics: str) -> None:
    """Fill topics on the source, of which a group has read a part."""
    for topic in topics:
        clusters.fill(topic, partitions=2, records=RECORDS)
        commit(clusters.source, GROUP, topic, {0: 1, 1: 2})


def assert_cut_over(walk: Walk, *topics: str) -> None:
    """The last verdict is PASS on all topics, and the group continues on the target where it stood."""
    target = {"bootstrap.servers": walk.clusters.sandbox.state.target_bootstrap}
    verdict = walk.answer_to("kafka-migration verdict")
    assert "PASS" in verdict.partition("TOPIC")[0], verdict
    for topic in topics:
        assert ends(walk.clusters.source, topic) == ends(target, topic)
        assert {0: 1, 1: 2} == committed(target, GROUP, topic)
    assert "? No: of " in walk.answer_to("kafka-migration decommission")


def test_hdinsight(stock: StockAirflow, tools: Path, wheel: Path, tmp_path: Path) -> None:
    """From two Ambaris and a file of MirrorMaker 2 to a cutover, with the versions of Kafka that HDInsight has."""
    topics = ("orders", "clicks-web")
    with walk(stock, wheel, tmp_path, versions={"source": "2.4.1", "target": "3.2.0"}) as person:
        state = person.clusters.sandbox.state
        person.table += [
            ("wn0-old.example.com:9092,wn1-old.example.com:9092", state.source_bootstrap),
            ("wn0-new.example.com:9092,wn1-new.example.com:9092", state.target_bootstrap),
        ]
        fill(person.clusters, *topics)
        person.follow("hdinsight")
        assert_cut_over(person, *topics)


def test_cloudera(stock: StockAirflow, tools: Path, wheel: Path, tmp_path: Path) -> None:
    """From two Cloudera Managers to a cutover over TLS; topics that the file excludes are not copied."""
    topics = ("shop.orders", "shop.payments")
    with walk(stock, wheel, tmp_path, secured=True) as person:
        for age, side in (("old", "source"), ("new", "target")):
            shown = f'"broker1-{age}.example.com:9093,broker2-{age}.example.com:9093", "security.protocol": "SSL", '
            person.table.append((f'{shown}"ssl.ca.pem": "{PEM}"', tls_only(person, side, "tls")))
        (person.airflow.home / "ca.pem").write_text(person.clusters.sandbox.security["source"].authority.certificate)
        fill(person.clusters, *topics, "shop.orders-test")
        person.follow("cloudera")
        assert_cut_over(person, *topics)
        on_target = AdminClient({"bootstrap.servers": person.clusters.sandbox.state.target_bootstrap}).list_topics()
        assert "shop.orders-test" not in on_target.topics


def tls_only(person: Walk, side: str, way: Way) -> str:
    """Return the fields of a connection by this way, from the value of the addresses on."""
    extra = json.dumps(person.clusters.sandbox.security[side].connection(way))
    return extra.removeprefix('{"bootstrap.servers": ').removesuffix("}")


def test_to_msk(stock: StockAirflow, tools: Path, wheel: Path, tmp_path: Path) -> None:
    """From a connector to a cutover into a cluster with SCRAM, with the rights that are granted and no more."""
    topics = ("orders", "payments")
    with walk(stock, wheel, tmp_path, secured=True) as person:
        person.table[:0] = msk(person)
        fill(person.clusters, *topics)
        person.follow("to-msk")
        assert_cut_over(person, *topics)


def msk(person: Walk) -> Replaced:
    """Return what replaces the addresses and logins of a new cluster with SCRAM, and the addresses of the old one."""
    state, target = person.clusters.sandbox.state, person.clusters.sandbox.security["target"]
    scram = target.connection("scram-sha-512")
    administrator = (
        "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nsasl.jaas.config=org.apache.kafka.common."
        'security.scram.ScramLoginModule required username="admin" password="admin-password";\n'
    )
    return [
        # The administrator is the user of the sandbox, who has no login.
        (administrator, "security.protocol=PLAINTEXT\n"),
        ("TARGET=b-1.new.example.com:9096", f"TARGET={state.target_bootstrap}"),
        ('"scram-password"}', f'"{scram["sasl.password"]}", "ssl.ca.pem": "{in_json(scram["ssl.ca.pem"])}"}}'),
        ("b-1.new.example.com:9096,b-2.new.example.com:9096", scram["bootstrap.servers"]),
        ("old1.example:9092,old2.example:9092", state.source_bootstrap),
    ]


def test_kafka_connect(stock: StockAirflow, tools: Path, wheel: Path, tmp_path: Path) -> None:
    """From an empty file to a cutover on a Connect cluster, whose workers read the login from a file of their own."""
    topics = ("orders", "payments")
    with walk(stock, wheel, tmp_path, secured=True) as person, connect_cluster(person, tmp_path) as workers:
        scram = person.clusters.sandbox.security["target"].connection("scram-sha-512")
        login = f', "login": "migration", "password": "connect-password", "extra": {{"ssl.ca.pem": "{PEM}"}}'
        person.table[:0] = [
            *msk(person),
            ('password="scram-password"', f'password="{scram["sasl.password"]}"'),
            (login, ""),
            ("https://connect1.example:8083", workers[0].url),
            ("/etc/kafka-connect/shop.properties", str(person.airflow.home / "shop.properties")),
        ]
        fill(person.clusters, *topics)
        person.follow("kafka-connect")
        assert_cut_over(person, *topics)


@contextmanager
def connect_cluster(person: Walk, folder: Path) -> Iterator[tuple[ConnectWorker, ...]]:
    """Run the workers of the page, with its names of topics and its provider."""
    settings = {
        "config.storage.topic": "connect-configs",
        "offset.storage.topic": "connect-offsets",
        "status.storage.topic": "connect-status",
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        "config.providers.file.param.allowed.paths": str(person.airflow.home),
    }
    bootstrap = person.clusters.sandbox.state.target_bootstrap
    workers = workers_of(folder / "connect", bootstrap, 2, "connect-cluster", settings=settings)
    with running_workers(workers, folder):
        yield workers


def test_mirrormaker1_to_2(stock: StockAirflow, tools: Path, wheel: Path, tmp_path: Path) -> None:
    """A MirrorMaker 1 that runs is stopped, its copy is replaced by a proved one, and its group is not moved."""
    topics = ("orders", "payments")
    with walk(stock, wheel, tmp_path) as person, ExitStack() as ending:
        state = person.clusters.sandbox.state
        # The name of the file has the folder in front, so that only this test's MirrorMaker is stopped.
        person.table += [
            ("--consumer.config consumer.properties", f"--consumer.config {person.airflow.home}/consumer.properties"),
            ("old1.example:9092", state.source_bootstrap),
            ("new1.example:9092", state.target_bootstrap),
        ]
        fill(person.clusters, *topics)

        def copied() -> None:
            ending.enter_context(old_mirrormaker(person, topics))

        def stopped() -> None:
            wait_until(lambda: " has no active members" in told_of_group(person), 120, "the group to be empty")

        person.follow("mirrormaker1-to-2", {"pkill ": copied, "kafka-consumer-groups.sh --bootstrap": stopped})
        assert_cut_over(person, *topics)
        target = {"bootstrap.servers": state.target_bootstrap}
        assert [{}, {}] == [committed(target, "mirror-shop", topic) for topic in topics]


def told_of_group(person: Walk) -> str:
    command = shlex.join(["kafka-consumer-groups.sh", "--describe", "--group", "mirror-shop"])
    return person.airflow.shell(f"{command} --bootstrap-server {person.clusters.sandbox.state.source_bootstrap} 2>&1")


@contextmanager
def old_mirrormaker(person: Walk, topics: tuple[str, ...]) -> Iterator[None]:
    """Run the MirrorMaker of the page; it has copied everything when the block begins."""
    target = {"bootstrap.servers": person.clusters.sandbox.state.target_bootstrap}
    admin = AdminClient(target)
    for future in admin.create_topics([NewTopic(topic, 2, 1) for topic in topics]).values():
        future.result(60)
    with (person.airflow.home / "old.log").open("w") as log:
        command = ["sh", "start-mirror-maker.sh"]
        process = subprocess.Popen(
            command, cwd=person.airflow.home, env=person.airflow.environ(), stdout=log, stderr=log
        )
    try:
        whole = dict.fromkeys(topics, RECORDS)
        wait_until(lambda: {t: sum(ends(target, t).values()) for t in topics} == whole, 120, "the old copy")
        yield
    finally:
        process.kill()
        process.wait(60)
