"""Checks of what Airflow has for the run: its connections and its notifiers. No connection is opened."""

from __future__ import annotations

from collections.abc import Iterable

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.migration.settings import Migration
from kafka_migration.core.text.quoting import shell_word
from kafka_migration.core.text.shortened import sentence
from kafka_migration.migration_file.loading import alert_settings
from kafka_migration.preflight.scene.check import Asked, Findings, check
from kafka_migration.preflight.scene.scene import SIDES, Scene, asked_once

_MATTERS = {
    "kafka": "Neither Airflow nor MirrorMaker can log in to this cluster.",
    "ssh": "Airflow cannot start MirrorMaker on its host.",
    "spark": "Validation has no Spark cluster, so nothing proves the copy.",
    "http": "Validation cannot compare the schemas of the two registries.",
}
_NO_CONNECTOR = "Airflow cannot create MirrorMaker's connector on the Kafka Connect cluster."


def _connections_warnings(scene: Scene) -> Findings:
    for connection_id in sorted({connection_id for _, connection_id, _ in _named(scene.migration)}):
        if names := scene.airflow.connections.unmasked_secrets(connection_id):
            listed = ", ".join(map(ascii, names))
            yield Finding(
                Code.SECRET_NOT_MASKED,
                f"connection {connection_id}",
                f"in {listed} a secret that Airflow does not mask, so its logs may show it",
                "a secret of at least `[logging] min_length_masked_secret` characters that is not `airflow`",
                "Give the account a longer password, and store it in the connection.",
                happened=f"Airflow does not mask the secret in {listed} of the connection {connection_id}, because it "
                "is shorter than `[logging] min_length_masked_secret`, or is `airflow`.",
                matters="The logs of Airflow may show this secret to everyone who can read them.",
            )


@check("connections", asks={Asked.FILE}, warn=_connections_warnings)
def connections(scene: Scene) -> Findings:
    """Every connection of the migration file exists and has the right type."""
    for field, connection_id, expected in _named(scene.migration):
        found = scene.airflow.connections.connection_type(connection_id)
        if found is None:
            yield _missing(field, connection_id, expected)
        elif found != expected:
            yield Finding(
                Code.CONNECTION_INVALID,
                f"connection {connection_id} ({field})",
                f"type {found}",
                f"type {expected}",
                f"Set {field} to a connection of type {expected}, or correct the type of this connection.",
                happened=f"The connection {connection_id} has the type {found}, but {field} needs the type {expected}.",
                matters=_matters(field, expected),
            )


def _matters(field: str, expected: str) -> str:
    return _NO_CONNECTOR if (field, expected) == ("mirror.connection", "http") else _MATTERS[expected]


def _named(migration: Migration) -> Iterable[tuple[str, str, str]]:
    yield "source.connection", migration.source.connection, "kafka"
    yield "target.connection", migration.target.connection, "kafka"
    yield (
        "mirror.connection",
        migration.mirror.connection,
        "http" if migration.mirror.abilities.needs_connect else "ssh",
    )
    yield "validation.spark_connection", migration.validation.spark_connection, "spark"
    if migration.schema_registry is not None:
        yield "schema_registry.source", migration.schema_registry.source, "http"
        yield "schema_registry.target", migration.schema_registry.target, "http"


def _missing(field: str, connection_id: str, expected: str) -> Finding:
    is_spark = expected == "spark"
    return Finding(
        Code.SPARK_CONNECTION_MISSING if is_spark else Code.CONNECTION_MISSING,
        f"connection {connection_id} ({field})",
        "no such connection" + (", so Airflow would silently use YARN" if is_spark else ""),
        f"a connection of type {expected}",
        f"Create it (airflow connections add {shell_word(connection_id)} --conn-type {expected} …), or correct "
        f"{field} in the migration file.",
        happened=f"Airflow has no connection {connection_id} ({field}).",
        matters="Airflow would silently use YARN instead, and the jobs would run elsewhere or not at all."
        if is_spark
        else _matters(field, expected),
    )


@asked_once
def _security_findings(scene: Scene) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings that prevent the use of the Kafka connections, and the insecure settings that are allowed."""
    sides = [scene.airflow.connections.kafka_findings(scene.named(side)) for side in SIDES]
    return tuple(f for found, _ in sides for f in found), tuple(f for _, allowed in sides for f in allowed)


@check("security", asks={Asked.FILE}, needs=("connections",), warn=lambda scene: _security_findings(scene)[1])
def security(scene: Scene) -> Findings:
    """The settings, login and protections of the Kafka connections are valid; no connection is opened."""
    return _security_findings(scene)[0]


@check("alerts", asks={Asked.FILE})
def alerts(scene: Scene) -> Findings:
    """The run's notifiers can be created. Whether messages arrive is not checked."""
    for number, settings in enumerate(alert_settings(scene.migration, scene.airflow.alerts_file).notifiers):
        if problem := scene.airflow.notifier_problem(settings):
            yield Finding(
                Code.ALERTS_INVALID,
                f"alerts.notifiers[{number}]: {settings.notifier}",
                problem,
                "an importable notifier that accepts these arguments, with templates that use only `alert`",
                "Correct the path or the arguments, or install the notifier's provider on the workers and the "
                "triggerer.",
                happened=sentence(f"The notifier cannot be created: {problem}"),
                matters="Its receivers would get no alert when the run fails or waits for an answer.",
            )
