"""Rules of the command `waves`: what it prints, what it writes, and when it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.airflow_adapters import airflow_connections as connections
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.cli.main import main
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import GroupKind, NewTopic, why_immovable
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.kafka.transaction_log import COMMITTED_OFFSETS, TRANSACTION_STATE
from kafka_migration.core.migration.settings import ConnectSettings, Insecurity
from kafka_migration.core.run.overlap import overlap_findings
from kafka_migration.migration_file.loading import load_migration_file, load_migrations
from kafka_migration.steps.waves.wave_files import write_files
from tests.contract.fake_cluster import FakeCluster, FakeGroup
from tests.json_fields import undocumented
from tests.unit.kafka.test_transaction_log import ENDED, KEY, V0, V1

SIZES = {"orders": 3, "audit": 1, "payments": 2, "refunds": 3, "mails": 9, "logs": 6, "_schemas": 1}

real_cluster_named = connections.cluster_named


@dataclass
class Shop:
    """Two clusters with the connections `old` and `new`, and a folder for migration files."""

    folder: Path
    source: FakeCluster = field(default_factory=lambda: FakeCluster("old", 3))
    target: FakeCluster = field(default_factory=lambda: FakeCluster("new", 2))

    def add(self, cluster: FakeCluster, topic: str, records: int) -> None:
        """Create a topic of one partition with records."""
        cluster.create_topics([NewTopic(topic, 1, 1, {})])
        cluster.produce(topic, 0, *[(b"k", b"v")] * records)

    def commit(self, group: str, *topics: str) -> None:
        """Let a group commit on topics."""
        self.source.commit(group, {TopicPartition(topic, 0): 0 for topic in topics})

    def connected(self, side: str, connection_id: str, allowed: Sequence[Insecurity]) -> FakeCluster:
        """Return the cluster of a connection."""
        if connection_id not in {"old", "new"}:
            return real_cluster_named(side, connection_id, allowed)  # type: ignore[return-value]
        return self.source if connection_id == "old" else self.target

    def waves(self, *options: str) -> int:
        """Run the command."""
        return main(["waves", "--source", "old", "--target", "new", *options])

    def write(self, *options: str) -> int:
        """Run the command so that it writes files."""
        return self.waves("--write", str(self.folder), "--mirror-host", "mm", "--spark", "spark", *options)


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    """A source with topics, two groups, a transaction over two topics, and topics without groups."""
    monkeypatch.setenv("AIRFLOW_CONN_SSH", json.dumps({"conn_type": "ssh"}))
    made = Shop(tmp_path)
    for topic, records in SIZES.items():
        made.add(made.source, topic, records)
    made.add(made.source, TRANSACTION_STATE, 0)
    made.source.produce(TRANSACTION_STATE, 0, (KEY, V0), (KEY, ENDED[1]), (KEY, V1))
    made.commit("billing", "payments", "refunds")
    made.source.join("shipping", "s", "/h", TopicPartition("orders", 0))
    made.source.groups["connect-cluster"] = FakeGroup(kind="connect")
    monkeypatch.setattr(connections, "cluster_named", made.connected)
    monkeypatch.setattr(settings, "migrations_folder", lambda: tmp_path / "none")
    return made


SHOWN = """\
Source  old
Target  new
Waves   3, of 6 topics

WAVE     TOPICS  PARTITIONS  RECORDS  GROUPS  ACTIVE  FIRST TOPIC
wave-01  2       2           4        1       1       audit and 1 more
wave-02  2       2           5        1       0       payments and 1 more
wave-03  2       2           15       0       0       logs and 1 more

wave-01: 2 topics, 2 partitions, at most 4 records
  Topics        audit, orders
  Groups        shipping (active)
  Transactions  pay-tx
  Why           transactional id pay-tx wrote audit, orders

wave-02: 2 topics, 2 partitions, at most 5 records
  Topics  payments, refunds
  Groups  billing
  Why     group billing reads payments, refunds

wave-03: 2 topics, 2 partitions, at most 15 records
  Topics  logs, mails
  Groups  none
  Why     no group is known to read any of them: move them at any time, or not at all

Groups that no cutover can move
  connect-cluster (connect)

Topics that belong to no application
  __transaction_state: Kafka's own
  _schemas: the Schema Registry's; it moves with the registry, not with a consumer
"""


def test_waves_are_printed(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints a table of waves, the smallest first, their reasons, and what is in no wave."""
    assert shop.waves() == 0
    assert SHOWN == capsys.readouterr().out


def test_documentation_shows_what_is_printed() -> None:
    """The page on waves shows what the command prints."""
    page = (Path(__file__).parents[2] / "docs" / "howto" / "waves.md").read_text()

    assert f"```\n{SHOWN}```" in page


def document(shop: Shop, capsys: pytest.CaptureFixture[str], *options: str) -> tuple[int, dict[str, Any]]:
    code = shop.waves("-o", "json", *options)
    found = json.loads(capsys.readouterr().out)
    assert set() == undocumented("waves", found)
    return code, found


def test_json_has_everything(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON document has each wave's topics, groups, transactional ids, reasons and sizes."""
    code, found = document(shop, capsys, "--prefix", "shop")

    assert (0, 1, [], []) == (code, found["schema"], found["not_known"], found["written"])
    first = found["waves"][1]
    assert ("shop-02", ["payments", "refunds"]) == (first["name"], first["topics"])
    assert (2, 5) == (first["partitions"], first["records_at_most"])
    assert [("billing", True, False)] == [(g["group"], g["is_movable"], g["is_active"]) for g in first["groups"]]
    assert [{"kind": "group", "name": "billing", "topics": ["payments", "refunds"]}] == first["joined_by"]
    assert ["pay-tx"] == found["waves"][0]["transactional_ids"]
    assert {"connect-cluster": "connect"} == found["immovable_groups"]
    assert {"_schemas", "__transaction_state"} == found["left_out"].keys()


def test_ignored_group_and_chosen_topics(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """Options ignore a group and choose topics, and the document says so."""
    chosen = ("--topic-pattern", "re.*", "--topic-pattern", "orders")
    _, found = document(shop, capsys, "--ignore-group", "bill.*", *chosen)

    assert [["orders"], ["refunds"]] == [wave["topics"] for wave in found["waves"]]
    assert {"billing": ["payments", "refunds"]} == found["ignored_groups"]
    assert {"audit": "not asked for"} == found["waves"][0]["elsewhere"]


def test_small_waves_together(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """With a minimum size, independent waves are merged, and the output says so."""
    _, found = document(shop, capsys, "--min-topics", "3")

    assert [(4, 2, True), (2, 2, False)] == [(len(w["topics"]), w["parts"], w["is_read"]) for w in found["waves"]]
    shop.waves("--min-topics", "3")
    assert "they are independent: 2 parts were merged" in capsys.readouterr().out


def test_topics_on_the_target(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """A topic that has records on the target is not proposed; an empty one is."""
    shop.add(shop.target, "refunds", 0)
    shop.add(shop.target, "payments", 7)
    _, found = document(shop, capsys)

    assert {"payments": "already on the target, with records up to offset 7"} == found["elsewhere"]
    assert ["refunds"] == found["waves"][0]["topics"]


def denied(*_: object) -> Any:
    raise Refused([Finding(Code.CONNECTION_INVALID, "old", "Group authorization failed", "a right", "Grant it.")])


def silent(*_: object) -> Any:
    raise TransientError("old did not answer")


@pytest.mark.parametrize("fail", [denied, silent])
def test_group_that_cannot_be_read(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fail: Callable[..., Any]
) -> None:
    """A group that cannot be read is reported as unknown, with exit code 4, and the others are read."""
    describe, committed = shop.source.describe_groups, shop.source.committed_offsets
    monkeypatch.setattr(
        shop.source, "describe_groups", lambda groups: fail() if "billing" in groups else describe(groups)
    )
    monkeypatch.setattr(shop.source, "committed_offsets", lambda g: fail() if g == "billing" else committed(g))
    code, found = document(shop, capsys)

    assert code == 4
    assert [True] == [text.startswith("what group billing reads: ") for text in found["not_known"]]
    assert [["shipping"], []] == [[g["group"] for g in wave["groups"]] for wave in found["waves"]]
    assert shop.waves() == 4
    assert "Unknown; waves may lack topics or groups\n  what group billing reads: " in capsys.readouterr().out


def test_group_whose_members_are_known_and_offsets_are_not(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A group with known members and denied offsets joins the topics of its members, with exit code 4."""
    shop.source.join("half", "h", "/h", TopicPartition("mails", 0), TopicPartition("logs", 0))
    committed = shop.source.committed_offsets
    monkeypatch.setattr(shop.source, "committed_offsets", lambda g: denied() if g == "half" else committed(g))
    code, found = document(shop, capsys)

    assert code == 4
    assert ["logs", "mails"] == found["waves"][2]["topics"]
    assert [True] == [g["is_active"] for g in found["waves"][2]["groups"]]


@pytest.mark.parametrize("kind", ["share", "streams", "other"])
def test_group_of_another_kind(shop: Shop, capsys: pytest.CaptureFixture[str], kind: GroupKind) -> None:
    """The topics of such a group are unknown, unless it is ignored."""
    shop.source.groups["else"] = FakeGroup(kind=kind)
    code, found = document(shop, capsys)

    assert code == 4
    assert [f"what group else reads: {why_immovable('else', kind)}"] == found["not_known"]
    assert document(shop, capsys, "--ignore-group", "else")[0] == 0


def test_group_without_an_id(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """Regression: the group of old clients, whose id is the empty text, ended the verb with an error of the client."""
    shop.source.commit("", {TopicPartition("mails", 0): 0})
    code, found = document(shop, capsys)

    assert (4, [f"what group '' reads: {why_immovable('', 'classic')}"]) == (code, found["not_known"])
    assert {"": "classic", "connect-cluster": "connect"} == found["immovable_groups"]
    assert shop.waves() == 4
    assert "'' (no id)" in capsys.readouterr().out


@pytest.mark.parametrize("fail", [denied, silent])
def test_transactions_that_cannot_be_read(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], fail: Callable[..., Any]
) -> None:
    """If the transaction log cannot be read, the topics of transactions are unknown."""
    monkeypatch.setattr(shop.source, "read_log", fail)
    code, found = document(shop, capsys)

    assert code == 4
    assert [True] == [
        text.startswith("what transactional ids write to (__transaction_state): ") for text in found["not_known"]
    ]
    assert [["orders"], ["payments", "refunds"], ["audit", "logs", "mails"]] == [w["topics"] for w in found["waves"]]


@pytest.mark.parametrize(("sees_internal", "code"), [(True, 0), (False, 4)])
def test_source_without_transactions_is_not_asked_for_their_log(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], sees_internal: bool, code: int
) -> None:
    """The transaction log is read only if it is listed, because old brokers would create the topic."""
    shop.source.delete_topics([TRANSACTION_STATE])
    if sees_internal:
        shop.add(shop.source, COMMITTED_OFFSETS, 0)
    monkeypatch.setattr(shop.source, "read_log", lambda *_: pytest.fail("asked by name"))

    assert code == document(shop, capsys)[0]


def test_log_that_takes_too_long(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Transactions that were read before the time limit join topics, and the rest is reported as unknown."""

    def some_of_it(topic: str, time_limit_s: float) -> Any:
        assert (TRANSACTION_STATE, 7) == (topic, time_limit_s)
        yield KEY, V0
        raise TransientError("not read to its end in 7 s")

    monkeypatch.setattr(shop.source, "read_log", some_of_it)
    code, found = document(shop, capsys, "--timeout", "7s")

    assert code == 4
    assert ["what transactional ids write to (__transaction_state): not read to its end in 7 s"] == found["not_known"]
    assert ["audit", "orders"] == found["waves"][0]["topics"]


def test_files_are_written(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """Each wave gets a valid file with its topics and groups that overlaps with no other."""
    assert shop.write("--prefix", "shop") == 0
    assert str(shop.folder / "shop-03.yaml") in capsys.readouterr().out
    migrations = load_migrations(shop.folder)

    assert ["shop-01", "shop-02", "shop-03"] == [each.name for each in migrations]
    assert [("audit", "orders"), ("payments", "refunds"), ("logs", "mails")] == [each.topics for each in migrations]
    assert [("shipping",), ("billing",), ("(?!)",)] == [each.cutover.groups for each in migrations]
    for each in migrations:
        names = (each.source.connection, each.target.connection, each.mirror.connection)
        assert ("old", "new", "mm") == names
        assert ("spark", 2) == (each.validation.spark_connection, each.target_replication_factor)
    for one in migrations:
        assert () == overlap_findings(one, [other for other in migrations if other is not one])


def test_files_are_written_for_a_connect_cluster(shop: Shop) -> None:
    """With the connection of a Connect cluster and a topic of its workers each file is one of engine `connect`."""
    written = ("--write", str(shop.folder), "--spark", "spark")
    assert shop.waves(*written, "--connect", "shop_connect", "--status-topic", "connect-status") == 0
    mirrors = [each.mirror for each in load_migrations(shop.folder)]

    assert 3 == len(mirrors)
    for each in mirrors:
        assert ("connect", "shop_connect", ConnectSettings("connect-status")) == (
            each.engine,
            each.connection,
            each.connect,
        )


def test_topics_of_other_files_are_not_proposed_again(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """A second call finds all topics in the files of the first, and writes nothing."""
    shop.write()
    before = {path: path.read_text() for path in shop.folder.iterdir()}
    capsys.readouterr()

    assert shop.write() == 0
    assert "payments, refunds: already in wave-02.yaml" in (shown := capsys.readouterr().out)
    assert "Waves   0, of 0 topics" in shown
    assert before == {path: path.read_text() for path in shop.folder.iterdir()}


def test_existing_files_are_not_replaced(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """An existing file of the same name, valid or not, refuses all files."""
    (shop.folder / "wave-03.yaml").write_text("mine")

    assert shop.write() == 3
    assert "MIGRATION_FILE_EXISTS · " in capsys.readouterr().err
    assert ["wave-03.yaml"] == [path.name for path in shop.folder.iterdir()]
    assert shop.write("--prefix", "other") == 4
    assert "the topics of wave-03.yaml: it is not a valid migration file" in capsys.readouterr().out
    assert "the topics of wave-03.yaml" in (shop.folder / "other-01.yaml").read_text()
    assert load_migration_file(shop.folder / "other-01.yaml")[1].topics == ("audit", "orders")


def test_file_that_would_overlap_is_refused(
    shop: Shop, capsys: pytest.CaptureFixture[str], migration_text: str
) -> None:
    """A file of another source with the same target topics refuses all files."""
    (shop.folder / "shop.yaml").write_text(migration_text.replace("new_kafka", "new"))

    assert shop.write() == 3
    assert "wave-01.yaml and shop.yaml both copy the topics audit, orders, or write" in capsys.readouterr().err
    assert ["shop.yaml"] == [path.name for path in shop.folder.iterdir()]


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    """If a file appears during the write, it is kept, and the files that were written are deleted."""
    (tmp_path / "b.yaml").write_text("theirs")

    with pytest.raises(Refused, match=r"MIGRATION_FILE_NOT_WRITTEN .*/b\.yaml \(File exists\)"):
        write_files(tmp_path, {"a": "1", "b": "2"})
    assert {"b.yaml": "theirs"} == {path.name: path.read_text() for path in tmp_path.iterdir()}


def test_names_with_control_characters_are_quoted(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """A group's name is quoted in the output and in the file, so that both are printable."""
    shop.commit("evil\nname: x\x1b[31m\u202e", "mails", "logs")

    assert shop.write() == 0
    shown = capsys.readouterr().out
    assert "group 'evil\\nname: x\\x1b[31m\\u202e' reads logs, mails" in shown
    assert shown.replace("\n", "").isprintable()
    written = (shop.folder / "wave-03.yaml").read_text()
    assert written.replace("\n", "").isprintable()
    assert load_migration_file(shop.folder / "wave-03.yaml")[1].topics == ("logs", "mails")


WRONG = {
    "no such connection": (["--source", "none", "--target", "new"], 3, "MISSING · connection none (--source)"),
    "wrong connection": (["--source", "old", "--target", "ssh"], 3, "CONNECTION_INVALID · connection ssh (--target)"),
    "one cluster": (["--source", "old", "--target", "old"], 3, "SAME_CLUSTER"),
    "not a folder": (
        ["--source", "old", "--target", "new", "--write", "/none", "--mirror-host", "m", "--spark", "s"],
        3,
        "MIGRATION_FILE_NOT_WRITTEN · /none\n  No file can be written at /none (no folder).",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_places_are_named(shop: Shop, capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    """A connection or folder that does not exist, or one cluster on both sides, is refused."""
    arguments, code, text = WRONG[wrong]

    assert main(["waves", *arguments]) == code
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--write", "."], "--write needs --mirror-host and --spark"),
        (["--write", ".", "--spark", "s"], "--write needs --mirror-host and --spark"),
        (["--write", ".", "--connect", "c", "--status-topic", "t"], "--write needs --mirror-host and --spark"),
        (["--connect", "c"], "--connect and --status-topic only together"),
        (["--mirror-host", "m", "--status-topic", "t"], "either --mirror-host and --kafka-home, or --connect"),
        (["--kafka-home", "/k", "--connect", "c", "--status-topic", "t"], "either --mirror-host and --kafka-home"),
        (["--topic-pattern", "("], "expected a regular expression"),
        (["--ignore-group", "*"], "expected a regular expression"),
        (["--min-topics", "0"], "a number from 1"),
        (["--prefix", "Shop"], "lower-case letters"),
        (["--prefix", "s" * 58], "at most 57"),
        (["--timeout", "5"], "a duration"),
    ],
)
def test_wrong_usage(shop: Shop, capsys: pytest.CaptureFixture[str], options: list[str], text: str) -> None:
    """An option with a wrong value is wrong usage, and no cluster is asked."""
    shop.source.is_down = True
    with pytest.raises(SystemExit) as exited:
        shop.waves(*options)

    assert exited.value.code == 2
    assert text in capsys.readouterr().err


def test_cluster_that_does_not_answer(shop: Shop, capsys: pytest.CaptureFixture[str]) -> None:
    """If the source does not answer, the command fails."""
    shop.source.is_down = True

    assert shop.waves() == 1
    assert "  A cluster did not answer in time: old did not answer" in capsys.readouterr().err
