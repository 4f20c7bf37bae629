"""Kafka clusters and HTTP services of Airflow connections: each is read, masked in logs and checked before its use."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from airflow.providers.apache.kafka.hooks.client import KafkaAdminClientHook
from airflow.sdk import Connection
from airflow.sdk.bases.hook import BaseHook
from airflow.sdk.exceptions import AirflowException, AirflowNotFoundException
from airflow.sdk.log import mask_secret
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.adapters.kafka.kafka_client import quiet_logger
from kafka_migration.airflow_adapters.airflow_settings import token_endpoints
from kafka_migration.airflow_adapters.task_thread import in_task_thread
from kafka_migration.core.connect.connect_tools import ConnectTools
from kafka_migration.core.connections.client_settings import (
    IN_EXTRA,
    REFUSED,
    SETTINGS,
    Problem,
)
from kafka_migration.core.connections.connection_checks import connection_findings, insecure_findings
from kafka_migration.core.connections.http import CA, HttpSettings, address, http_findings
from kafka_migration.core.connections.http import CONNECTION_TYPE as HTTP_TYPE
from kafka_migration.core.connections.java_properties import java_findings
from kafka_migration.core.connections.mechanisms import MECHANISMS, mechanism_of
from kafka_migration.core.connections.secrets import secret_texts, without_secrets
from kafka_migration.core.discovery.described_cluster import ClusterManager
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.kafka.schema_registry import SchemaRegistry
from kafka_migration.core.migration.settings import Cluster, Insecurity
from kafka_migration.core.text.quoting import shell_word

_MAX_REASON = 300
_SETTING_NAMES = sorted({*SETTINGS, *REFUSED}, key=len, reverse=True)
# Errors of an invalid connection. Any other error comes from Airflow and may be temporary.
_UNREADABLE = (AirflowException, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def connection_config(connection_id: str, allowed: Collection[Insecurity] = ()) -> dict[str, Any]:
    """Return the librdkafka settings of a `kafka` connection, the provider's callbacks included.

    `allowed` are the protections that it may disable. Raises `Refused` before anything is connected: with a finding
    per invalid setting, and also if librdkafka cannot create a client. Raises `TransientError` if Airflow does not
    return the connection.
    """
    config = _checked(connection_id, allowed)
    with _as_finding(connection_id, config):
        AdminClient({**config, "logger": quiet_logger()})
    return config


def cluster_named(what: str, connection_id: str, allowed: Collection[Insecurity] = ()) -> ConfluentCluster:
    """Return the cluster of a connection; `what` names it in errors, with its address.

    Raises like `connection_config`.
    """
    config = _checked(connection_id, allowed)
    address = config["bootstrap.servers"]
    name = f"{what} ({connection_id}, {address})" if what else f"{connection_id} ({address})"
    with _as_finding(connection_id, config):
        return ConfluentCluster(name, config)


def findings_of_side(side: Cluster) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Return the findings that prevent the use of a migration's connection, and its allowed insecure settings."""
    try:
        config = connection_config(side.connection, side.insecure)
    except Refused as refused:
        return refused.findings, ()
    return java_findings(side.connection, config), insecure_findings(side.connection, config)


class _CheckedHook(KafkaAdminClientHook):  # type: ignore[misc]
    """The provider's hook for a connection that was already read, so that the checked settings are used."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(kafka_config_id=connection.conn_id)
        self._connection = connection

    def get_connection(self, conn_id: str) -> Connection:
        """Return the connection."""
        return self._connection

    def config(self) -> dict[str, Any]:
        """Return the settings, with callbacks as functions, and the token callback if the provider adds one."""
        config: dict[str, Any] = self._build_config()
        return config


@in_task_thread
def mask(settings: Mapping[str, object]) -> None:
    """Let Airflow mask the secrets of these settings, in every form in which clients write them."""
    mask_secret(list(secret_texts(settings)))


@in_task_thread
def _checked(connection_id: str, allowed: Collection[Insecurity]) -> dict[str, Any]:
    connection = read_connection(connection_id, "kafka")
    settings = extra_of(connection)
    # Before anything else uses them, because an error may quote its input.
    mask(settings)
    findings = connection_findings(connection_id, settings, allowed, has_feature, token_endpoints())
    if findings:
        raise Refused(findings)
    with _as_finding(connection_id, settings):
        config = _CheckedHook(connection).config()
    mechanism = MECHANISMS.get(mechanism_of(config))
    if mechanism is None:
        return config
    if lacking := [problem.finding(connection_id) for problem in mechanism.lacking(config)]:
        raise Refused(lacking)
    return {**config, **mechanism.client(config)}


@in_task_thread
def read_connection(connection_id: str, connection_type: str) -> Connection:
    """Return a connection of this type.

    Raises `Refused` if it does not exist or has another type, `TransientError` if Airflow does not return it.
    """
    try:
        connection = BaseHook.get_connection(connection_id)
    except AirflowNotFoundException:
        raise Refused([_missing(connection_id, connection_type)]) from None
    except _UNREADABLE as error:
        raise Refused([_invalid(connection_id, f"gave {type(error).__name__} when Airflow read it")]) from None
    except Exception as error:
        raise TransientError(
            f"Airflow did not return the connection {connection_id}: {type(error).__name__}"
        ) from error
    if connection.conn_type != connection_type:
        remedy = f"Use a connection of type {connection_type}, or correct its type."
        raise Refused([_invalid(connection_id, f"has type {connection.conn_type}", remedy)])
    return connection


def extra_of(connection: Connection) -> dict[str, object]:
    """Return the extra of a connection. Raises `Refused` if it is no JSON object or has a setting twice."""
    try:
        settings = json.loads(connection.extra or "{}", object_pairs_hook=_without_doubles)
    except (ValueError, TypeError, RecursionError) as error:
        says = str(error) if isinstance(error, _Double) else "has an extra that is not valid JSON"
        raise Refused([_invalid(connection.conn_id, says)]) from None
    if not isinstance(settings, dict):
        raise Refused([_invalid(connection.conn_id, "has an extra that is not a JSON object")])
    return settings


class _Double(ValueError):
    """A setting is given twice."""


def _without_doubles(pairs: list[tuple[str, object]]) -> dict[str, object]:
    settings = dict(pairs)
    if len(settings) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Double(f"has the setting {next(ascii(name) for name in names if names.count(name) > 1)} twice")
    return settings


@contextmanager
def _as_finding(connection_id: str, settings: Mapping[str, object]) -> Iterator[None]:
    """Convert any error of a hook or a client's constructor into a finding with the setting's name and no secret."""
    try:
        yield
    except Exception as error:
        # Not only Kafka's errors: the code also imports callbacks and converts values.
        reason = " ".join(without_secrets(_reason(error), settings).split())[:_MAX_REASON]
        named = next((name for name in _SETTING_NAMES if name in reason), "")
        says = f"has a problem with the setting {named}: {reason}" if named else f"cannot be used: {reason}"
        raise Refused([_invalid(connection_id, says)]) from None


def _reason(error: Exception) -> str:
    is_kafkas = isinstance(error, KafkaException) and error.args and hasattr(error.args[0], "str")
    return str(error.args[0].str()) if is_kafkas else f"{type(error).__name__}: {error}"


@cache
def has_feature(feature: str) -> bool:
    """Return whether Airflow's Kafka client was built with a feature of librdkafka."""
    try:
        AdminClient({"builtin.features": feature, "logger": quiet_logger()})
    except KafkaException:
        return False
    return True


def _missing(connection_id: str, connection_type: str) -> Finding:
    return Finding(
        Code.CONNECTION_MISSING,
        f"connection {connection_id}",
        "no such connection",
        f"a connection of type {connection_type}",
        f"Create it (airflow connections add {shell_word(connection_id)} --conn-type {connection_type} …), or correct "
        "its name in the migration file or the command.",
        happened=f"Airflow has no connection {connection_id}.",
        matters="Without the connection, the address and the login of its service are unknown.",
    )


def _invalid(connection_id: str, says: str, remedy: str = f"Correct it {IN_EXTRA}.") -> Finding:
    return Problem(says, says, "settings with which a client can be created", remedy).finding(connection_id)


def http_settings(connection_id: str) -> HttpSettings:
    """Return the settings of an `http` connection.

    Raises `Refused` if it cannot be used, `TransientError` if Airflow does not return it.
    """
    connection = read_connection(connection_id, HTTP_TYPE)
    extra = extra_of(connection)
    mask({"login": connection.login, "password": connection.password})
    settings = HttpSettings(
        connection_id,
        address(connection.host or "", connection.schema or "", connection.port),
        connection.login or "",
        connection.password or "",
        str(extra.get(CA, "")),
    )
    findings = tuple(http_findings(settings, extra))
    if findings:
        raise Refused(findings)
    return settings


def registry_named(side: Side, connection_id: str) -> SchemaRegistry:
    """Return the schema registry of a connection; raises like `http_settings`."""
    # Only runs whose migration file names registries need the client.
    from kafka_migration.adapters.http.registry_client import HttpSchemaRegistry

    return HttpSchemaRegistry(f"the {side}'s schema registry", http_settings(connection_id))


def connect_tools_named(connection_id: str) -> ConnectTools:
    """Return the Kafka Connect cluster of a connection; raises like `http_settings`."""
    # Only migrations with engine connect need the client.
    from kafka_migration.adapters.connect.rest_connect_tools import RestConnectTools

    return RestConnectTools(http_settings(connection_id))


def manager_named(connection_id: str) -> ClusterManager:
    """Return Ambari or Cloudera Manager of a connection; raises like `http_settings` and `manager_of`."""
    # Only `kafka-migration discover` needs the client.
    from kafka_migration.adapters.http.cluster_managers import manager_of

    return manager_of(http_settings(connection_id))
