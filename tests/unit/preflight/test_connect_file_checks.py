"""What a migration file gives to a Kafka Connect cluster: secrets, and no lease."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.secret_properties import SECRET_PROPERTIES
from kafka_migration.core.migration.settings import Cluster
from kafka_migration.migration_file.loading import load_migration
from kafka_migration.preflight.files.connect_file_checks import (
    connect_lease,
    connect_secrets,
    plain_secret_findings,
    unused_reference_findings,
)
from kafka_migration.preflight.scene.check import CheckResult, run_checks
from tests.checked_scene import Deployed, Run, alone, on_connect, scene_of

LOGIN = {
    "bootstrap.servers": "b1:9092",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "ada",
    "sasl.password": "s3cret-of-ada",
}
REFERENCE = "${file:/etc/kafka-connect/shop.properties:source}"
SECRETS = f'    secrets:\n      source: {{sasl.jaas.config: "{REFERENCE}"}}\n'


def settings_of(cluster: Cluster) -> Mapping[str, Any]:
    """Return a login on the source, and none on the target."""
    return LOGIN if cluster.connection == "old_kafka" else {"bootstrap.servers": "b2:9092"}


def result(text: str) -> CheckResult:
    """Return the result of the check of secrets for a migration file."""
    run = Run(load_migration(text, where="shop.yaml"), deployment=Deployed(client_settings=settings_of))
    (found,) = run_checks([alone(connect_secrets)], scene_of(run))
    return found


def test_plain_secret_is_refused(migration_text: str) -> None:
    """A secret of a connection without a reference is refused; the finding names property and side, not the secret."""
    (finding,) = result(on_connect(migration_text)).findings

    assert Code.CONNECT_SECRET_PLAIN is finding.code
    assert ("sasl.jaas.config" in finding.found, "source" in finding.subject) == (True, True)
    assert "s3cret-of-ada" not in str(finding)


def test_reference_is_no_secret(migration_text: str) -> None:
    """A reference through the workers' config provider takes the place of the secret."""
    assert result(on_connect(migration_text).replace("    group:", f"{SECRETS}    group:")).has_passed


def test_plain_secret_may_be_accepted_by_name(migration_text: str) -> None:
    """A file may accept that its secrets are readable, by the name of the code."""
    assert "accepted" == result(f"{on_connect(migration_text)}accept: [CONNECT_SECRET_PLAIN]\n").state


@pytest.mark.parametrize(
    ("properties", "references", "named"),
    [
        ([], {}, ""),
        (["bootstrap.servers", "ssl.truststore.certificates"], {}, ""),
        (["ssl.keystore.key", "ssl.key.password"], {}, "ssl.key.password, ssl.keystore.key"),
        (["ssl.keystore.key", "ssl.key.password"], {"ssl.key.password": REFERENCE}, "ssl.keystore.key"),
        (["sasl.jaas.config"], {"ssl.keystore.key": REFERENCE}, "sasl.jaas.config"),
    ],
)
def test_each_secret_needs_its_own_reference(properties: list[str], references: dict[str, str], named: str) -> None:
    """Each secret property needs a reference; a trusted certificate is no secret."""
    found = [each.found for each in plain_secret_findings("source", "old_kafka", properties, references)]

    assert ([f"{named} without a reference"] if named else []) == found


@pytest.mark.parametrize("name", sorted(SECRET_PROPERTIES))
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_reference_that_replaces_nothing_is_refused(side: Side, name: str) -> None:
    """A reference to a secret that the connection does not have is refused, and names side, property and settings."""
    others = SECRET_PROPERTIES.keys() - {name}
    references = dict.fromkeys(SECRET_PROPERTIES, REFERENCE)
    (finding,) = unused_reference_findings(side, "old_kafka", others, references)

    assert Code.CONNECTION_INVALID is finding.code
    assert f"no {name} for mirror.connect.secrets.{side} to replace" == finding.found
    assert SECRET_PROPERTIES[name] in finding.remedy
    assert [] == list(unused_reference_findings(side, "old_kafka", [*others, name], references))


def test_all_mistakes_of_references_are_refused_together(migration_text: str) -> None:
    """A secret without a reference and a reference without a secret are refused in one answer."""
    secrets = f'    secrets:\n      target: {{ssl.keystore.key: "{REFERENCE}"}}\n'
    found = result(on_connect(migration_text).replace("    group:", f"{secrets}    group:")).findings

    assert [Code.CONNECT_SECRET_PLAIN, Code.CONNECTION_INVALID] == [each.code for each in found]
    assert "(target.connection)" in found[1].subject


def test_the_settings_of_each_secret_give_it_to_java_clients() -> None:
    """A connection with the settings that a refusal names has the property."""
    made = java_properties("c", {**LOGIN, "ssl.key.pem": "k", "ssl.certificate.pem": "c", "ssl.key.password": "p"})

    assert SECRET_PROPERTIES.keys() <= made.keys()


def test_missing_lease_is_said(migration_text: str) -> None:
    """Every run on Kafka Connect is told that nothing stops the connector if Airflow dies, and the command for it."""
    run = Run(load_migration(on_connect(migration_text), where="shop.yaml"))
    (found,) = run_checks([connect_lease], scene_of(run))

    assert ((), [Code.CONNECT_NO_LEASE]) == (found.findings, [each.code for each in found.warnings])
    assert "`kafka-migration stop shop --now`" in found.warnings[0].remedy


@pytest.mark.parametrize("check", [connect_secrets, connect_lease], ids=lambda check: check.name)
def test_checks_are_of_kafka_connect_alone(migration_text: str, check: Any) -> None:
    """With an engine on a host they do not apply, with the reason of the engine."""
    (found,) = run_checks([alone(check)], scene_of(Run(load_migration(migration_text, where="shop.yaml"))))

    assert "process on a host" in str(found.not_applicable)
