"""The section `mirror.connect`: which engine has it, what it says, and what this engine lacks."""

from __future__ import annotations

import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.migration.settings import ConnectSettings
from kafka_migration.migration_file.json_schema import migration_schema
from kafka_migration.migration_file.loading import load_migration
from tests.conftest import MIGRATION_TEXT
from tests.connect_files import CONNECT_TEXT

SCHEMA = Draft202012Validator(migration_schema())
REFERENCE = "${file:/etc/kafka-connect/shop.properties:source}"
# Each field that Kafka Connect lacks, with a good value and what a refusal says.
REFUSED = {
    "restarts": ("0", "so the run has its own limit of failures"),
    "lease": ("10m", "so nothing keeps a lease"),
    "heap_mb": ("1024", "so the workers have their own heap"),
    "kafka_home": ("/opt/kafka", "so the workers have their own Kafka"),
    "java_home": ("/opt/java", "so the workers have their own Java"),
    "stop_grace": ("90s", "so nothing can end its tasks by force"),
}


def findings_of(text: str) -> list[Finding]:
    """Return the findings with which a file is refused; none if it is valid."""
    try:
        load_migration(text, where="shop.yaml")
    except Refused as refused:
        return list(refused.findings)
    return []


def is_taken_by_schema(text: str) -> bool:
    """Return whether editors take the file."""
    return next(SCHEMA.iter_errors(yaml.safe_load(text)), None) is None


def with_mirror(line: str) -> str:
    """Return the file with a further line of `mirror`."""
    return CONNECT_TEXT.replace("  engine: connect\n", f"  engine: connect\n  {line}\n")


def with_connect(line: str) -> str:
    """Return the file with a further line of `mirror.connect`."""
    return CONNECT_TEXT.replace("    status_topic: ", f"    {line}\n    status_topic: ")


def test_smallest_section_is_frozen() -> None:
    """Only the topic of the workers' states is required; everything else is unknown, and no secret has a reference."""
    mirror = load_migration(CONNECT_TEXT, where="shop.yaml").mirror

    assert mirror.connect == ConnectSettings("connect-status", None, None, None, {})
    assert mirror.abilities.title == "Kafka Connect"


def test_whole_section_is_frozen() -> None:
    """Each field is in the frozen value, secrets by side; a side without references is missing."""
    text = with_connect("config_topic: connect-configs")
    text = text.replace("config_topic", f"secrets: {{source: {{sasl.jaas.config: '{REFERENCE}'}}}}\n    config_topic")
    text = text.replace("config_topic", "offset_topic: connect-offsets\n    group: my workers\n    config_topic")

    assert load_migration(text, where="shop.yaml").mirror.connect == ConnectSettings(
        "connect-status",
        "connect-configs",
        "connect-offsets",
        "my workers",
        {"source": {"sasl.jaas.config": REFERENCE}},
    )


@pytest.mark.parametrize(("field", "value", "reason"), [(field, *each) for field, each in REFUSED.items()])
def test_field_of_a_host_is_refused_with_its_reason(field: str, value: str, reason: str) -> None:
    """A field that only a MirrorMaker host has is refused by file and schema if it is given, also with its default."""
    text = with_mirror(f"{field}: {value}")
    (finding,) = findings_of(text)

    assert f"shop.yaml: mirror.{field}" == finding.subject
    assert finding.expected == f"no such field, because Kafka Connect has no MirrorMaker host, {reason}"
    assert finding.remedy.startswith("Remove it: ")
    assert not is_taken_by_schema(text)


def test_every_refused_field_is_one_finding() -> None:
    """All of them are named at once."""
    text = CONNECT_TEXT
    for field, (value, _) in REFUSED.items():
        text = text.replace("  engine: connect\n", f"  engine: connect\n  {field}: {value}\n")

    assert {f"shop.yaml: mirror.{field}" for field in REFUSED} == {finding.subject for finding in findings_of(text)}


@pytest.mark.parametrize("field", ["kafka_home", "java_home"])
def test_null_is_no_value(field: str) -> None:
    """A field without a value says nothing, so it is taken."""
    text = with_mirror(f"{field}: null")

    assert [] == findings_of(text)
    assert is_taken_by_schema(text)


@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1", None])
def test_other_engines_have_no_such_section(engine: str | None) -> None:
    """The section is refused with each other engine, also with the default one; null is no section."""
    named = "" if engine is None else f"  engine: {engine}\n"
    text = CONNECT_TEXT.replace("  engine: connect\n", named)
    (finding,) = findings_of(text)
    without = MIGRATION_TEXT.replace("  tasks: 2\n", f"  tasks: 2\n  connect: null\n{named}")

    assert finding.subject == "shop.yaml: mirror.connect"
    assert finding.expected.endswith("is a process on a host; engine connect uses a Kafka Connect cluster")
    assert not is_taken_by_schema(text)
    assert [] == findings_of(without)
    assert is_taken_by_schema(without)


@pytest.mark.parametrize("section", ["", "  connect: null\n"])
def test_section_is_required(section: str) -> None:
    """Without the section the file does not say where the states of the tasks are."""
    text = MIGRATION_TEXT.replace("  tasks: 2\n", f"  engine: connect\n{section}")
    (finding,) = findings_of(text)

    assert finding.subject == "shop.yaml: mirror.connect"
    assert finding.happened == "The required field mirror.connect is missing."
    assert not is_taken_by_schema(text)


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("config_topic: 'a b'", "config_topic"),
        ("offset_topic: 1", "offset_topic"),
        ("group: ''", "group"),
        ("flush: 60s", "flush"),
        ("secrets: {source: {sasl.jaas.config: plain}}", "secrets.source.sasl.jaas.config"),
        ("secrets: {source: {sasl.jaas.config: 'a ${file:/a:b}'}}", "secrets.source.sasl.jaas.config"),
        ("secrets: {source: {sasl.jaas.config: '${a}'}}", "secrets.source.sasl.jaas.config"),
        ("secrets: {source: {ssl.keystore.password: '${file:/a:b}'}}", "secrets.source.ssl.keystore.password.[key]"),
        ("secrets: {other: {}}", "secrets.other"),
    ],
)
def test_wrong_value_is_refused(line: str, place: str) -> None:
    """File and schema refuse names that Kafka refuses, unknown fields, and secrets that are no reference."""
    text = with_connect(line)
    (finding,) = findings_of(text)

    assert f"shop.yaml: mirror.connect.{place}" == finding.subject
    assert not is_taken_by_schema(text)


def test_a_secret_in_the_file_is_not_shown() -> None:
    """A secret that was written in place of a reference is in no finding."""
    (finding,) = findings_of(with_connect("secrets: {target: {sasl.jaas.config: 'CANARY-4711'}}"))

    assert "CANARY" not in repr(finding)
    assert "a reference through a config provider of the workers" in finding.expected


@pytest.mark.parametrize(
    ("line", "field"),
    [("config_topic: connect-status", "config_topic"), ("offset_topic: connect-status", "offset_topic")],
)
def test_topics_of_the_workers_differ(line: str, field: str) -> None:
    """The workers have one topic for each purpose, so one name for two of them is a mistake."""
    text = CONNECT_TEXT.replace("    status_topic: connect-status", f"    status_topic: connect-status\n    {line}")
    (finding,) = findings_of(text)

    assert f"shop.yaml: mirror.connect.{field}" == finding.subject
    assert "another topic than status_topic" in finding.expected


def test_connection_is_of_type_http() -> None:
    """The connection of a Connect cluster may be that of a registry, which is HTTP too, but not that of a cluster."""
    registries = "schema_registry: {source: a, target: shop_connect}\n"
    (finding,) = findings_of(CONNECT_TEXT.replace("connection: shop_connect", "connection: old_kafka"))

    assert [] == findings_of(CONNECT_TEXT + registries)
    assert "a connection of type http; source.connection uses this one with type kafka" == finding.expected


def test_a_lease_that_nothing_keeps_is_not_compared() -> None:
    """A long pause between polls is refused for other times, not for the default of a lease that is not there."""
    text = CONNECT_TEXT.replace("poll_interval: 1s", "poll_interval: 6m").replace("stall_after: 60s", "stall_after: 1h")

    assert [] == findings_of(text.replace("time_limit: 10m", "time_limit: 6h"))


@pytest.mark.parametrize(
    ("line", "is_taken"),
    [
        ("exactly_once: true", True),
        ("topic_names: {naming: prefixed}", True),
        ("properties: {producer.compression.type: zstd}", True),
        ("exactly_once: true\n  isolation_level: read_uncommitted", False),
    ],
)
def test_it_copies_as_mirrormaker_2_does(line: str, is_taken: bool) -> None:
    """Names, transactions and tuning are those of MirrorMaker 2, and so is the rule of Kafka between two of them."""
    text = with_mirror(line)

    assert is_taken is ([] == findings_of(text))
    assert is_taken is is_taken_by_schema(text)


def test_partitions_cannot_be_chosen() -> None:
    """Another number of partitions is refused, because the connector keeps those of the source."""
    text = CONNECT_TEXT.replace("[orders, audit]", "[{name: orders, partitions: 3}]")
    (finding,) = findings_of(text)

    assert finding.expected == "no such field, because Kafka Connect keeps the partitions of the source"
    assert not is_taken_by_schema(text)


def test_schema_describes_the_section() -> None:
    """Editors complete the fields of the section and the properties that may be secrets."""
    definitions = json.loads(json.dumps(SCHEMA.schema))["$defs"]

    assert {"status_topic", "config_topic", "offset_topic", "group", "secrets"} == set(
        definitions["ConnectModel"]["properties"]
    )
    assert ["status_topic"] == definitions["ConnectModel"]["required"]
