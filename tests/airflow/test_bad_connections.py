"""Rules of wrong Kafka connections: each way to use one refuses it with one finding, before it connects."""

from __future__ import annotations

import asyncio
import json
import re
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
from airflow.sdk._shared.secrets_masker import _secrets_masker

from kafka_migration.airflow_adapters.airflow_connections import cluster_named, connection_config, findings_of_side
from kafka_migration.airflow_adapters.checked_airflow import AirflowConnections
from kafka_migration.cli.main import main
from kafka_migration.core.connections.client_settings import OAUTH_ENDPOINT
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.cluster import KafkaCluster
from kafka_migration.core.migration.settings import Cluster, Insecurity
from kafka_migration.orchestration.sensors.group_lag import ConsumerGroupLagSensor
from kafka_migration.orchestration.task.failures import FailedForGood
from tests.airflow.driving import lag_trigger, next_event
from tests.airflow.test_validate_place import copied
from tests.airflow.world import World
from tests.bad_connections import ALL, CANARY, CASES, CERTIFICATE, LOGIN, OAUTH_LOGIN, TEXTS, connection_text
from tests.golden import assert_golden
from tests.steps.cutover import begin_rollback, cut_over

GOOD = json.dumps({"conn_type": "kafka", "extra": {"bootstrap.servers": "127.0.0.1:1"}})


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """The address of the brokers of the bad connections; nothing may connect to it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


@pytest.fixture
def real(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """A world whose source has the real connection `old_kafka`."""
    monkeypatch.setenv("AIRFLOW_CONN_NEW_KAFKA", GOOD)
    monkeypatch.setattr(AirflowConnections, "kafka_findings", lambda _, side: findings_of_side(side))
    return world


def reached(world: World) -> None:
    """Let the source cluster be opened with its connection from now on."""

    def opened(side: str, of: Cluster) -> KafkaCluster:
        return world.target if side == "target" else cluster_named("source", of.connection, of.insecure)

    world.deployed["open_cluster"] = opened
    world.deployed["client_settings"] = settings_of


def settings_of(cluster: Cluster) -> dict[str, Any]:
    """Return the settings of a cluster's real connection."""
    return connection_config(cluster.connection, cluster.insecure)


def check_all(refuse: Callable[[], str], monkeypatch: pytest.MonkeyPatch, listener: socket.socket) -> None:
    """Call an entry point with every bad connection; each finding must name code and setting, and show no secret."""
    address, wrong = "{}:{}".format(*listener.getsockname()), {}
    for case in ALL:
        _secrets_masker().reset_masker()
        text, code, named = connection_text(case, address)
        monkeypatch.setenv("AIRFLOW_CONN_OLD_KAFKA", text)
        refusal = refuse()
        if not (refusal.count(" · connection old_kafka") == 1 and f"{code} · " in refusal and named in refusal):
            wrong[case] = refusal
        assert CANARY not in refusal, refusal
    assert {} == wrong
    with pytest.raises(BlockingIOError):
        listener.accept()


def test_there_are_enough() -> None:
    """The table holds the cases of the review, and as many more."""
    assert len(ALL) >= 60


def test_findings_are_golden(monkeypatch: pytest.MonkeyPatch) -> None:
    """The findings on each bad connection, as people read them."""
    found = {}
    for case in (*CASES, *TEXTS):
        if case == "Kerberos":
            # Whether it is bad depends on how Airflow's client was built.
            continue
        _secrets_masker().reset_masker()
        monkeypatch.setenv("AIRFLOW_CONN_OLD_KAFKA", connection_text(case, "broker:9092")[0])
        errors, _ = findings_of_side(Cluster("old_kafka", "old"))
        # The numbers and words after this differ between versions of OpenSSL.
        found[case] = re.sub("error:[^;]*", "error:…", "\n".join(map(str, errors)))

    assert_golden(Path(__file__).with_name("bad_connections.golden"), found)


def test_preflight(real: World, monkeypatch: pytest.MonkeyPatch, listener: socket.socket) -> None:
    """Preflight names the connection next to what the other checks find."""
    reached(real)
    check_all(lambda: real.refuses("preflight"), monkeypatch, listener)
    monkeypatch.setenv("AIRFLOW_CONN_OLD_KAFKA", json.dumps({"conn_type": "kafka"}))
    del real.connections["spark"]
    real.refuses("preflight", match="SPARK_CONNECTION_MISSING")


def test_rollback(scene: World, monkeypatch: pytest.MonkeyPatch, listener: socket.socket) -> None:
    """A rollback whose connection changed after preflight refuses when it first needs the source."""
    cut_over(scene)
    scene.do("restore_settings")
    begin_rollback(scene)
    scene.do("preflight")
    reached(scene)

    check_all(lambda: scene.refuses("translate_back"), monkeypatch, listener)


def test_validation(world: World, monkeypatch: pytest.MonkeyPatch, listener: socket.socket) -> None:
    """A validation refuses before it gives Spark a login."""
    copied(world)
    monkeypatch.setenv("AIRFLOW_CONN_NEW_KAFKA", GOOD)
    world.deployed["client_settings"] = settings_of
    monkeypatch.setattr(SparkSubmitOperator, "execute", lambda *_: pytest.fail("Spark was started"))

    check_all(lambda: world.refuses("validate_topics"), monkeypatch, listener)


def test_waves(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch, listener: socket.socket, capsys: pytest.CaptureFixture[str]
) -> None:
    """`waves` ends with exit code 3 and the finding."""
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__MIGRATIONS_FOLDER", str(tmp_path))
    monkeypatch.setenv("AIRFLOW_CONN_NEW_KAFKA", GOOD)

    def refuse() -> str:
        assert main(["waves", "--source", "old_kafka", "--target", "new_kafka"]) == 3
        return capsys.readouterr().err

    check_all(refuse, monkeypatch, listener)


def test_decommission(
    scene: World, monkeypatch: pytest.MonkeyPatch, listener: socket.socket, capsys: pytest.CaptureFixture[str]
) -> None:
    """`decommission` ends with exit code 3 and the finding."""
    cut_over(scene)
    monkeypatch.setenv("AIRFLOW_CONN_NEW_KAFKA", GOOD)

    def refuse() -> str:
        assert main(["decommission", "shop", "--evidence-root", str(scene.root)]) == 3
        return capsys.readouterr().err

    check_all(refuse, monkeypatch, listener)


def test_sensor(monkeypatch: pytest.MonkeyPatch, listener: socket.socket) -> None:
    """The trigger of the lag sensor ends with the finding, with which the sensor fails."""
    sensor = ConsumerGroupLagSensor(task_id="lag", kafka_conn_id="old_kafka", group_ids=["shop"])
    trigger = lag_trigger()

    def refuse() -> str:
        event = asyncio.run(next_event(trigger))
        with pytest.raises(FailedForGood) as raised:
            sensor.execute_complete({}, event.payload)
        return str(raised.value)

    check_all(refuse, monkeypatch, listener)


def test_missing_connection() -> None:
    """A connection that does not exist has a code of its own."""
    with pytest.raises(Refused, match="CONNECTION_MISSING · connection nowhere: Airflow has no connection nowhere"):
        connection_config("nowhere")


@pytest.mark.parametrize("own", [{}, {"https.ca.pem": CERTIFICATE}], ids=["trust of the system", "own CA"])
def test_tokens_come_from_an_allowed_address(monkeypatch: pytest.MonkeyPatch, own: dict[str, str]) -> None:
    """With the address in Airflow's configuration the client fetches tokens, and looks for the system's trust store."""
    settings = {**OAUTH_LOGIN, "bootstrap.servers": "a:1", **own}
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__TOKEN_ENDPOINTS", f"https://b/x, {settings[OAUTH_ENDPOINT]}")
    monkeypatch.setenv("AIRFLOW_CONN_OLD_KAFKA", json.dumps({"conn_type": "kafka", "extra": settings}))
    trust = {} if own else {"https.ca.location": "probe"}

    config = connection_config("old_kafka")

    assert {**settings, "sasl.oauthbearer.method": "oidc", **trust} == config
    assert "OAUTHBEARER" == java_properties("old_kafka", config)["sasl.mechanism"]


def test_good_connections_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A good connection is accepted, also with an insecure setting that the migration file allows."""
    insecure = {**LOGIN, "bootstrap.servers": "[::1]:9092, b:2", "security.protocol": "SASL_PLAINTEXT"}
    monkeypatch.setenv("AIRFLOW_CONN_OLD_KAFKA", json.dumps({"conn_type": "kafka", "extra": insecure}))

    assert insecure == connection_config("old_kafka", [Insecurity.SASL_PLAINTEXT])
