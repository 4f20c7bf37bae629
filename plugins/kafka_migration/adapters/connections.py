"""Kafka clusters behind Airflow connections."""

from __future__ import annotations

from typing import Any

from airflow.providers.apache.kafka.hooks.client import KafkaAdminClientHook

from kafka_migration.adapters.kafka import ConfluentCluster


def connection_config(connection_id: str) -> dict[str, Any]:
    """Return the librdkafka settings of a `kafka` connection, the provider's callbacks included."""
    config: dict[str, Any] = KafkaAdminClientHook(kafka_config_id=connection_id)._build_config()
    return config


def cluster_named(what: str, connection_id: str) -> ConfluentCluster:
    """Return the cluster behind a connection; `what` says in errors which one it is, with its address."""
    config = connection_config(connection_id)
    address = config["bootstrap.servers"]
    return ConfluentCluster(f"{what} ({connection_id}, {address})" if what else f"{connection_id} ({address})", config)
