"""The questions to the workers of a Kafka Connect cluster that several checks ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kafka_migration.core.connect.connect_tools import ConnectRoot, ConnectTools
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.preflight.clusters.connect_cluster_checks import worker_addresses
from kafka_migration.preflight.scene.check import NotApplicable
from kafka_migration.preflight.scene.scene import Scene, asked_once

# A cluster has some workers. Of more, each answer takes its time.
MOST_WORKERS = 50


@dataclass(frozen=True, slots=True)
class ConnectWorker:
    """A worker at an address: what it answered, or why it did not (`silent`)."""

    address: str
    root: ConnectRoot = field(default_factory=lambda: ConnectRoot("", "", ""))
    plugins: Mapping[str, str] = field(default_factory=dict)
    silent: str = ""


def connect_tools(scene: Scene) -> ConnectTools:
    """Return the tools of the Kafka Connect cluster. Raises `NotApplicable` if the engine needs none."""
    tools = scene.run.connect_tools
    if tools is None:
        raise NotApplicable(scene.migration.mirror.abilities.needs_connect.why_not or "no Kafka Connect cluster")
    return tools


@asked_once
def root_of(scene: Scene) -> ConnectRoot:
    """Return what the worker says of itself that answers at the address of the connection."""
    return connect_tools(scene).root()


@asked_once
def workers_of(scene: Scene) -> tuple[ConnectWorker, ...]:
    """Return each worker of the group as it answers at its own address; without a known group, the one that answers.

    Neither connectors nor tasks of the cluster are listed.
    """
    addresses = worker_addresses(scene).addresses
    if not addresses:
        tools = connect_tools(scene)
        return (ConnectWorker(tools.address, root_of(scene), tools.plugins()),)
    return tuple(_worker(scene, address) for address in addresses[:MOST_WORKERS])


def _worker(scene: Scene, address: str) -> ConnectWorker:
    try:
        tools = connect_tools(scene).at(address)
        return ConnectWorker(address, tools.root(), tools.plugins())
    except TransientError as error:
        return ConnectWorker(address, silent=str(error))
    except Refused as refused:
        return ConnectWorker(address, silent=refused.findings[0].found)


def tools_at(scene: Scene, worker: ConnectWorker) -> ConnectTools:
    """Return the tools of a worker that answered."""
    tools = connect_tools(scene)
    return tools if worker.address == tools.address else tools.at(worker.address)
