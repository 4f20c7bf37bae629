"""The section `mirror.connect` of a migration file: what the REST API of a Kafka Connect cluster does not tell."""

from __future__ import annotations

from pydantic import Field, ValidationInfo, field_validator

from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.settings import ConnectSettings
from kafka_migration.migration_file.scalars import GroupName, SecretProperty, SecretReference, Strict, TopicName


class ConnectSecretsModel(Strict):
    """References to the secrets of the connector, by side."""

    source: dict[SecretProperty, SecretReference] = Field(
        {},
        description="References through the workers' config providers that replace secrets of source.connection, such "
        'as sasl.jaas.config: "${file:/etc/kafka-connect/shop.properties:source}".',
    )
    target: dict[SecretProperty, SecretReference] = Field(
        {}, description="References that replace secrets of target.connection."
    )


class ConnectModel(Strict):
    """Settings of the workers of a Kafka Connect cluster."""

    status_topic: TopicName = Field(
        description="Topic status.storage.topic of the workers on the target. It shows which tasks were restarted or "
        "moved."
    )
    config_topic: TopicName | None = Field(
        None, description="Topic config.storage.topic of the workers. If given, preflight checks it."
    )
    offset_topic: TopicName | None = Field(
        None, description="Topic offset.storage.topic of the workers. If given, preflight checks it."
    )
    group: GroupName | None = Field(
        None, description="The workers' group.id. With exactly_once, transactional ids contain it."
    )
    secrets: ConnectSecretsModel = Field(
        ConnectSecretsModel(), description="References to secrets, instead of the secrets of the connections."
    )

    @field_validator("config_topic", "offset_topic")
    @classmethod
    def _is_a_topic_of_its_own(cls, topic: str | None, info: ValidationInfo) -> str | None:
        others = {name: value for name, value in info.data.items() if name.endswith("_topic")}
        if same := [name for name, value in others.items() if topic is not None and value == topic]:
            raise ValueError(f"another topic than {same[0]}, because the workers have one topic for each")
        return topic

    def frozen(self) -> ConnectSettings:
        """Return the section as plain values."""
        named: dict[Side, dict[str, str]] = {"source": self.secrets.source, "target": self.secrets.target}
        secrets = {side: values for side, values in named.items() if values}
        return ConnectSettings(self.status_topic, self.config_topic, self.offset_topic, self.group, secrets)
