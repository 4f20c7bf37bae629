"""The settings of the brokers of a Kafka cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from confluent_kafka.admin import ConfigResource, ResourceType

from kafka_migration.adapters.kafka.kafka_client import ClusterClient
from kafka_migration.adapters.kafka.kafka_retries import call_timeout_s


class BrokerCalls(ClusterClient):
    """The method of `core.kafka.cluster.KafkaCluster` about brokers."""

    def broker_settings(self, *names: str) -> Mapping[int, Mapping[str, str]]:
        """Return the settings of each broker, defaults included; those that a broker does not have are missing."""
        brokers = [node.id for node in self._described_cluster().nodes]
        return {
            broker: {name: entries[name].value for name in names if name in entries and entries[name].value is not None}
            for broker, entries in self._results(self._ask_brokers, brokers).items()
        }

    def _ask_brokers(self, brokers: Sequence[int]) -> Mapping[int, Any]:
        # librdkafka takes one broker per call. All calls are made before waiting for the first answer.
        asked = {
            broker: self._admin.describe_configs(
                [ConfigResource(ResourceType.BROKER, str(broker))], request_timeout=call_timeout_s()
            )
            for broker in brokers
        }
        return {broker: next(iter(futures.values())) for broker, futures in asked.items()}
