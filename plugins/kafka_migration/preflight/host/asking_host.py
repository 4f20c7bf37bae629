"""The questions to the MirrorMaker host itself that several checks ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.mirror.host import HostProbe, HostTools, ProbeSubject
from kafka_migration.preflight.scene.check import Findings, NotApplicable
from kafka_migration.preflight.scene.scene import SIDES, Scene, asked_once, facts

# The host looks up no more names; of further ones nothing is known.
MOST_NAMES = 200
# getent's exit code for a name without an address.
_NO_ADDRESS = "2"
# Kerberos allows 5 minutes, and certificates and tokens begin at a moment. NTP keeps clocks within a second.
CLOCK_TOLERANCE = timedelta(seconds=60)


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
    return tools_of(scene, scene.run.host_tools).fingerprint(mirror.kafka_home, mirror.java_home).facts


def tools_of(scene: Scene, tools: HostTools | None) -> HostTools:
    """Return the tools of the host. Raises `NotApplicable` if the engine needs no host."""
    if tools is None:
        raise NotApplicable(scene.migration.mirror.abilities.needs_host.why_not)
    return tools


@asked_once
def machine(scene: Scene) -> MachineAnswer:
    """Return the facts of the host, which looks up the names of all brokers."""
    clock, names = scene.run.clock.now, names_of_brokers(scene)[:MOST_NAMES]
    before = clock()
    found = tools_of(scene, scene.run.host_tools).probe(HostProbe(ProbeSubject.HOST, names=names)).facts
    return MachineAnswer(found, before, clock())


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
