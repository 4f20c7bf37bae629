"""The validation of the connector's configuration: what is sent, and what Connect's words become."""

from __future__ import annotations

import pytest

from kafka_migration.core.connect.connect_tools import ALL_KEYS
from kafka_migration.core.findings.codes import Code
from kafka_migration.preflight.connect.config_check import PLACEHOLDER, refused_findings, without_secrets

POLICY = "The 'None' policy does not allow 'acks' to be overridden in the connector configuration."


def test_no_plain_secret_is_sent() -> None:
    """A validation has a placeholder for each plain secret; references and everything else stay."""
    reference = "${file:/etc/shop.properties:target}"
    config = {
        "source.cluster.sasl.jaas.config": "PlainLoginModule required password='s3cret';",
        "source.cluster.ssl.keystore.key": "-----BEGIN PRIVATE KEY-----",
        "target.cluster.sasl.jaas.config": reference,
        "target.cluster.bootstrap.servers": "b2:9092",
        "ssl.key.password": "s3cret",
    }

    assert {
        "source.cluster.sasl.jaas.config": PLACEHOLDER,
        "source.cluster.ssl.keystore.key": PLACEHOLDER,
        "target.cluster.sasl.jaas.config": reference,
        "target.cluster.bootstrap.servers": "b2:9092",
        "ssl.key.password": PLACEHOLDER,
    } == without_secrets(config)


def test_words_of_connect_name_their_key() -> None:
    """Each refused key is a finding with Connect's words; if not all workers refuse it, those that do are named."""
    answers: dict[str, dict[str, tuple[str, ...]]] = {
        "http://w1": {"producer.override.acks": (POLICY,)},
        "http://w2": {"producer.override.acks": (POLICY,), "tasks.max": ("Not a number", "Must be non-null")},
    }
    acks, tasks = refused_findings(answers)

    assert (Code.CONNECT_CONFIG_REFUSED, POLICY.replace("'acks'", "a setting")) == (acks.code, acks.found)
    assert ("tasks.max of the connector", "Not a number; Must be non-null (by http://w2)") == (
        tasks.subject,
        tasks.found,
    )
    assert "connector.client.config.override.policy" in acks.remedy


def test_policy_is_one_finding() -> None:
    """All overrides that a policy forbids are one finding with their keys."""
    keys = [f"producer.override.{name}" for name in ("acks", "linger.ms")]
    (finding,) = refused_findings(
        {"http://w1": {key: (POLICY.replace("acks", key.removeprefix("producer.override.")),) for key in keys}}
    )

    assert "producer.override.acks, producer.override.linger.ms of the connector" == finding.subject
    assert "does not allow a setting to be overridden" in finding.found


def test_refusal_of_the_whole_configuration() -> None:
    """What Connect says about no key is about the configuration."""
    (finding,) = refused_findings({"http://w1": {ALL_KEYS: ("Could not read properties from file",)}})

    assert ("the configuration of the connector", True) == (finding.subject, "Could not read" in finding.happened)


@pytest.mark.parametrize("answers", [{}, {"http://w1": {}}])
def test_good_configuration_has_no_finding(answers: dict[str, dict[str, tuple[str, ...]]]) -> None:
    """Workers without a problem have no finding."""
    assert [] == list(refused_findings(answers))
