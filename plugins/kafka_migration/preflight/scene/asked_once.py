"""The questions of the checks to the MirrorMaker host, each asked at most once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kafka_migration.core.connections.client_settings import OAUTH_ENDPOINT
from kafka_migration.core.connections.secrets import without_secrets
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.migration.settings import Cluster, MirrorSettings
from kafka_migration.core.mirror.host import HostProbe, HostReply, HostTools, ProbeSubject
from kafka_migration.engines.launching import ENDPOINTS_OPTION
from kafka_migration.engines.properties_writer import render_properties
from kafka_migration.preflight.scene.tool_answers import LOCKED

# The host looks up no more names; of further ones nothing is known.
MOST_NAMES = 200


@dataclass(frozen=True, slots=True)
class MachineAnswer:
    """The facts of a probe of the host, and the moments between which its clock was read."""

    facts: Mapping[str, str]
    before: datetime
    after: datetime


@dataclass(frozen=True, slots=True)
class AskedSide:
    """A side that Kafka's tools are asked about: a connection to the host, the cluster, and its topics if needed."""

    host: HostTools
    cluster: Cluster
    topics: Sequence[str] = ()


@dataclass(eq=False)
class Probes:
    """What the questions need, and the answers so far.

    `client_properties` returns the Java properties of a cluster's connection, `look_up` the addresses of a name on this
    machine. `asks_tools` is whether Kafka's tools on the host may be asked.
    """

    client_properties: Callable[[Cluster], Mapping[str, str]] = lambda _: {}
    look_up: Callable[[str], Sequence[str]] = lambda _: ()
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    asks_tools: bool = True
    _machine: list[MachineAnswer] = field(default_factory=list)
    _tools: dict[ProbeSubject, Mapping[Side, Mapping[str, str]]] = field(default_factory=dict)

    def machine(self, host: HostTools, names: Sequence[str]) -> MachineAnswer:
        """Return the facts of the host, which looks up these names."""
        if not self._machine:
            before = self.clock()
            facts = host.probe(HostProbe(ProbeSubject.HOST, names=tuple(names[:MOST_NAMES]))).facts
            self._machine.append(MachineAnswer(facts, before, self.clock()))
        return self._machine[0]

    def tools(
        self, subject: ProbeSubject, sides: Mapping[Side, AskedSide], mirror: MirrorSettings
    ) -> Mapping[Side, Mapping[str, str]]:
        """Return what one of Kafka's tools on the host answers about each side; its errors are without secrets.

        All sides are asked at once, each by a connection of its own to the host, which answers one after the other.
        """
        if subject not in self._tools:
            # Airflow's connections are read here: its client for tasks does not work in several threads.
            asked = {side: self._probe(subject, each.cluster, mirror, each.topics) for side, each in sides.items()}
            with ThreadPoolExecutor(len(sides)) as pool:
                replies = {
                    side: pool.submit(copy_context().run, sides[side].host.probe, probe)
                    for side, (probe, _) in asked.items()
                }
            self._tools[subject] = {
                side: _without_secrets(facts_of(reply.result), asked[side][1]) for side, reply in replies.items()
            }
        return self._tools[subject]

    def _probe(
        self, subject: ProbeSubject, cluster: Cluster, mirror: MirrorSettings, topics: Sequence[str]
    ) -> tuple[HostProbe, Mapping[str, str]]:
        properties = self.client_properties(cluster)
        endpoint = properties.get(OAUTH_ENDPOINT)
        probe = HostProbe(
            subject,
            kafka_home=mirror.kafka_home,
            java_home=mirror.java_home,
            bootstrap=properties.get("bootstrap.servers", ""),
            properties=render_properties(properties),
            java_options=(f"-D{ENDPOINTS_OPTION}={endpoint}",) if endpoint else (),
            topics=_listed(topics),
        )
        return probe, properties


def facts_of(reply: Callable[[], HostReply]) -> Mapping[str, str]:
    """Return the facts of a reply. If other probes kept the host busy for too long, only that is known."""
    try:
        return reply().facts
    except TransientError as error:
        if Code.HOST_LOCKED not in str(error):
            raise
        return {"exit": LOCKED}


def _without_secrets(facts: Mapping[str, str], properties: Mapping[str, str]) -> Mapping[str, str]:
    """Remove secrets from the errors. Only these may quote a setting; a short password would mutilate the output."""
    return {**facts, "errors": without_secrets(facts.get("errors", ""), properties)}


def _listed(topics: Sequence[str]) -> tuple[str, ...]:
    """Return topics in an order in which their list does not look like an option of the tool; none if all do."""
    listed = tuple(sorted(topics, key=lambda topic: topic.startswith("-")))
    return () if listed and listed[0].startswith("-") else listed
