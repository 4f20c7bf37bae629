"""The rights that `acls` prints for engine `connect` are enough: two logins on the target, with real authorizers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kafka_migration.adapters.connect.connect_process import ConnectProcess
from kafka_migration.adapters.connect.connect_rest import ConnectRest
from kafka_migration.adapters.connect.task_watch import TaskWatch
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.kafka.cluster import Operation, Resource, Side
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import ConnectSettings, Migration, Mode
from kafka_migration.core.mirror.engine import DEFAULT_MAX_MESSAGE_BYTES, LaunchFacts
from kafka_migration.core.rights.rights import Client, Need, Right, rights_for
from kafka_migration.engines.engine_rights import required_rights, workers_rights
from kafka_migration.engines.engines import engine_of
from kafka_migration.migration_file.loading import load_migration
from sandbox.connect import ConnectWorker, running_workers, workers_of
from sandbox.data.clients import client_config
from sandbox.data.reading import read_records
from sandbox.sandbox import Sandbox
from sandbox.security.kdc import USER
from sandbox.security.listeners import Security, Way
from tests.connect_files import CONNECT_TEXT
from tests.live.granting import Rights
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

ME = "kafka_migration__shop/manual#1"
SIDES: tuple[Side, ...] = ("source", "target")
# The login of both connections; the workers have a certificate instead, which is another principal.
WAY: Way = "scram-sha-512"
RECORDS = 100


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """Both clusters with an authorizer."""
    with Sandbox(tmp_path_factory.mktemp("secured"), airflow=False, secured=True) as sandbox:
        yield sandbox


@pytest.mark.parametrize("exactly_once", [False, True])
def test_printed_rights_are_enough(secured: Sandbox, tmp_path: Path, exactly_once: bool) -> None:
    """With them a connector copies every record, Airflow reads its positions, and its stop is proved."""
    migration = migration_on_connect(exactly_once)
    fill(secured, migration)
    grant_what_is_printed(secured, migration)
    clusters = {side: ConfluentCluster(side, secured.security[side].connection(WAY)) for side in SIDES}
    engine = engine_of(migration, clusters["source"], clusters["target"])
    (topic,) = migration.topics

    with copying(secured, migration, clusters["target"], tmp_path / "connect") as process:
        process.start(ME, 1, engine.launch(1, facts(secured)))
        stored = TopicPartition(topic, 0)
        wait_until(lambda: engine.stored_positions([topic]).get(stored) == RECORDS, 240, "all positions")
        reply = process.stop(ME, 1, 0)

    copied = read_records(secured.bootstraps["target"], topic)
    assert RECORDS == sum(len(records) for records in copied.values())
    assert engine.ending(reply).is_clean


def migration_on_connect(exactly_once: bool) -> Migration:
    """Return the migration of one topic that bears its name."""
    name = f"exact-{exactly_once}".lower()
    made = load_migration(CONNECT_TEXT.replace("name: shop", f"name: {name}"), where="shop.yaml").of_topics((name,))
    known = ConnectSettings(f"{name}-status", f"{name}-config", f"{name}-offset", name)
    return replace(made, mirror=replace(made.mirror, tasks=1, exactly_once=exactly_once, connect=known))


def fill(sandbox: Sandbox, migration: Migration) -> None:
    """Create the topic on both sides, with records on the source."""
    (topic,) = migration.topics
    for bootstrap in sandbox.bootstraps.values():
        admin = AdminClient(client_config(bootstrap))
        for future in admin.create_topics([NewTopic(topic, 1, 1)]).values():
            future.result(60)
    producer = Producer(client_config(sandbox.bootstraps["source"]))
    for number in range(RECORDS):
        producer.produce(topic, f"{number}".encode())
    assert 0 == producer.flush(60)


def grant_what_is_printed(sandbox: Sandbox, migration: Migration) -> None:
    """Grant each login its printed rights, and the workers those that they have for themselves."""
    for side in SIDES:
        user = Rights(sandbox.bootstraps[side], sandbox.security[side].principal(WAY))
        user.grant(rights_for(Mode.SYNC, required_rights(migration, side)))
    workers = Rights(sandbox.bootstraps["target"], sandbox.security["target"].principal("mtls"))
    workers.grant([*workers_rights(migration), *own_rights(migration.name)])


def own_rights(group: str) -> Iterator[Right]:
    """Yield what workers need for their group and their internal topics, whatever connectors run on them."""
    yield Right(Resource("group", group), Operation.READ, Client.WORKERS, Need.SYNC)
    for kind in ("config", "offset", "status"):
        for operation in (Operation.CREATE, Operation.DESCRIBE_CONFIGS, Operation.READ, Operation.WRITE):
            yield Right(Resource("topic", f"{group}-{kind}"), operation, Client.WORKERS, Need.SYNC)


def facts(sandbox: Sandbox) -> LaunchFacts:
    """Return the logins of both connections, and the sizes of the topic."""
    source, target = (java_properties(side, sandbox.security[side].connection(WAY)) for side in SIDES)
    return LaunchFacts(source, target, DEFAULT_MAX_MESSAGE_BYTES, 1)


@contextmanager
def copying(sandbox: Sandbox, migration: Migration, target: ConfluentCluster, folder: Path) -> Iterator[ConnectProcess]:
    """Run a worker that logs in by its certificate, and yield the process of the migration, which is reserved."""
    group = migration.name
    workers = workers_of(
        folder,
        sandbox.security["target"].address("mtls"),
        1,
        group,
        settings=settings_of(sandbox.security["target"], migration),
    )
    with running_workers(workers, folder):
        process = process_of(migration, workers[0], target)
        process.reserve(ME)
        yield process
        process.release(ME)
        process.close()


def process_of(migration: Migration, worker: ConnectWorker, target: ConfluentCluster) -> ConnectProcess:
    """Return the process, which reads the target with the login of the connection."""
    http = HttpSettings("connect", worker.url)
    watch = TaskWatch(target, f"{worker.group}-status", http, worker.group)
    return ConnectProcess(migration.name, ConnectRest(http), watch)


def settings_of(security: Security, migration: Migration) -> dict[str, str]:
    """Return the settings of workers that log in by their certificate, also with the clients of connectors."""
    tls = {"security.protocol": "SSL", **security.tls_properties("worker", security.authority.issue(USER))}
    clients = {f"{client}.{name}": value for client in ("producer", "consumer", "admin") for name, value in tls.items()}
    exact = {"exactly.once.source.support": "enabled"} if migration.mirror.exactly_once else {}
    return {**tls, **clients, **exact}
