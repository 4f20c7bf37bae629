"""Rules of the command `source-acls`: what it prints, and that it writes nothing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from kafka_migration.airflow_adapters import airflow_connections as connections
from kafka_migration.cli.main import main
from kafka_migration.core.kafka.cluster import Acl, Resource
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Insecurity
from tests.conftest import MIGRATION_TEXT
from tests.contract.fake_cluster import FakeCluster
from tests.json_fields import undocumented

READS = Acl(Resource("topic", "ord", is_prefix=True), "User:ann", "*", "Read")
IN_GROUP = Acl(Resource("group", "shop-billing"), "User:ann", "10.0.0.1", "Read")
WRITES = Acl(Resource("topic", "orders"), "User:bob", "*", "Write")
TRANSACTS = Acl(Resource("transactional-id", "tx", is_prefix=True), "User:ann", "*", "Write")
OF_A_STRANGER = Acl(Resource("cluster", "kafka-cluster"), "User:eve", "*", "Alter")
ELSEWHERE = Acl(Resource("topic", "other"), "User:bob", "*", "Write")


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> FakeCluster:
    """The source of the migration `shop`, with a group and lists."""
    made = FakeCluster("old")
    made.commit("shop-billing", {TopicPartition("orders", 0): 0})
    made.access_lists |= {READS, IN_GROUP, WRITES, ELSEWHERE, TRANSACTS, OF_A_STRANGER}

    def connected(side: str, connection_id: str, allowed: Sequence[Insecurity]) -> FakeCluster:
        assert ("source", "old_kafka") == (side, connection_id)
        return made

    monkeypatch.setattr(connections, "cluster_named", connected)
    return made


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A folder with the migration file `shop`."""
    (tmp_path / "shop.yaml").write_text(MIGRATION_TEXT)
    return str(tmp_path)


def test_commands_for_the_target(source: FakeCluster, folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Lists on the migration's topics and groups become commands; passwords and quotas are named as not moved."""
    assert 0 == main(["source-acls", "shop", "--migrations", folder])
    lines = capsys.readouterr().out.splitlines()
    commands = [line for line in lines if not line.startswith("#")]
    start = 'kafka-acls.sh --bootstrap-server "$TARGET" --command-config admin.properties --add '

    assert {
        f"{start}--allow-principal User:ann --allow-host 10.0.0.1 --operation Read --group shop-billing",
        f"{start}--allow-principal User:ann --allow-host '*' --operation Read --topic orders",
        f"{start}--allow-principal User:bob --allow-host '*' --operation Write --topic orders",
    } == set(commands)
    comment = "# User:ann from * may Read topic ord*. MirrorMaker 2 would leave it out, because it is not on one name."
    assert comment in lines
    assert "# Not moved: users and their passwords (SCRAM). Create them on the target." in lines
    rest = "Grant it on the target if it is needed there."
    assert f"# Not moved: User:ann from * may Write transactional-id tx*. {rest}" in lines
    assert not any("eve" in line for line in lines)
    assert 1 == source.closings


def test_selected_users_only(source: FakeCluster, folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    """With --principal, lists of other users are left out."""
    assert 0 == main(["source-acls", "shop", "--migrations", folder, "--principal", "User:bob"])
    out = capsys.readouterr().out

    assert "User:bob" in out
    assert "User:ann" not in out


def test_json(source: FakeCluster, folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The document has each list of the source with those for the target."""
    assert 0 == main(["source-acls", "shop", "--migrations", folder, "-o", "json"])
    document = json.loads(capsys.readouterr().out)
    assert set() == undocumented("source-acls", document)
    (writes,) = [each for each in document["acls"] if each["principal"] == "User:bob"]

    assert (1, "shop", 3) == (document["schema"], document["migration"], len(document["acls"]))
    assert ("writes", "literal", "allow", ["orders"]) == (
        writes["by_mirrormaker"],
        writes["pattern"],
        writes["permission"],
        [each["name"] for each in writes["on_target"]],
    )


def test_nothing_to_move(source: FakeCluster, folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A source without an authorizer has no lists."""
    source.access_lists.clear()

    assert 0 == main(["source-acls", "shop", "--migrations", folder])
    assert (
        "# None of them is on the migration's topics or groups, or the source has no authorizer."
        in capsys.readouterr().out
    )
