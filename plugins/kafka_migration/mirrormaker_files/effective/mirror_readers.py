"""The parts of Kafka that read the configuration of MirrorMaker's connectors, and of the worker that runs them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from kafka_migration.mirrormaker_files.effective import worker_clients as made_by_worker
from kafka_migration.mirrormaker_files.effective.kafka_version import MirrorVersion
from kafka_migration.mirrormaker_files.effective.layers import Layers, is_true, merged, read_as, starting
from kafka_migration.mirrormaker_files.effective.readers import Effective, Reader
from kafka_migration.mirrormaker_files.effective.worker_clients import SOURCE, TARGET, MirrorClients

_WORDS = {
    "mirror_source": "source connector",
    "mirror_checkpoint": "checkpoint connector",
    "mirror_heartbeat": "heartbeat connector",
}
_DUTIES = {"mirror_source": "records", "mirror_checkpoint": "checkpoints", "mirror_heartbeat": "heartbeats"}


class ConnectorReaders(NamedTuple):
    """A connector with its own configuration, that of its worker, and the aliases of its clusters.

    `role` is `mirror_source`, `mirror_checkpoint` or `mirror_heartbeat`, and `name` its name on the worker.
    """

    role: str
    name: str
    source: str
    target: str
    own: Layers
    worker: Layers
    kafka: MirrorVersion

    @property
    def flow(self) -> str:
        """The flow, `A->B`."""
        return f"{self.source}->{self.target}"

    @property
    def title(self) -> str:
        """The connector in words."""
        return f"{_WORDS[self.role]} {self.flow}"

    def readers(self) -> Iterator[Effective]:
        """Yield the connector, its plug-ins, and its clients with their duties."""
        yield Effective(Reader(self.role, f"the {self.title}", self.flow), read_as(self.role, self.own))
        yield self._plug_in("replication_policy", "replication policy")
        if self.role == "mirror_source":
            yield from self._of_source()
        elif self.role == "mirror_checkpoint":
            yield from self._of_checkpoint()
        else:
            yield self._client("admin", TARGET, "heartbeats", self._clients.admin(TARGET, "heartbeats-target-admin"))
        yield from self._of_worker()

    def _of_source(self) -> Iterator[Effective]:
        clients = self._clients
        yield self._plug_in("topic_filter", "topic filter")
        yield self._plug_in("config_property_filter", "filter of topic settings")
        yield self._client("consumer", SOURCE, "records", clients.consumer(SOURCE, "replication-consumer"))
        yield self._client("admin", SOURCE, "topics", clients.admin(SOURCE, "replication-source-admin"))
        yield self._client("admin", TARGET, "topics", clients.admin(TARGET, "replication-target-admin"))
        if is_true(self.own, "emit.offset-syncs.enabled", True) or not self.kafka.is_at_least("3.9"):
            side = clients.syncs_side
            yield self._syncs("producer", clients.producer(side, f"offset-syncs-{side}-producer"))
            yield self._syncs("admin", clients.admin(side, f"offset-syncs-{side}-admin"))

    def _of_checkpoint(self) -> Iterator[Effective]:
        clients, side = self._clients, self._clients.syncs_side
        yield self._plug_in("topic_filter", "topic filter")
        yield self._plug_in("group_filter", "group filter")
        yield self._client("admin", SOURCE, "checkpoints", clients.admin(SOURCE, "checkpoint-source-admin"))
        yield self._client("admin", TARGET, "checkpoints", clients.admin(TARGET, "checkpoint-target-admin"))
        yield self._syncs("consumer", clients.consumer(side, f"offset-syncs-{side}-consumer"))
        if self.kafka.is_at_least("3.7"):
            values = clients.consumer(TARGET, "checkpoints-target-consumer")
            yield self._client("consumer", TARGET, "checkpoints", values)

    def _of_worker(self) -> Iterator[Effective]:
        """Yield the clients that the worker makes for the connector's tasks."""
        producer = made_by_worker.task_producer(self.worker, self.own, self.kafka, self.name)
        yield self._client("producer", TARGET, _DUTIES[self.role], producer)
        if made_by_worker.has_own_offsets(self.worker, self.own):
            consumer = made_by_worker.task_consumer(self.worker, self.own, self.name)
            yield self._client("consumer", TARGET, "worker", consumer)
        if made_by_worker.uses_task_admin(self.worker, self.own):
            yield self._client("admin", TARGET, "worker", made_by_worker.task_admin(self.worker, self.own, self.name))

    @property
    def _clients(self) -> MirrorClients:
        return MirrorClients(self.own, self.kafka, self.name)

    def _plug_in(self, role: str, words: str) -> Effective:
        values = self.own
        if role == "replication_policy":
            # `DefaultReplicationPolicy.configure` reads the map itself, so blanks stay.
            policy = merged(starting(values, "replication.policy."))
            return Effective(Reader(role, f"the {words} of the {self.title}", self.flow), policy)
        return Effective(Reader(role, f"the {words} of the {self.title}", self.flow), read_as(role, values))

    def _syncs(self, client: str, values: Layers) -> Effective:
        return self._client(client, self._clients.syncs_side, "offset syncs", values)

    def _client(self, client: str, side: str, duty: str, values: Layers) -> Effective:
        cluster = self.source if side == SOURCE else self.target
        name = f"the {client} of the {self.title} for {duty} on {cluster}"
        return Effective(Reader(client, name, self.flow, cluster, duty), read_as(client, values))


def worker_readers(worker: Layers, flow: str, cluster: str, kafka: MirrorVersion) -> Iterator[Effective]:
    """Yield a worker, and the clients with which it keeps its internal topics."""
    title = f"the worker {flow}".strip()
    yield Effective(Reader("connect_worker", title, flow, cluster, "worker"), read_as("connect_worker", worker))
    clients = {
        "producer": made_by_worker.internal_producer(worker, kafka),
        "consumer": made_by_worker.internal_consumer(worker, kafka),
        "admin": made_by_worker.internal_admin(worker, kafka),
    }
    for client, values in clients.items():
        name = f"the {client} of {title} for its internal topics"
        yield Effective(Reader(client, name, flow, cluster, "worker"), read_as(client, values))
