"""Rules of the section `mirror` of a migration file: what goes together, and which tuning is taken."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.migration.client_tuning import OWNERS, TUNING_KEYS, tuning_problem
from kafka_migration.migration_file.loading import load_migration

ENGINES_PAGE = (Path(__file__).parents[3] / "docs" / "engines.md").read_text()


def golden(name: str) -> str:
    return (Path(__file__).parents[1] / "engines" / "golden" / f"{name}.properties").read_text()


def findings_of(migration_text: str, mirror: str, source: str = "") -> tuple[Finding, ...]:
    text = migration_text.replace("  tasks: 2\n", f"  tasks: 2\n{mirror}").replace(
        "old_kafka\n", f"old_kafka\n{source}"
    )
    try:
        load_migration(text, where="shop.yaml")
    except Refused as refused:
        return refused.findings
    return ()


@pytest.mark.parametrize(
    ("mirror", "subject", "part"),
    [
        ("  engine: mirrormaker1\n  topic_names: {naming: prefixed}\n", "mirror.topic_names", "cannot rename"),
        ("  engine: mirrormaker1\n  exactly_once: true\n", "mirror.exactly_once", "at least once"),
        ("  isolation_level: read_uncommitted\n  exactly_once: true\n", "mirror.exactly_once", "read_uncommitted"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    migration_text: str, mirror: str, subject: str, part: str
) -> None:
    """What the chosen MirrorMaker cannot do is found in the file, before anything runs."""
    (finding,) = findings_of(migration_text, mirror)

    assert f"shop.yaml: {subject}" == finding.subject
    assert part in finding.expected


def test_source_alias_is_not_the_targets(migration_text: str) -> None:
    """One name for both clusters would make one cluster of them."""
    (finding,) = findings_of(migration_text, "", "  alias: shop-target\n")

    assert "an alias other than shop-target" in finding.expected
    assert () == findings_of(migration_text, "", "  alias: east\n")


def test_source_alias_is_no_word_of_mirrormakers_settings(migration_text: str) -> None:
    """`replication.factor` would become a setting of a cluster called replication."""
    (finding,) = findings_of(migration_text, "", "  alias: replication\n")
    assert "an alias other than replication" in finding.expected


@pytest.mark.parametrize(
    ("key", "part"),
    [
        ("producer.liner.ms", "did you mean 'producer.linger.ms'?"),
        ("producer.acks", "producer.acks is set by the profile"),
        ("consumer.isolation.level", "set by mirror.isolation_level"),
        ("producer.max.request.size", "set by the smallest max.message.bytes"),
        ("consumer.ssl.truststore.location", "set by the Airflow connection"),
        ("producer.transactional.id", "set by mirror.exactly_once"),
        ("consumer.zzz", "a supported tuning key of Kafka's clients"),
    ],
)
def test_other_properties_are_refused_with_their_owner(migration_text: str, key: str, part: str) -> None:
    """Each wrong key is a finding that says who sets it, or which key may have been meant."""
    (finding,) = findings_of(migration_text, f"  properties: {{{key}: '1', producer.linger.ms: '5'}}\n")

    assert f"mirror.properties.{key}" in finding.subject
    assert part in finding.expected


def test_known_tuning_is_taken(migration_text: str) -> None:
    """A file may have every key of the list, with a value that Kafka accepts."""
    values = {
        "check.crcs": "true",
        "client.dns.lookup": "use_all_dns_ips",
        "compression.type": "zstd",
        "metadata.max.idle.ms": "5000",
    }
    lines = "".join(f"    {key}: '{values.get(key.partition('.')[2], '1')}'\n" for key in TUNING_KEYS)

    assert () == findings_of(migration_text, f"  properties:\n{lines}")
    assert [] == [key for key in TUNING_KEYS if key in OWNERS or tuning_problem(key)]


def test_what_the_profiles_set_cannot_be_tuned() -> None:
    """Every client setting in a rendered file has one owner; only the sizes of buffers are shared with the file."""
    kept = re.findall(r"^shop-\w+\.((?:consumer|producer)\.\S+) =", golden("mm2"), re.MULTILINE)
    for client in ("consumer", "producer"):
        kept += [f"{client}.{key}" for key in re.findall(r"^(\S+) =", golden(client), re.MULTILINE)]

    assert {
        "consumer.fetch.max.bytes",
        "consumer.max.partition.fetch.bytes",
        "consumer.receive.buffer.bytes",
        "producer.batch.size",
        "producer.buffer.memory",
        "producer.linger.ms",
        "producer.send.buffer.bytes",
    } == {key for key in kept if tuning_problem(key) is None}


def test_every_tuning_key_is_documented() -> None:
    """The page lists what may be tuned."""
    names = {key.partition(".")[2] for key in TUNING_KEYS}

    assert set() == {name for name in names if f"`{name}`" not in ENGINES_PAGE}


@pytest.mark.parametrize("example", re.findall(r"```yaml\n(.*?)```", ENGINES_PAGE, re.DOTALL))
def test_documented_files_are_valid(example: str) -> None:
    """Every migration file on the page can be used unchanged."""
    assert load_migration(example, where="docs/engines.md").topics
