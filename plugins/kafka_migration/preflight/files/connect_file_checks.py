"""Checks of what the migration file and its connections give to a Kafka Connect cluster. Nothing is asked."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.secret_properties import SECRET_PROPERTIES
from kafka_migration.preflight.scene.check import Asked, Findings, check, without_connect
from kafka_migration.preflight.scene.scene import SIDES, Scene


@check("connect secrets", asks={Asked.FILE}, needs=("connections", "security"), unless=without_connect)
def connect_secrets(scene: Scene) -> Findings:
    """No secret of the connections would be readable in the connector's configuration; each reference replaces one."""
    settings = scene.migration.mirror.connect
    references = settings.secrets if settings else {}
    for side in SIDES:
        named = scene.named(side)
        properties = java_properties(named.connection, scene.run.deployment.client_settings(named))
        yield from plain_secret_findings(side, named.connection, properties, references.get(side, {}))
        yield from unused_reference_findings(side, named.connection, properties, references.get(side, {}))


def plain_secret_findings(
    side: Side, connection: str, properties: Iterable[str], references: Mapping[str, str]
) -> Findings:
    """Yield the finding about the secrets among the properties of a side's client that have no reference."""
    plain = sorted((SECRET_PROPERTIES.keys() & set(properties)) - references.keys())
    if plain:
        listed = ", ".join(plain)
        example = f'{plain[0]}: "${{file:/etc/kafka-connect/{side}.properties:secret}}"'
        yield Finding(
            Code.CONNECT_SECRET_PLAIN,
            f"connection {connection} ({side}.connection)",
            f"{listed} without a reference",
            f"a reference in mirror.connect.secrets.{side} for each of them",
            "Put the secret where a config provider of every worker finds it, for example into a file, and name it in "
            f"mirror.connect.secrets.{side}, such as {example}.",
            happened=f"The secrets {listed} of the connection {connection} would be in the configuration of the "
            "connector as plain text.",
            matters="Everyone who reaches the REST interface of Kafka Connect, or may read its configuration topic, "
            "could read them.",
        )


def unused_reference_findings(
    side: Side, connection: str, properties: Collection[str], references: Mapping[str, str]
) -> Findings:
    """Yield a finding for each reference to a secret that the properties of a side's client do not have."""
    for name in sorted(references.keys() - set(properties)):
        made_of = SECRET_PROPERTIES[name]
        yield Finding(
            Code.CONNECTION_INVALID,
            f"connection {connection} ({side}.connection)",
            f"no {name} for mirror.connect.secrets.{side} to replace",
            f"{made_of}, or no reference to {name}",
            f"Add {made_of} to the extra of the connection, because Airflow and Spark log in with it too. Or remove "
            f"{name} from mirror.connect.secrets.{side}, if the cluster needs no such secret.",
            happened=f"mirror.connect.secrets.{side} refers to {name}, but the connection {connection} does not have "
            f"what it is made of: {made_of}.",
            matters="A reference only takes the place of a secret of the connection. The connector would connect "
            "without this one, and so otherwise than the migration file says.",
        )


@check("connect lease", asks={Asked.FILE}, unless=without_connect, warns=True)
def connect_lease(scene: Scene) -> Findings:
    """Says that nothing ends the connector if Airflow dies."""
    name = scene.migration.name
    yield Finding(
        Code.CONNECT_NO_LEASE,
        f"{name}.yaml: mirror.engine",
        f"{scene.migration.mirror.abilities.title}, which ends no connector that Airflow has left",
        "a person or a program that stops the connector if Airflow dies",
        f"If Airflow dies during a run, call `kafka-migration stop {name} --now`, or trigger the next run. Accept "
        "CONNECT_NO_LEASE if you have arranged this.",
        happened="A Kafka Connect cluster keeps no lease: if Airflow dies, the connector continues to copy.",
        matters="It copies until the next run of this migration, or until it is stopped by hand, also after the time "
        "at which the copy should have ended.",
    )
