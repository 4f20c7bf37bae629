"""Rules of the SASL mechanisms: what a login is stands in its row."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kafka_migration.core.connections.client_settings import OAUTH_CALLBACK, OAUTH_ENDPOINT, SETTINGS
from kafka_migration.core.connections.connection_checks import connection_findings
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.connections.mechanisms import LOGIN_SETTINGS, MECHANISMS, mechanism_named
from kafka_migration.core.discovery.connections_to_create import kafka_extra
from kafka_migration.core.discovery.described_cluster import Entrance
from kafka_migration.core.discovery.presets import Preset
from tests.syntax import nodes_of

PACKAGE = Path(__file__).parents[3] / "plugins" / "kafka_migration"
HOME = "core/connections/client_settings.py"
# The linter stands alone: what Kafka and Strimzi know is a fact of its own.
WITHOUT = ("mirrormaker_files/",)
# Values that fit where a placeholder is.
KNOWN = {
    "sasl.kerberos.principal": "me@EXAMPLE.COM",
    "sasl.kerberos.keytab": "/etc/me.keytab",
    OAUTH_ENDPOINT: "https://login.example/token",
}


def test_only_one_table_names_mechanisms() -> None:
    """Every other module asks the row, so a new mechanism is one row."""
    named = {
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in nodes_of(path)
        if isinstance(node, ast.Constant) and node.value in MECHANISMS
    }

    outside = {place for place in named if not place.startswith((HOME, *WITHOUT))}
    assert set() == outside


@pytest.mark.parametrize("name", MECHANISMS)
def test_placeholders_are_a_whole_login(name: str) -> None:
    """A proposed connection has every setting that the login needs, and none that it does not use."""
    row = MECHANISMS[name]
    extra = row.placeholders({})

    assert name == extra["sasl.mechanism"]
    assert set(row.needs) <= extra.keys() <= {"sasl.mechanism", *row.settings}
    assert {*row.settings} <= SETTINGS.keys() & {*LOGIN_SETTINGS}


@pytest.mark.parametrize("name", MECHANISMS)
def test_filled_placeholders_pass_the_checks_and_reach_java(name: str) -> None:
    """What discovery and import propose is accepted as soon as a person has filled in the rest."""
    row = MECHANISMS[name]
    login = {key: value.replace("<", "a ").replace(">", "") for key, value in row.placeholders(KNOWN).items()}
    config = {"bootstrap.servers": "b:9093", "security.protocol": "SASL_SSL", **login}

    assert () == connection_findings("c", config, (), lambda _: True, [KNOWN[OAUTH_ENDPOINT]])
    properties = java_properties("c", config)
    assert name == properties["sasl.mechanism"]
    assert properties["sasl.jaas.config"].startswith(f"{row.login_module} required ")


@pytest.mark.parametrize("name", MECHANISMS)
def test_what_a_login_lacks_is_named(name: str) -> None:
    """Each setting that a login needs is missed by its name, with a sentence that says so."""
    row = MECHANISMS[name]
    whole = {"bootstrap.servers": "b:1", "security.protocol": "SASL_SSL", **row.placeholders(KNOWN)}
    for needed in row.needs:
        config = {key: value for key, value in whole.items() if key != needed}
        (finding,) = connection_findings("c", config, (), lambda _: True, [KNOWN[OAUTH_ENDPOINT]])

        assert f"The connection c has sasl.mechanism {name} and lacks {needed}." == finding.happened


@pytest.mark.parametrize("name", MECHANISMS)
def test_discovery_proposes_the_login_of_each_mechanism(name: str) -> None:
    """No cluster whose mechanism is known gets the user and the password of another one."""
    extra = kafka_extra(Entrance(("b:9093",), "SASL_SSL", name), Preset("any", {}))

    assert MECHANISMS[name].placeholders({}).items() <= extra.items()


def test_a_mechanism_that_is_not_known_has_user_and_password() -> None:
    """A person sees that its name is missing."""
    assert {"sasl.mechanism": "<MECHANISM>", "sasl.username": "<USER>", "sasl.password": "<PASSWORD>"} == (
        mechanism_named(None).placeholders({})
    )


def test_only_settings_of_the_mechanism_are_taken_over() -> None:
    """What is known of another login does not get into a connection."""
    extra = MECHANISMS["PLAIN"].placeholders({"sasl.username": "me", "sasl.kerberos.keytab": "/k", "": "x"})

    assert {"sasl.mechanism": "PLAIN", "sasl.username": "me", "sasl.password": "<PASSWORD>"} == extra


def test_a_function_replaces_the_settings_of_tokens() -> None:
    """With a function that returns tokens, other settings of a login would not be used."""
    config = {"bootstrap.servers": "b:1", "security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER"}
    both = {**config, OAUTH_CALLBACK: "my.tokens", OAUTH_ENDPOINT: KNOWN[OAUTH_ENDPOINT]}

    assert () == connection_findings("c", {**config, OAUTH_CALLBACK: "my.tokens"}, (), lambda _: True)
    (finding,) = connection_findings("c", both, (), lambda _: True)
    assert f"The connection c has {OAUTH_ENDPOINT}, which {OAUTH_CALLBACK} does not use." == finding.happened
