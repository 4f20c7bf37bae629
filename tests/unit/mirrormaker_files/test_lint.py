"""The rules of `kafka-migration lint`."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from kafka_migration.core.findings.errors import Refused
from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.lint_codes import LintCode, Severity
from kafka_migration.mirrormaker_files.model.lint_finding import LintFinding
from kafka_migration.mirrormaker_files.reading.any_file import read_mirror_files
from kafka_migration.mirrormaker_files.rules.linter import lint
from tests.unit.mirrormaker_files.planted import CLEAN, CONSUMER, HEAD, PLANTED, START
from tests.unit.mirrormaker_files.planted_flows import PLANTED_FLOWS
from tests.unit.mirrormaker_files.reading import read_mirror_file

pytestmark = pytest.mark.unit


def found(name: str, text: str, version: str = "") -> list[LintFinding]:
    return lint(read_mirror_files(name, text), kafka_keys(), version)


def places(findings: Sequence[LintFinding], hints: Collection[str] = ()) -> list[str]:
    """Return line and code of each finding; of the hints only those that are named."""
    named = [(f"{each.line or 'file'} {each.code}", each.code.severity) for each in findings]
    return sorted(name for name, severity in named if severity is not Severity.INFO or name in hints)


ALL_PLANTED = {**PLANTED, **PLANTED_FLOWS}


@pytest.mark.parametrize("name", ALL_PLANTED)
def test_planted_mistakes_are_found(name: str) -> None:
    """Each planted mistake has its finding with its line, and there is no other error or warning."""
    text, planted = ALL_PLANTED[name]

    assert places(found(name, text), planted) == sorted(planted)


@pytest.mark.parametrize("name", CLEAN)
def test_clean_files_are_silent(name: str) -> None:
    """A file without a mistake has no error and no warning."""
    assert places(found(name, CLEAN[name])) == []


def test_each_code_has_a_test() -> None:
    """No code exists that no planted mistake and no test of this folder names."""
    texts = "".join(path.read_text() for path in Path(__file__).parent.glob("*.py"))

    assert [code for code in LintCode if not re.search(rf"\b{code}\b", texts)] == []


def test_no_secret_is_shown() -> None:
    """No finding shows the value of a key that may hold a secret."""
    text, _ = PLANTED["secrets.properties"]

    assert "planted-secret" not in "".join(map(str, found("secrets.properties", text)))


@pytest.mark.parametrize(
    ("version", "text", "expected"),
    [
        ("2.4", f"{HEAD}topics.blacklist = x\n", []),
        ("2.4", f"{HEAD}topics.exclude = x\n", ["6 KEY_OF_ANOTHER_VERSION"]),
        ("2.6", f"{HEAD}sync.group.offsets.enabled = true\n", ["6 KEY_OF_ANOTHER_VERSION"]),
        ("2.7", f"{HEAD}sync.group.offsets.enabled = true\n", []),
        ("3.9", f"{HEAD}topics.blacklist = x\n", []),
        ("4.0", f"{HEAD}topics.blacklist = x\n", ["6 KEY_OF_ANOTHER_VERSION"]),
        ("2.8", f"{HEAD}replication.policy.class = org.apache.kafka.connect.mirror.IdentityReplicationPolicy\n",
         ["6 CLASS_OF_ANOTHER_VERSION"]),
        ("3.9", CONSUMER, []),
        ("4.0", CONSUMER, ["file MIRRORMAKER1_REMOVED"]),
        ("2.8", f"{START} --include 'a'\n", ["1 OPTION_OF_ANOTHER_VERSION"]),
        ("3.0", f"{START} --include 'a'\n", []),
    ],
)  # fmt: skip
def test_a_named_version_decides_about_keys(version: str, text: str, expected: list[str]) -> None:
    """With a named version, a key, class or option of other versions is an error."""
    name = "consumer.properties" if text == CONSUMER else "file"

    assert places(found(name, text, version)) == expected


def test_the_files_of_mirrormaker1_are_compared_with_each_other() -> None:
    """A producer that writes to the consumer's cluster is a loop."""
    producer = read_mirror_file("producer.properties", "bootstrap.servers=old-1:9092\nlinger.ms=5\n")
    findings = lint([read_mirror_file("consumer.properties", CONSUMER), producer], kafka_keys())

    assert [(each.file, each.code) for each in findings] == [("producer.properties", LintCode.LOOP)]


@pytest.mark.parametrize(
    ("name", "text", "found_text"),
    [
        ("empty", "", "an empty file"),
        ("blank", "\ufeff \n\t\n", "an empty file"),
        ("words.txt", "hello world\n", "a file of an unknown kind"),
        ("broken.json", '{"connector.class": ', "Expecting value, column 21"),
        ("other.json", '{"name": "x"}', "no configuration with connector.class"),
        ("other.yaml", "kind: KafkaUser\nspec: {}\n", "only other resources (kind KafkaUser)"),
        ("deep.json", "[" * 100_000, "more than 50 levels"),
        ("quote.sh", f"{START} --whitelist 'open\n", "No closing quotation"),
    ],
)
def test_unreadable_files_are_refused(name: str, text: str, found_text: str) -> None:
    """A text that is no MirrorMaker file is one refusal with its reason."""
    with pytest.raises(Refused) as refused:
        read_mirror_file(name, text)

    assert [finding.code for finding in refused.value.findings] == ["MIRROR_FILE_UNREADABLE"]
    assert found_text in refused.value.findings[0].found
