"""Checks that ask both clusters from the host with a Kafka client."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import ClassVar

from kafka_migration.core.documents.codec import Document, read
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.preflight.host.asking_clusters import (
    LONGEST_REASON,
    Question,
    last_error,
    on_host,
    without_tools,
)
from kafka_migration.preflight.host.asking_host import NamesOnHost, clock_findings, host_of, machine
from kafka_migration.preflight.scene.check import (
    BOTH_AND_HOST,
    Asked,
    Fact,
    Findings,
    UnknownFact,
    check,
    warnings_of_sides,
)
from kafka_migration.preflight.scene.scene import Scene, facts

# Why each broker did not answer, by its address; empty if it did.
_REACHED = Question(
    "brokers",
    Fact(
        "whether the host reaches the brokers",
        "MirrorMaker may start and then copy nothing.",
        "Describe on the cluster",
    ),
    partial(read, Mapping[str, str]),
)


def _host_brokers_warnings(scene: Scene) -> Findings:
    answers = on_host(scene, _REACHED).items()
    # A failure is a finding.
    return warnings_of_sides(
        {side: answer for side, answer in answers if not (isinstance(answer, UnknownFact) and answer.is_failure)}
    )


@check(
    "host brokers",
    asks=BOTH_AND_HOST | {Asked.TOOLS},
    needs=("clusters", "host"),
    warn=_host_brokers_warnings,
    unless=without_tools,
)
def host_brokers(scene: Scene) -> Findings:
    """Every broker of both clusters answers the MirrorMaker host at its advertised address."""
    for side, answer in on_host(scene, _REACHED).items():
        yield from connect_findings(f"{side}.connection", facts(scene, side).addresses, answer, machine(scene).names)


def connect_findings(
    subject: str, addresses: Sequence[str], answer: Mapping[str, str] | UnknownFact, names: NamesOnHost
) -> Findings:
    """Yield the finding about brokers that did not answer the Kafka client on the host."""
    # A broker without an address has a finding of its own.
    wanted = [address for address in addresses if host_of(address) not in names.missing]
    if isinstance(answer, UnknownFact):
        if answer.is_failure and len(wanted) == len(addresses):
            yield _no_connection(subject, answer.reason, "a broker")
        return
    errors = {address: last_error(answer.get(address, "no answer")) for address in wanted if answer.get(address) != ""}
    failed = [f"{address} ({error})" for address, error in errors.items()]
    if failed:
        yield _no_connection(subject, f"no connection to {', '.join(failed)}"[:LONGEST_REASON], "these brokers")


def _no_connection(subject: str, reason: str, brokers: str) -> Finding:
    return Finding(
        Code.HOST_CANNOT_CONNECT,
        subject,
        f"{reason}, from the MirrorMaker host",
        "an answer of every broker that the cluster advertises",
        "Check firewall and routes from the MirrorMaker host to the brokers; Airflow itself reaches the cluster with "
        "the same connection. Then trigger the run again.",
        happened=f"From the MirrorMaker host a Kafka client got no answer from {brokers}: {reason}.",
        matters="MirrorMaker cannot copy the partitions of a broker that it does not reach.",
    )


@dataclass(frozen=True, slots=True)
class ControllerClock(Document):
    """The time of a cluster's active controller, and the host's before and after it was asked; in ms since 1970."""

    before: int
    after: int
    shown: int = 0

    ADDED: ClassVar[frozenset[str]] = frozenset({"shown"})


_CLOCK = Question(
    "clock",
    Fact(
        "what time the cluster's clocks show",
        "With clocks that differ, logins and certificates can fail and retention deletes at other times.",
        "Describe on the cluster",
    ),
    ControllerClock.from_document,
)
_NO_TIME = UnknownFact(_CLOCK.fact, "its controller does not show it (Kafka 3.3 and newer in KRaft mode do)")
# The year 5138.
_LATEST_MS = 10**14


@check("cluster clocks", asks={Asked.TOOLS}, needs=("clusters", "host"), unless=without_tools, warns=True)
def cluster_clocks(scene: Scene) -> Findings:
    """The clocks of the MirrorMaker host and of both clusters agree."""
    answers = on_host(scene, _CLOCK)
    return warnings_of_sides({side: known_time(answer) for side, answer in answers.items()}, _clock_findings)


def known_time(answer: ControllerClock | UnknownFact) -> ControllerClock | UnknownFact:
    """Return the answer if it has a time."""
    is_known = isinstance(answer, UnknownFact) or 0 < answer.shown < _LATEST_MS
    return answer if is_known else _NO_TIME


def _clock_findings(side: Side, clock: ControllerClock) -> Findings:
    shown, before, after = map(_moment, (clock.shown, clock.before, clock.after))
    return clock_findings(f"the {side}", "the MirrorMaker host", shown, before, after)


def _moment(epoch_ms: int) -> datetime:
    return datetime.fromtimestamp(min(max(epoch_ms, 0), _LATEST_MS) / 1000, UTC)


@dataclass(frozen=True, slots=True)
class Quota(Document):
    """Whom a quota limits, by `user` and `client-id`, each `None` for the default; and to what, by name."""

    of: Mapping[str, str | None]
    rates: Mapping[str, str]

    @property
    def entity(self) -> str:
        """Whom it limits, in Kafka's words."""
        return ", ".join(_named(kind, self.of[name]) for name, kind in _KINDS.items() if name in self.of)

    def limits(self, principal: str) -> bool:
        """Return whether the quota may limit MirrorMaker, whose clients have many ids: only the default id counts."""
        user, client = self.of.get("user"), self.of.get("client-id")
        return user in {None, principal.removeprefix("User:")} and client is None


_KINDS = {"user": "user-principal", "client-id": "client-id"}


def _named(kind: str, name: str | None) -> str:
    return f"the default {kind}" if name is None else f"{kind} '{name}'"


_QUOTAS = Question(
    "quotas",
    Fact(
        "which quotas limit MirrorMaker",
        "A quota can make the copy so slow that it does not end before watch.time_limit.",
        "DescribeConfigs on the cluster",
    ),
    partial(read, tuple[Quota, ...]),
)
# What slows a copy: reading from the source, writing to the target, and the share of the brokers' threads.
_RATES = {
    "source": ("consumer_byte_rate", "request_percentage"),
    "target": ("producer_byte_rate", "request_percentage"),
}


@check("quotas", asks={Asked.TOOLS}, needs=("clusters", "host"), unless=without_tools, warns=True)
def quotas(scene: Scene) -> Findings:
    """No quota slows MirrorMaker; those that may are warnings."""
    principal = scene.airflow.connections.principal
    find = partial(quota_findings, principal_of=lambda side: principal(scene.named(side)))
    return warnings_of_sides(on_host(scene, _QUOTAS), find)


def quota_findings(side: Side, quotas: Sequence[Quota], principal_of: Callable[[Side], str]) -> Findings:
    """Yield a warning per quota that may slow MirrorMaker."""
    principal = principal_of(side)
    for quota in sorted(quotas, key=lambda quota: quota.entity):
        rates = ", ".join(f"{name}={rate}" for name, rate in quota.rates.items() if name in _RATES[side])
        rates, entity = rates[:LONGEST_REASON], quota.entity[:LONGEST_REASON]
        if rates and quota.limits(principal):
            yield Finding(
                Code.QUOTA_SLOWS_MIRROR,
                f"{side}.connection",
                f"a quota for {entity}: {rates}",
                f"no quota that limits {principal}, or a run that has time for it",
                "Calculate how long the topics take at this rate per broker. If that is longer than watch.time_limit, "
                "raise the quota with kafka-configs.sh for the time of the migration.",
                happened=f"The quota for {entity} on the {side} limits MirrorMaker ({principal}) to {rates}.",
                matters="The brokers delay MirrorMaker at this rate, so the copy may not end before watch.time_limit.",
            )
