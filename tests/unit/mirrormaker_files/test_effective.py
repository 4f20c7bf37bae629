"""What each reader of MirrorMaker's files gets, and from which line. Kafka's classes judge it in tests/contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_migration.cli.main import main
from kafka_migration.core.findings.errors import Refused
from kafka_migration.mirrormaker_files.effective.all_files import readers_of
from kafka_migration.mirrormaker_files.effective.effective_text import shown_readers, shown_unread
from kafka_migration.mirrormaker_files.effective.readers import Effective, Readers
from kafka_migration.mirrormaker_files.model.mirror_settings import MirrorSetting
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from tests.unit.mirrormaker_files.canaries import CANARY, with_secret_forms, with_secret_keys
from tests.unit.mirrormaker_files.test_no_secret_is_shown import is_harmless, shows_canary, some_of, some_of_each

pytestmark = pytest.mark.unit

HEAD = "clusters = A, B\nA.bootstrap.servers = a:9092\nB.bootstrap.servers = b:9092\nA->B.enabled = true\n"
WRITERS = {("producer", duty, "B") for duty in ("records", "checkpoints", "heartbeats")}
CLASS = "org.apache.kafka.connect.mirror.MirrorSourceConnector"
RESOURCE = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
spec:
  connectCluster: B
  clusters:
    - {alias: A, bootstrapServers: "a:9092", tls: {}, config: {ssl.keystore.type: JKS, producer.acks: 0}}
    - alias: B
      bootstrapServers: b:9092
      authentication: {type: scram-sha-512, username: u, passwordSecret: {secretName: s, password: p}}
      config: {sasl.mechanism: PLAIN, config.storage.replication.factor: 3}
  mirrors:
    - sourceCluster: A
      targetCluster: B
      topicsPattern: orders
      sourceConnector: {tasksMax: 4, config: {topics: other, name: mine, producer.override.acks: all}}
"""


def read(text: str, version: str = "", name: str = "mm2.properties") -> tuple[Readers, dict[str, MirrorSetting]]:
    """Return the readers of a file, and its lines by their names."""
    files = read_mirror_files(name, text)
    return readers_of(files, version), {each.name: each for file in files for each in file.settings}


def users(text: str, name: str, version: str = "") -> set[tuple[str, str, str]]:
    """Return role, duty and cluster of all readers that know the key of a line."""
    readers, lines = read(text, version)
    found = (each.reader for each, _ in readers.uses_of(lines[name]))
    return {(each.role, each.duty, each.cluster) for each in found}


def one(readers: Readers, role: str, duty: str, flow: str = "A->B") -> Effective:
    """Return the only reader of a role with a duty."""
    (found,) = readers.at(role, flow=flow, duty=duty)
    return found


@pytest.mark.parametrize(
    ("line", "version", "expected"),
    [
        ("A.consumer.max.poll.records = 1", "3.9", {("consumer", "records", "A"), ("consumer", "offset syncs", "A")}),
        ("A.consumer.max.poll.records = 1", "2.7", set()),
        ("B->A.producer.override.acks = 1", "3.9", {("producer", "heartbeats", "A")}),
        ("A->B.producer.override.acks = 1", "3.9", WRITERS),
        ("A->B.producer.acks = 1", "3.9", {("producer", "offset syncs", "A")}),
        ("A->B.consumer.override.max.poll.records = 1", "3.9", set()),
        ("A.replication.factor = 1", "3.9", set()),
        ("A.offset.storage.replication.factor = 1", "3.9", {("connect_worker", "worker", "A")}),
        ("producer.acks = 1", "3.9", set()),
    ],
)  # fmt: skip
def test_a_line_reaches_its_readers(line: str, version: str, expected: set[tuple[str, str, str]]) -> None:
    """The readers of a line are those to which Kafka hands it, in the version that is named."""
    assert expected == users(f"{HEAD}{line}\n", line.partition(" ")[0], version)


def test_an_overridden_line_has_no_reader() -> None:
    """Of a worker's keys that stand at both places, the one of the top level counts, and of a repeated key the last."""
    text = f"{HEAD}offset.storage.replication.factor = 1\nA.offset.storage.replication.factor = 3\n"
    text += "B.offset.storage.replication.factor = 3\n"
    readers, lines = read(f"{text}tasks.max = 1\ntasks.max = 2\n")

    assert {"1"} == {each.values["offset.storage.replication.factor"].value for each in readers.at("connect_worker")}
    assert () == tuple(readers.uses_of(lines["B.offset.storage.replication.factor"]))
    assert "2" == next(readers.at("mirror_source")).values["tasks.max"].value


def test_blanks_go_where_kafka_removes_them() -> None:
    """A flow whose `enabled` has a blank runs, because heartbeats start its worker; a separator keeps its blank."""
    text = HEAD.replace("enabled = true", "enabled = true ") + "replication.policy.separator = _ \n"
    readers, _ = read(text, "3.9")

    assert "true" == next(readers.at("mirror_source", flow="A->B")).values["enabled"].value
    assert "_ " == next(readers.at("replication_policy", flow="A->B")).values["replication.policy.separator"].value
    readers, _ = read(f"{text}emit.heartbeats.enabled = false\n", "3.9")
    assert [] == list(readers.at("mirror_source"))


def test_what_mirrormaker_sets_has_no_line() -> None:
    """Names, groups and topics that the file does not give are set by MirrorMaker."""
    readers, _ = read(HEAD, "3.9")
    worker = one(readers, "connect_worker", "worker")

    assert ("A-mm2", None) == (worker.values["group.id"].value, worker.values["group.id"].setting)
    assert "read_uncommitted" not in {each.value for each in one(readers, "consumer", "records").values.values()}
    assert "A->B|MirrorSourceConnector|replication-consumer" == (
        one(readers, "consumer", "records").values["client.id"].value
    )


@pytest.mark.parametrize(("support", "acks"), [("disabled", "false"), ("enabled ", "true")])
def test_exactly_once_makes_the_writer_idempotent(support: str, acks: str) -> None:
    """With exactly-once the writer has a transactional id, and a key that would switch it off does not count."""
    text = f"{HEAD}B.exactly.once.source.support = {support}\nB.producer.enable.idempotence = false\n"
    readers, lines = read(text, "3.9")
    writer = one(readers, "producer", "records").values

    assert acks == writer["enable.idempotence"].value
    assert ("transactional.id" in writer) == (acks == "true")
    assert bool(list(readers.uses_of(lines["B.producer.enable.idempotence"]))) == (acks == "false")


def test_connect_hands_overrides_to_the_writer_only() -> None:
    """On Connect `producer.override.` reaches the writer, and `consumer.override.` only sink connectors."""
    keys = {
        "producer.override.acks": "1",
        "consumer.override.max.poll.records": "1",
        "source.consumer.fetch.min.bytes": "2",
    }
    config = {"connector.class": CLASS, "source.cluster.alias": "A", "target.cluster.alias": "B", **keys}
    readers, lines = read(json.dumps({"name": "copy", "config": config}), name="copy.json")

    found = {key: {each.reader.duty for each, _ in readers.uses_of(lines[key])} for key in keys}
    assert {"producer.override.acks": {"records"}, "consumer.override.max.poll.records": set(),
            "source.consumer.fetch.min.bytes": {"records"}} == found  # fmt: skip


def test_strimzi_forbids_keys_to_the_workers_only() -> None:
    """The workers get TLS and login from the fields; the connectors get what is in `config` over them."""
    readers, lines = read(RESOURCE, name="mirror.yaml")
    (worker,) = readers.at("connect_worker")
    reader, writer = (one(readers, role, "records").values for role in ("consumer", "producer"))

    assert ("SCRAM-SHA-512", "3") == (
        worker.values["sasl.mechanism"].value,
        worker.values["config.storage.replication.factor"].value,
    )
    assert ("SSL", "JKS") == (reader["security.protocol"].value, reader["ssl.keystore.type"].value)
    assert ("SASL_PLAINTEXT", "all") == (writer["security.protocol"].value, writer["acks"].value)
    (admin,) = (each for each in readers.at("admin", duty="topics") if each.reader.cluster == "B")
    assert "PLAIN" == admin.values["sasl.mechanism"].value
    assert () == tuple(readers.uses_of(lines["producer.acks"]))


@pytest.mark.parametrize(("tls", "protocol"), [("{}", "SSL"), ("null", "PLAINTEXT"), ("", "PLAINTEXT")])
def test_a_field_without_a_value_is_not_there(tls: str, protocol: str) -> None:
    """Strimzi's operator uses TLS for `tls: {}`, and not for a field `tls` without a value."""
    readers, _ = read(RESOURCE.replace("tls: {}", f"tls: {tls}"), name="mirror.yaml")

    assert one(readers, "consumer", "records").value("security.protocol") == protocol


def test_strimzi_fields_win_over_the_connector() -> None:
    """`topicsPattern` and `tasksMax` win over `config`, where the name of the connector cannot be set."""
    readers, lines = read(RESOURCE, name="mirror.yaml")
    (source,) = readers.at("mirror_source")

    got = {key: source.values[key].value for key in ("topics", "tasks.max", "name")}
    assert {"topics": "orders", "tasks.max": "4", "name": "A->B.MirrorSourceConnector"} == got
    assert () == readers.of(lines["sourceConnector.config.topics"])


def test_many_quiet_pairs_take_few_readers() -> None:
    """Pairs of many clusters that only emit heartbeats stand for each other, so 50 clusters have 52 workers."""
    names = [f"c{number}" for number in range(50)]
    readers, _ = read(f"clusters = {', '.join(names)}\nc1->c2.enabled = true\nc3->c4.x = 1\n")

    assert 52 == sum(1 for _ in readers.at("connect_worker"))


def effective(folder: Path, text: str, *options: str) -> int:
    """Run `lint --effective` on a file."""
    file = folder / "mm2.properties"
    file.write_text(text)
    return main(["lint", "--effective", str(file), *options])


def test_effective_names_lines_and_hides_secrets(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`lint --effective` prints each key with its line, no secret, and the lines that nothing reads."""
    secrets = f'B.sasl.jaas.config = x password="{CANARY}";\nA.ssl.key.password = {CANARY}\nB.tokn = {CANARY}\n'
    code = effective(tmp_path, f"{HEAD}{secrets}A.replication.factor = 1\n")
    lines = capsys.readouterr().out.splitlines()

    assert 0 == code
    assert any(
        line.split() == ["bootstrap.servers", "=", "'b:9092'", f"({tmp_path}/mm2.properties:3)"] for line in lines
    )
    assert any("(set by MirrorMaker)" in line for line in lines)
    assert f"  A.replication.factor  ({tmp_path}/mm2.properties:8)" in lines
    assert CANARY not in "\n".join(lines)


@some_of_each
@pytest.mark.parametrize("form", [with_secret_keys, with_secret_forms])
def test_effective_shows_no_secret(form: Callable[[str], Iterator[str]], first: int) -> None:
    """No value under a key of a secret, and no value that looks like one, is shown, also not as an alias."""
    for name, text in some_of(form, first):
        if shows_canary(shown(name, text)):
            assert form is with_secret_keys, text
            assert is_harmless(name, text), text


def shown(name: str, text: str) -> str:
    """Return what `lint --effective` shows of a file; nothing if it is refused."""
    try:
        files = read_mirror_files(name, text)
    except Refused:
        return ""
    readers = readers_of(files)
    return "\n".join(map(str, (*shown_readers(readers), *shown_unread(files, readers))))


def test_effective_is_one_document_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As JSON each group of equal readers has its values, with a line of 0 where MirrorMaker sets one."""
    effective(tmp_path, HEAD, "-o", "json")
    document = json.loads(capsys.readouterr().out)

    (worker,) = (each for each in document["effective"] if each["readers"] == ["the worker A->B"])
    values = {each["key"]: (each["value"], each["line"]) for each in worker["values"]}
    assert (values["bootstrap.servers"], values["group.id"]) == (("'b:9092'", 3), ("'A-mm2'", 0))
    assert [] == document["unread"]
