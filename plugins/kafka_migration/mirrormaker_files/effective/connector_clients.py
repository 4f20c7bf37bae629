"""The clients that MirrorMaker's connectors make themselves, as `MirrorConnectorConfig` makes their configurations."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from kafka_migration.mirrormaker_files.effective.kafka_version import MirrorVersion
from kafka_migration.mirrormaker_files.effective.layers import JAVA_BLANKS, Layer, Layers, fixed, get, only, stripped
from kafka_migration.mirrormaker_files.effective.readers import Given

SOURCE, TARGET = "source", "target"


class MirrorClients(NamedTuple):
    """The configurations of the clients of one connector, from the connector's own configuration."""

    connector: Layers
    kafka: MirrorVersion
    name: str

    def consumer(self, side: str, role: str = "") -> Layers:
        """Return `sourceConsumerConfig` or, since 3.0, `targetConsumerConfig`.

        Until 2.7 `auto.offset.reset` cannot be changed.
        """
        never, reset = {"enable.auto.commit": "false"}, {"auto.offset.reset": "earliest"}
        if not self.kafka.is_at_least("2.8"):
            return (fixed(never | reset), *self._client(side, "consumer", role))
        return (fixed(never), *self._client(side, "consumer", role), fixed(reset))

    def producer(self, side: str, role: str = "") -> Layers:
        """Return `sourceProducerConfig` or, since 3.0, `targetProducerConfig`."""
        return self._client(side, "producer", role)

    def admin(self, side: str, role: str = "") -> Layers:
        """Return `sourceAdminConfig` or `targetAdminConfig`."""
        return self._client(side, "admin", role)

    @property
    def syncs_side(self) -> str:
        """The cluster with the offset syncs (`offsetSyncsTopicLocation`): until 2.8 always the source."""
        given = get(self.connector, "offset-syncs.topic.location") if self.kafka.is_at_least("3.0") else None
        return SOURCE if given is None or given.value.strip(JAVA_BLANKS) == SOURCE else TARGET

    def _client(self, side: str, client: str, role: str) -> Layers:
        own = stripped(self.connector, f"{side}.{client}.")
        if not self.kafka.is_at_least("2.8") and client != "admin":
            own = ()
        of_both = stripped(self.connector, f"{client}.")
        of_cluster = only(stripped(self.connector, f"{side}.cluster."), self.kafka.client_names)
        layers = (*own, *of_both, *of_cluster)
        return (*self._client_id(layers, role), *layers) if self.kafka.is_at_least("3.5") else layers

    def _client_id(self, layers: Layers, role: str) -> Layers:
        """Return what `addClientId` sets since 3.5: the user's `client.id`, if there is one, and flow and role."""
        source, target = (self._alias(side) for side in (SOURCE, TARGET))
        made = "|".join(filter(None, (f"{source}->{target}", self.name, role)))
        given = get(layers, "client.id")
        value = replace(given, value=f"{given.value}|{made}") if given else Given(made)
        return (Layer({"client.id": value}),)

    def _alias(self, side: str) -> str:
        given = get(self.connector, f"{side}.cluster.alias")
        return given.value.strip(JAVA_BLANKS) if given else side
