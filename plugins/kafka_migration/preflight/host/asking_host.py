"""The questions to the MirrorMaker host that several checks ask: to the host itself, and to Kafka's tools there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_migration.core.connections.client_settings import OAUTH_ENDPOINT
from kafka_migration.core.connections.java_properties import java_properties
from kafka_migration.core.connections.secrets import without_secrets
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, TransientError
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.mirror.host import HostProbe, HostReply, HostTools, ProbeSubject
from kafka_migration.engines.launching import ENDPOINTS_OPTION, render_properties
from kafka_migration.preflight.scene.check import Fact, Findings, NotApplicable, UnknownFact, without_mirrormaker
from kafka_migration.preflight.scene.scene import SIDES, Scene, asked_once, facts

# The host looks up no more names; of further ones nothing is known.
MOST_NAMES = 200
# getent's exit code for a name without an address.
_NO_ADDRESS = "2"
# Kerberos allows 5 minutes, and certificates and tokens begin at a moment. NTP keeps clocks within a second.
CLOCK_TOLERANCE = timedelta(seconds=60)
# The longest quote of a tool's error.
LONGEST_REASON = 500
# The exit of a tool that was not run, because other probes of the migration were.
LOCKED = "locked"
_NO_CLASS = "Could not find or load main class"
_DENIED = re.compile(r"AuthorizationException|AUTHORIZATION_FAILED|not authorized", re.IGNORECASE)
_UNSUPPORTED = re.compile(r"UnsupportedVersion|does not support|UnsupportedOperationException|not a recognized option")
_ERROR = re.compile(r"Exception|Error|Caused by:")


@dataclass(frozen=True, slots=True)
class MachineAnswer:
    """The facts of a probe of the host, and the moments between which its clock was read."""

    facts: Mapping[str, str]
    before: datetime
    after: datetime

    @property
    def names(self) -> NamesOnHost:
        """The host names that it looked up."""
        return NamesOnHost.of(self.facts.get("names", ""))

    def number(self, fact: str, words: str) -> int:
        """Return a number among the facts; without one the check is not applicable."""
        text = self.facts.get(fact, "")
        if not text.isdecimal():
            raise NotApplicable(f"the host did not say {words}: {text or 'nothing'}")
        return int(text)


@dataclass(frozen=True, slots=True)
class NamesOnHost:
    """The host names that the MirrorMaker host looked up: with their addresses, without one, or without an answer."""

    found: Mapping[str, tuple[str, ...]]
    missing: frozenset[str]

    @classmethod
    def of(cls, text: str) -> NamesOnHost:
        """Read the lines `<name> <exit code of getent> <address>…` of a probe."""
        lines = [line.split() for line in text.splitlines() if line.strip()]
        found = {name: tuple(addresses) for name, code, *addresses in lines if code == "0"}
        return cls(found, frozenset(name for name, code, *_ in lines if code == _NO_ADDRESS))

    def unknown(self, names: Sequence[str]) -> list[str]:
        """Return the names of which the host said neither, for example because its name server did not answer."""
        return [name for name in names if name not in self.found and name not in self.missing]


def host_of(address: str) -> str:
    """Return the host of an address `host:port`."""
    return address.rpartition(":")[0]


def broker_names(addresses: Sequence[str]) -> tuple[str, ...]:
    """Return the host names in addresses `host:port`, without duplicates."""
    return tuple(sorted({host_of(address) for address in addresses}))


def names_of_brokers(scene: Scene) -> tuple[str, ...]:
    """Return the host names that both clusters advertise, without duplicates."""
    return broker_names([address for side in SIDES for address in facts(scene, side).addresses])


@asked_once
def host_facts(scene: Scene) -> Mapping[str, str]:
    """Return the versions and paths on the host, for the Kafka and Java of the migration."""
    mirror = scene.migration.mirror
    return _tools(scene, scene.run.host_tools).fingerprint(mirror.kafka_home, mirror.java_home).facts


def _tools(scene: Scene, tools: HostTools | None) -> HostTools:
    """Return the tools of the host. Raises `NotApplicable` if the engine needs no host."""
    if tools is None:
        raise NotApplicable(scene.migration.mirror.abilities.needs_host.why_not)
    return tools


@asked_once
def machine(scene: Scene) -> MachineAnswer:
    """Return the facts of the host, which looks up the names of all brokers."""
    clock, names = scene.run.clock.now, names_of_brokers(scene)[:MOST_NAMES]
    before = clock()
    found = _tools(scene, scene.run.host_tools).probe(HostProbe(ProbeSubject.HOST, names=names)).facts
    return MachineAnswer(found, before, clock())


def without_tools(scene: Scene) -> str:
    """Return why a check that asks Kafka's tools does not apply; empty if it does."""
    return without_mirrormaker(scene) or ("" if scene.airflow.asks_tools else "[kafka_migration] host_tools is False")


@asked_once
def tools(scene: Scene, what: ProbeSubject) -> Mapping[Side, Mapping[str, str]]:
    """Return what one of Kafka's tools on the host answers about each side; its errors are without secrets.

    Both sides are asked at once, each by a connection of its own to the host.
    """
    run = scene.run
    hosts = {"source": _tools(scene, run.host_tools), "target": _tools(scene, run.second_host_tools)}
    # Airflow's connections are read here: its client for tasks does not work in several threads.
    probes = {side: _probe(scene, what, side) for side in SIDES}
    with ThreadPoolExecutor(len(SIDES)) as pool:
        replies = {
            side: pool.submit(copy_context().run, hosts[side].probe, probe) for side, (probe, _) in probes.items()
        }
    return {side: _without_secrets(_facts_of(reply.result), probes[side][1]) for side, reply in replies.items()}


def tool_answer(scene: Scene, fact: Fact, what: ProbeSubject, side: Side) -> str | UnknownFact:
    """Return the output of one of Kafka's tools about a side, or why the fact is unknown."""
    return answer_of(fact, tools(scene, what)[side])


def _probe(scene: Scene, what: ProbeSubject, side: Side) -> tuple[HostProbe, Mapping[str, str]]:
    """Return the question about a side, and the Java properties of its connection."""
    named, mirror = scene.named(side), scene.migration.mirror
    properties = java_properties(named.connection, scene.run.deployment.client_settings(named))
    endpoint = properties.get(OAUTH_ENDPOINT)
    probe = HostProbe(
        what,
        kafka_home=mirror.kafka_home,
        java_home=mirror.java_home,
        bootstrap=properties.get("bootstrap.servers", ""),
        properties=render_properties(properties),
        java_options=(f"-D{ENDPOINTS_OPTION}={endpoint}",) if endpoint else (),
        topics=_listed(_topics(scene, side)) if what is ProbeSubject.SPACE else (),
    )
    return probe, properties


def _topics(scene: Scene, side: Side) -> Sequence[str]:
    """Return the real names of the migration's topics on a side."""
    topics = scene.migration.topics
    return topics if side == "source" else tuple(map(scene.migration.target_topic, topics))


def _facts_of(reply: Callable[[], HostReply]) -> Mapping[str, str]:
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


def answer_of(fact: Fact, facts: Mapping[str, str]) -> str | UnknownFact:
    """Return the output of a tool, or why the fact is unknown."""
    tool, code = facts.get("tool", "the tool"), facts.get("exit", "")
    # Some tools print an exception and exit with 0.
    failed = code != "0" or _DENIED.search(facts.get("errors", ""))
    return _why(fact, tool, code, facts.get("errors", "")) if failed else facts.get("output", "")


def _why(fact: Fact, tool: str, code: str, errors: str) -> UnknownFact:
    if code == LOCKED:
        return UnknownFact(
            fact,
            "the host answered other preflights of this migration for over two minutes",
            "Run preflight again when they have ended.",
            is_failure=True,
        )
    if code == "timeout":
        return UnknownFact(
            fact, f"{tool} did not end within 120 s", "Check the load and the network of the host.", is_failure=True
        )
    if code == "large":
        return UnknownFact(fact, f"{tool} printed more than 4 MiB")
    if _NO_CLASS in errors:
        return UnknownFact(
            fact, f"Kafka on the host has no {tool}", "Install a whole Kafka distribution on the MirrorMaker host."
        )
    if _DENIED.search(errors):
        remedy = f"Grant {fact.right} to the user of the connection."
        return UnknownFact(fact, f"the login has no right to run {tool}", remedy)
    if _UNSUPPORTED.search(errors):
        return UnknownFact(fact, f"{tool}: {last_error(errors)}")
    return UnknownFact(fact, f"{tool}: {last_error(errors)}", "Correct the cause that the tool names.", is_failure=True)


def last_error(errors: str) -> str:
    """Return the innermost error of a tool's output on stderr."""
    lines = [line.strip() for line in errors.splitlines() if _ERROR.search(line) and not line.startswith("\tat ")]
    found = lines[-1] if lines else errors.strip()[-LONGEST_REASON:] or "no reason"
    return found.removeprefix("Caused by: ")[:LONGEST_REASON]


def clock_findings(machine: str, other: str, shown: datetime, earliest: datetime, latest: datetime) -> Findings:
    """Yield the warning about a machine whose clock showed a time outside of the moments between which it was read.

    `earliest` and `latest` are those moments by the clock of the other machine.
    """
    ahead, late = shown - latest, earliest - shown
    difference = max(ahead, late)
    if difference > CLOCK_TOLERANCE:
        apart = f"{int(difference.total_seconds()):,} s {'ahead' if ahead > late else 'behind'}"
        tolerated = f"{int(CLOCK_TOLERANCE.total_seconds())} s"
        yield Finding(
            Code.CLOCKS_DIFFER,
            f"{machine} and {other}",
            f"a clock that is {apart}",
            f"at most {tolerated} of difference",
            "Let NTP set the clocks of all machines.",
            happened=f"The clock of {machine} is {apart}, compared with the clock of {other}.",
            matters=f"With more than {tolerated} of difference, logins and certificates can fail, retention deletes at "
            "other times, and the times in reports are wrong.",
        )
