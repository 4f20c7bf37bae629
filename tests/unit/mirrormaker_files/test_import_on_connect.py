"""`kafka-migration import` makes migrations on Kafka Connect of connectors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from kafka_migration.core.migration.settings import MirrorSettings
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_import.import_rules import Use
from kafka_migration.mirrormaker_import.imported_flow import ImportChoices
from kafka_migration.mirrormaker_import.proposal import Imported, import_files
from tests.unit.mirrormaker_files.planted_flows import connector

pytestmark = pytest.mark.unit

WORKER = "bootstrap.servers=new-1:9092\ngroup.id=g\nconfig.storage.topic=c\noffset.storage.topic=o\n"
STATUS = "status.storage.topic=s\n"
FILE = "${file:/etc/connect/shop.properties:%s}"
JAAS = {side: f"{side}_cluster_sasl_jaas_config" for side in ("source", "target")}
HOST = ImportChoices(to_mirrormaker2=True)
ON_STRIMZI = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaMirrorMaker2
metadata: {name: copy}
spec:
  connectCluster: new
  clusters:
  - {alias: old, bootstrapServers: "old-1:9092"}
  - {alias: new, bootstrapServers: "new-1:9092"}
  mirrors:
  - {sourceCluster: old, targetCluster: new, topicsPattern: orders, sourceConnector: {tasksMax: 2}}
"""
RESOURCE = """\
apiVersion: kafka.strimzi.io/v1beta2
kind: KafkaConnector
metadata: {name: copy, labels: {strimzi.io/cluster: connect}}
spec:
  class: org.apache.kafka.connect.mirror.MirrorSourceConnector
  tasksMax: 2
  config:
    source.cluster.alias: old
    target.cluster.alias: new
    source.cluster.bootstrap.servers: old-1:9092
    target.cluster.bootstrap.servers: new-1:9092
    topics: orders
"""


def source(**more: str) -> dict[str, Any]:
    return connector("source", topics="orders", **more)


def imported(texts: Mapping[str, str], choices: ImportChoices | None = None) -> Imported:
    files = [file for name, text in texts.items() for file in read_mirror_files(name, text)]
    return import_files(files, "copied", choices=choices or ImportChoices())


def of_source(**more: str) -> Imported:
    return imported({"copy.json": json.dumps(source(**more), indent=1)})


def mirror(found: Imported) -> MirrorSettings:
    return load_migration(found.text, where="copied.yaml").mirror


def use(found: Imported, key: str) -> tuple[Use, str]:
    return next((each.use, each.where) for each in found.uses if each.key == key)


def check(found: Imported, about: str) -> str:
    return next((each.text for each in found.checks if each.about == about), "")


@pytest.mark.parametrize("name", ["request", "configuration", "answer", "resource"])
def test_each_form_of_a_connector_becomes_the_engine(name: str) -> None:
    """The request, the bare configuration, Connect's answer and a resource of Strimzi name one copy."""
    config = source(tasks_max="2")
    texts = {
        "request": json.dumps({"name": "copy", "config": config}),
        "configuration": json.dumps(config),
        "answer": json.dumps({"copy": {"info": {"name": "copy", "config": config, "tasks": []}}}),
        "resource": RESOURCE,
    }
    found = imported({"copy.yaml" if name == "resource" else "copy.json": texts[name]})

    settings = mirror(found)
    assert (settings.engine, settings.connection, settings.tasks) == ("connect", "connect", 2)
    assert found.connections[2].fields["conn_type"] == "http"


def test_without_the_workers_file_the_status_topic_is_marked() -> None:
    """The topic cannot be known from a connector: the file has a usual name with a remark, and the check says so."""
    found = of_source()

    assert 'status_topic: "connect-status"  # not in the files: write status.storage.topic of the workers' in found.text
    assert "mirror.connect.status_topic" in check(found, "Connect cluster")
    assert yaml.safe_load(found.text)["mirror"]["connect"] == {"status_topic": "connect-status"}


def test_the_workers_file_gives_the_section() -> None:
    """Topics and group are those of the workers, who keep their other settings."""
    worker = f"{WORKER}{STATUS}offset.flush.interval.ms=9000\nproducer.batch.size=9\nplugin.path=/x\n"
    found = imported({"connect-distributed.properties": worker, "copy.json": json.dumps(source())})

    given = mirror(found).connect
    assert given is not None
    assert (given.status_topic, given.config_topic, given.offset_topic, given.group) == ("s", "c", "o", "g")
    assert "status_topic" not in check(found, "Connect cluster")
    assert use(found, "status.storage.topic") == (Use.USED, "mirror.connect.status_topic")
    for key in ("offset.flush.interval.ms", "plugin.path"):
        assert use(found, key) == (Use.USED, "the workers, which keep it")
    assert mirror(found).properties == {"producer.batch.size": "9"}


@pytest.mark.parametrize("status", ["status.storage.topic=${STATUS}\n", "status.storage.topic=o\n", ""])
def test_a_status_topic_that_the_file_does_not_give_is_marked(status: str) -> None:
    """A variable, or a topic with another purpose, is no status topic."""
    found = imported({"w.properties": f"{WORKER}{status}", "copy.json": json.dumps(source())})

    given = mirror(found).connect
    assert given is not None
    assert given.status_topic == ("o" if "=o" in status else "connect-status")
    assert ("status_topic" in check(found, "Connect cluster")) == ("=o" not in status)


def test_references_to_logins_are_kept() -> None:
    """A reference of each side goes to its place; the connection of the side needs the value itself."""
    login = {"cluster_security_protocol": "SASL_SSL", "cluster_sasl_mechanism": "PLAIN"}
    more = {f"{side}_{key}": value for side in JAAS for key, value in login.items()}
    found = of_source(**more, **{JAAS[side]: FILE % side for side in JAAS})

    given = mirror(found).connect
    assert given is not None
    assert given.secrets == {side: {"sasl.jaas.config": FILE % side} for side in JAAS}
    where = "mirror.connect.secrets.source; put the value itself into the connection of the source"
    assert use(found, "source.cluster.sasl.jaas.config") == (Use.USED, where)
    assert "<PASSWORD>" in found.connections[0].command()


@pytest.mark.parametrize(
    "value",
    [
        "a.Login required username='u' password='${file:/x:y}';",
        "${PASSWORD}",
        "{{ login }}",
        "${file:/x:eyJhbGciOiJIUzI1NiJ9}",
        "${a:b}${c:d}",
    ],
)
def test_other_references_are_reported(value: str) -> None:
    """Only a reference to the whole value, which hides nothing but a secret, can be kept."""
    found = of_source(**{JAAS["source"]: value})

    kind, where = use(found, "source.cluster.sasl.jaas.config")
    assert (kind, "mirror.connect.secrets.source" in where) == (Use.REPORTED, True)
    assert "secrets" not in yaml.safe_load(found.text)["mirror"]["connect"]
    assert value not in found.text


def test_references_of_other_connectors_are_not_taken() -> None:
    """The secrets are those of the connector that copies, not of the one that writes checkpoints."""
    checkpoints = connector("checkpoint", **{JAAS["source"]: FILE % "other"})
    found = imported(
        {"a.json": json.dumps(source(**{JAAS["source"]: FILE % "own"})), "b.json": json.dumps(checkpoints)}
    )

    given = mirror(found).connect
    assert given is not None
    assert given.secrets == {"source": {"sasl.jaas.config": FILE % "own"}}


@pytest.mark.parametrize(("value", "is_on"), [("required", True), ("requested", False)])
def test_exactly_once_of_a_connector(value: str, is_on: bool) -> None:
    """A connector that requires exactly-once becomes a copy in transactions."""
    assert mirror(of_source(exactly_once_support=value)).exactly_once is is_on


@pytest.mark.parametrize(
    ("texts", "choices"),
    [
        ({"copy.json": json.dumps(source())}, HOST),
        ({"mm2.yaml": ON_STRIMZI}, None),
        (
            {
                "w.properties": "offset.storage.file.filename=/x\nbootstrap.servers=n:1\n",
                "c.json": json.dumps(source()),
            },
            None,
        ),
    ],
)
def test_what_stays_on_a_host(texts: Mapping[str, str], choices: ImportChoices | None) -> None:
    """By choice, for Strimzi's own MirrorMaker 2, and for a worker in standalone mode a host copies."""
    found = imported(texts, choices)

    assert (mirror(found).engine, mirror(found).connect) == ("mirrormaker2", None)
    assert found.connections[2].fields["conn_type"] == "ssh"
    assert check(found, "Connect cluster") == ""
