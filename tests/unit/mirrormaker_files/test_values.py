"""What Kafka's definitions accept, and the findings about single values."""

from __future__ import annotations

import pytest

from kafka_migration.kafka_tables.accepted import accepted_of, items_of, wrong_value
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.ground.java_patterns import DEEPEST, judge
from kafka_migration.mirrormaker_files.line_rules.pattern_rules import corrected
from kafka_migration.mirrormaker_files.model.lint_finding import minor
from tests.unit.mirrormaker_files.java_samples import INVALID, NOT_JUDGED, VALID
from tests.unit.mirrormaker_files.planted import HEAD
from tests.unit.mirrormaker_files.test_lint import found

pytestmark = pytest.mark.unit

REPLICAS = "min=1;also=-1"


@pytest.mark.parametrize(
    ("kind", "accepted", "right", "wrong"),
    [
        ("BOOLEAN", "", ["true", " FALSE ", "False"], ["yes", "1", "", "true\u00a0"]),
        ("INT", "", ["2147483647", "-2147483648", "+5", "\t7\x00"], ["2147483648", "1e3", "5\u00a0", "", "1_000"]),
        ("LONG", "min=0", ["9223372036854775807", "0"], ["9223372036854775808", "-1"]),
        ("SHORT", REPLICAS, ["-1", "1", "32767"], ["0", "-2", "32768"]),
        ("DOUBLE", "min=0.5;max=1.0", ["0.5", "1", ".75", "1.0f"], ["0.4", "1.1", "half"]),
        ("STRING", "words=all|0", ["all", " 0 "], ["All", "2", ""]),
        ("STRING", "words=SSL|SASL_SSL;anycase", ["ssl", "Sasl_Ssl"], ["TLS"]),
        ("STRING", "words=latest|by_duration:PT1S", ["by_duration:P3D", "latest"], ["by_duration:x", "P3D"]),
        ("STRING", "words=latest", ["latest"], ["by_duration:P3D"]),
        ("STRING", "nonempty", ["x"], ["", "  "]),
        ("LIST", "words=a|b", ["a", "a, b", ""], ["a,c", "a,"]),
        ("LIST", "nonempty;distinct;noblank", ["a,b"], ["", "a,a", "a,", ",a"]),
        ("CLASS", "", ["anything"], []),
    ],
)
def test_values_are_judged_as_kafka_parses_them(kind: str, accepted: str, right: list[str], wrong: list[str]) -> None:
    """A value is refused if Java cannot read it as the type of its key, or if the validator refuses it."""
    judged = {value: wrong_value(kind, accepted_of(accepted), value) for value in (*right, *wrong)}

    assert [value for value, reason in judged.items() if reason] == wrong


def test_each_default_of_kafka_is_accepted() -> None:
    """Each version accepts its own defaults, so that the table is read rightly."""
    keys = kafka_keys()
    refused = [
        (role, key.name, version, default)
        for role in ("producer", "consumer", "admin", "connect_worker", "connect_source", "mirror_source")
        for key in keys.of(role)
        for version in map(minor, key.versions)
        # An empty default stands for none, or for an empty list.
        if (default := key.default(version)) and key.wrong_value(default, version)
    ]
    assert refused == []


@pytest.mark.parametrize(
    ("role", "name", "value", "version", "is_refused"),
    [
        ("consumer", "security.protocol", "sasl_ssl", "3.3", True),
        ("consumer", "security.protocol", "sasl_ssl", "3.5", False),
        ("consumer", "security.protocol", "SASL_SLL", "2.4", True),
        ("consumer", "client.dns.lookup", "default", "2.8", False),
        ("consumer", "client.dns.lookup", "default", "3.9", True),
        ("consumer", "client.dns.lookup", "default", "", False),
        ("consumer", "auto.offset.reset", "by_duration:P1D", "3.9", True),
        ("consumer", "auto.offset.reset", "by_duration:P1D", "4.1", False),
        ("consumer", "bootstrap.servers", "a:1,a:1", "4.1", False),
        ("consumer", "bootstrap.servers", "a:1,a:1", "4.2", True),
        ("connect_worker", "config.storage.replication.factor", "-1", "2.4", True),
        ("connect_worker", "config.storage.replication.factor", "-1", "2.6", False),
        ("producer", "compression.type", "gz", "", True),
        ("mirror_source", "tasks.max", "0", "", True),
    ],
)
def test_a_version_decides_about_values(role: str, name: str, value: str, version: str, is_refused: bool) -> None:
    """A value is judged by the definition of the version; without a version it is wrong if every version refuses it."""
    key = kafka_keys().get(role, name)

    assert key is not None
    assert (key.wrong_value(value, version) is not None) is is_refused


@pytest.mark.parametrize(
    "address",
    [
        *("old-1:9092", "PLAINTEXT://old-1:9092", "[::1]:9092", "fe80::1%eth0:9092", "old_1.example.com:65535"),
        *("${BROKER}:9092", "old-1:9092,", "b-1.msk.eu-west-1.amazonaws.com:9098", "${file:/x:y}", "xxl-broker:9092"),
    ],
)
def test_right_addresses_are_silent(address: str) -> None:
    """What Kafka's clients connect to, and what is filled in later, is no finding about an address."""
    codes = {str(each.code) for each in found("x.properties", HEAD.replace("old-1:9092, old-2:9092", address))}

    assert not {code for code in codes if code.startswith("ADDRESS")}


@pytest.mark.parametrize(
    ("address", "code"),
    [
        *((text, "ADDRESS_REFUSED") for text in ("old-1", "old-1:", ":9092", "old-1:0", "old-1:99999", "", " , ")),
        *((text, "ADDRESS_REFUSED") for text in ("a:9092;b:9092", "a:9092 b:9092", "a:9092:9093", "a:9092/x", "[::1]")),
        *((text, "ADDRESS_PLACEHOLDER") for text in ("<broker>:9092", "your-broker:9092", "CHANGEME:9092")),
        *((text, "ADDRESS_PLACEHOLDER") for text in ("SOURCE_BROKERS", "xxx.example.com:9092")),
        ("https://old-1:9092", "ADDRESS_SCHEME"),
    ],
)
def test_wrong_addresses_are_found(address: str, code: str) -> None:
    """Each address that Kafka refuses, or that cannot be meant, has one finding on its line."""
    findings = found("x.properties", HEAD.replace("old-1:9092, old-2:9092", address))

    assert [(each.line, str(each.code)) for each in findings if each.code.startswith("ADDRESS")] == [(2, code)]


def test_samples_of_java_are_judged() -> None:
    """Patterns that Java accepts have no refusal, those that it refuses have one, and other syntax is unknown."""
    assert [pattern for pattern in VALID if judge(pattern).refusal] == []
    assert [pattern for pattern in INVALID if not judge(pattern).refusal] == []
    assert [pattern for pattern in NOT_JUDGED if judge(pattern).is_known] == []


@pytest.mark.parametrize("part", ["(", "[", "(?:", "[&&", "((?=", "\\Q", "a{1}", "(?<n"])
def test_long_patterns_are_judged_without_recursion_errors(part: str) -> None:
    """A pattern of any depth is judged, or is unknown."""
    assert isinstance(judge(part * 5_000).is_known, bool)


def test_patterns_deeper_than_the_bound_are_unknown() -> None:
    """A pattern that may overflow Java's stack is not called valid."""
    assert judge("(" * DEEPEST + ")" * DEEPEST).is_known
    assert not judge("(" * (DEEPEST + 1) + ")" * (DEEPEST + 1)).is_known


@pytest.mark.parametrize(
    ("written", "better"),
    [
        ('"*.internal,__.*"', ".*[.]internal,__.*"),
        ("shop*", "shop.*"),
        ("*", ".*"),
        ("__*", "__.*"),
        ("orders-\\d*", "orders-\\d*"),
        ("[a-z*]+", "[a-z*]+"),
        ("orders", "orders"),
    ],
)
def test_patterns_of_file_names_are_translated(written: str, better: str) -> None:
    """The translation of a file name pattern repairs quotes and stars at once; a right pattern stays."""
    assert corrected(written) == better


@pytest.mark.parametrize("pattern", ["orders-\\\\d*", "[a-z*]+", "[\\-\\.]x", "(a,b)", "a(?i)b", "x+,y?"])
def test_right_patterns_are_silent(pattern: str) -> None:
    """Patterns that Java reads as they are meant are no finding, also if a comma within parentheses joins two."""
    codes = [str(each.code) for each in found("x.properties", f"{HEAD}old->new.groups = {pattern}\n") if each.line == 6]

    assert codes == []


@pytest.mark.parametrize(
    ("line", "is_secret"),
    [
        ("old.ssl.truststore.password = x", True),
        ("old.ssl.truststore.password = ${file:/x:y}", False),
        ("old.ssl.truststore.password = ${A}${B}", False),
        ("old.ssl.truststore.password = abc${file:/x:y}", True),
        ("old.ssl.keystore.key = -----BEGIN PRIVATE KEY-----", True),
        ("old.ssl.truststore.certificates = -----BEGIN CERTIFICATE-----", False),
        ("old.sasl.jaas.config = a.B required username=u password=x;", True),
        ('old.sasl.jaas.config = a.B required username="u" password="${env:P}";', False),
        ('old.sasl.jaas.config = a.B required username="${env:U}" password="x";', True),
        ('old.sasl.jaas.config = a.B required username=\\"u\\" password=\\"x\\";', True),
        ("old.sasl.jaas.config = a.B required useTicketCache=true;", False),
        ("config.providers.vault.param.token = x", True),
        ("config.providers.vault.param.token.path = /run/token", False),
    ],
)
def test_secrets_as_plain_text_are_found(line: str, is_secret: bool) -> None:
    """A plain secret is found, alone or beside a reference; references and public values are none."""
    codes = [str(each.code) for each in found("x.properties", f"{HEAD}{line}\n")]

    assert ("SECRET_IN_FILE" in codes) is is_secret


def test_items_are_split_as_kafka_splits_them() -> None:
    """Blanks around commas do not count, empty items do, and a blank value has no item."""
    assert items_of(" a , b,,") == ["a", "b", "", ""]
    assert items_of("  ") == []
