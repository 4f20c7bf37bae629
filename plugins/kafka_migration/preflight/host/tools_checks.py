"""Checks that ask both clusters from the host with Kafka's own tools."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.mirror.host import ProbeSubject
from kafka_migration.preflight.host.asking_host import (
    LONGEST_REASON,
    NamesOnHost,
    clock_findings,
    host_of,
    machine,
    tool_answer,
    tools,
    without_tools,
)
from kafka_migration.preflight.scene.check import Asked, Fact, Findings, UnknownFact, check, warnings_of_sides
from kafka_migration.preflight.scene.scene import SIDES, Scene, facts

_REACHED = Fact(
    "whether the host reaches the brokers",
    "MirrorMaker may start and then copy nothing.",
    "Describe on the cluster",
)
# One line per broker of `BrokerApiVersionsCommand`; newer versions add words to the parentheses.
_BROKER = re.compile(r"(\S{1,300}:\d{1,5}) \(id: -?\d{1,10} .{0,600}\) -> (\(|ERROR:.*)")


def _host_brokers_warnings(scene: Scene) -> Findings:
    answers = {side: _answer(scene, side) for side in SIDES}
    is_failure = {side: isinstance(answer, UnknownFact) and answer.is_failure for side, answer in answers.items()}
    return warnings_of_sides({side: answer for side, answer in answers.items() if not is_failure[side]})


@check(
    "host brokers",
    asks={Asked.SOURCE, Asked.TARGET, Asked.HOST, Asked.TOOLS},
    needs=("clusters", "host"),
    warn=_host_brokers_warnings,
    unless=without_tools,
)
def host_brokers(scene: Scene) -> Findings:
    """Every broker of both clusters answers the MirrorMaker host at its advertised address."""
    for side in SIDES:
        addresses = facts(scene, side).addresses
        yield from connect_findings(f"{side}.connection", addresses, _answer(scene, side), machine(scene).names)


def _answer(scene: Scene, side: Side) -> str | UnknownFact:
    return tool_answer(scene, _REACHED, ProbeSubject.BROKERS, side)


def broker_answers(output: str) -> Mapping[str, str]:
    """Return the error per broker address in a tool's output; empty if the broker answered."""
    found = filter(None, map(_BROKER.fullmatch, output.split("\n")))
    return {
        each[1]: "" if each[2] == "(" else each[2].removeprefix("ERROR:").strip() or "an error without a text"
        for each in found
    }


def connect_findings(
    subject: str, addresses: Sequence[str], answer: str | UnknownFact, on_host: NamesOnHost
) -> Findings:
    """Yield the finding about brokers that did not answer Kafka's tool on the host."""
    # A broker without an address has a finding of its own.
    wanted = [address for address in addresses if host_of(address) not in on_host.missing]
    if isinstance(answer, UnknownFact):
        if answer.is_failure and len(wanted) == len(addresses):
            yield _no_connection(subject, answer.reason, "a broker")
        return
    answers = broker_answers(answer)
    failed = [f"{address} ({answers.get(address, 'no answer')})" for address in wanted if answers.get(address) != ""]
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
        happened=f"From the MirrorMaker host Kafka's own tool got no answer from {brokers}: {reason}.",
        matters="MirrorMaker cannot copy the partitions of a broker that it does not reach.",
    )


_TIME = Fact(
    "what time the cluster's clocks show",
    "With clocks that differ, logins and certificates can fail and retention deletes at other times.",
    "Describe on the cluster",
)
# Until the year 5138; more digits are no time.
_MILLISECONDS = re.compile(r"\d{1,14}", re.ASCII)


@check("cluster clocks", asks={Asked.TOOLS}, needs=("clusters", "host"), unless=without_tools, warns=True)
def cluster_clocks(scene: Scene) -> Findings:
    """The clocks of the MirrorMaker host and of both clusters agree."""
    return warnings_of_sides(
        {side: _time(scene, side) for side in SIDES},
        lambda side, shown: clock_findings(f"the {side}", "the MirrorMaker host", shown, *_call(scene, side)),
    )


def _time(scene: Scene, side: Side) -> datetime | UnknownFact:
    answer = tool_answer(scene, _TIME, ProbeSubject.CLOCK, side)
    return answer if isinstance(answer, UnknownFact) else controller_time(answer)


def controller_time(output: str) -> datetime | UnknownFact:
    """Return the time of the active controller in the output of `MetadataQuorumCommand describe --replication`.

    The leader's own last fetch is its present time. The columns end with the last fetch, the last time without lag, and
    the status.
    """
    rows = [line.split() for line in output.splitlines()]
    leaders = [row for row in rows if len(row) > 3 and row[-1] == "Leader" and _MILLISECONDS.fullmatch(row[-3])]
    if not leaders or int(leaders[0][-3]) == 0:
        return UnknownFact(_TIME, "its controller does not show it (Kafka 3.3 and newer in KRaft mode do)")
    return datetime.fromtimestamp(int(leaders[0][-3]) / 1000, UTC)


def _call(scene: Scene, side: Side) -> tuple[datetime, datetime]:
    """Return the host's times before and after the call; the second one is of a whole second."""
    facts = tools(scene, ProbeSubject.CLOCK)[side]
    before, after = (datetime.fromtimestamp(int(facts[name]), UTC) for name in ("clock_before", "clock"))
    return before, after + timedelta(seconds=1)


_QUOTAS = Fact(
    "which quotas limit MirrorMaker",
    "A quota can make the copy so slow that it does not end before watch.time_limit.",
    "Describe and DescribeConfigs on the cluster",
)
_LINE = re.compile(r"(?:Quota c|C)onfigs for (.*) are ?(.*)")
_USER, _CLIENT = "user-principal", "client-id"
# What slows a copy: reading from the source, writing to the target, and the share of the brokers' threads.
_RATES = {
    "source": ("consumer_byte_rate", "request_percentage"),
    "target": ("producer_byte_rate", "request_percentage"),
}


@check("quotas", asks={Asked.TOOLS}, needs=("clusters", "host"), unless=without_tools, warns=True)
def quotas(scene: Scene) -> Findings:
    """No quota slows MirrorMaker; those that may are warnings."""
    answers = {side: tool_answer(scene, _QUOTAS, ProbeSubject.QUOTAS, side) for side in SIDES}
    principal = scene.airflow.connections.principal
    return warnings_of_sides(answers, lambda side, found: quota_findings(side, found, principal(scene.named(side))))


@dataclass(frozen=True, slots=True)
class Quota:
    """One line of `ConfigCommand`: whom it limits and to what.

    `user` and `client` are `None` if they do not matter, and empty for the default.
    """

    entity: str
    user: str | None
    client: str | None
    rates: str

    def limits(self, principal: str) -> bool:
        """Return whether the quota may limit MirrorMaker, whose clients have many ids: only the default id counts."""
        is_user = self.user in {None, "", principal.removeprefix("User:")}
        return is_user and self.client in {None, ""}


def quotas_of(output: str) -> tuple[Quota, ...]:
    """Return the quotas in the output of `ConfigCommand`."""
    found = filter(None, map(_LINE.fullmatch, output.split("\n")))
    return tuple(_quota(each[1], each[2]) for each in found if each[2].strip())


def _quota(entity: str, rates: str) -> Quota:
    """Read an entity such as `user-principal 'shop', the default client-id`."""
    cut = max(entity.rfind(f", {_CLIENT} '"), entity.rfind(f", the default {_CLIENT}"))
    user, client = (entity[:cut], entity[cut + 2 :]) if cut >= 0 else (entity, entity)
    return Quota(entity, _named(user, _USER), _named(client, _CLIENT), rates)


def _named(text: str, kind: str) -> str | None:
    """Return a name of this kind; empty for the default, `None` for any other text."""
    if text.startswith(f"{kind} '"):
        return text.removeprefix(f"{kind} '").removesuffix("'")
    return "" if text == f"the default {kind}" else None


def quota_findings(side: Side, output: str, principal: str) -> Findings:
    """Yield a warning per quota that may slow MirrorMaker."""
    for quota in quotas_of(output):
        rates = ", ".join(rate for rate in quota.rates.split(", ") if rate.split("=")[0] in _RATES[side])
        if rates and quota.limits(principal):
            yield Finding(
                Code.QUOTA_SLOWS_MIRROR,
                f"{side}.connection",
                f"a quota for {quota.entity}: {rates}",
                f"no quota that limits {principal}, or a run that has time for it",
                "Calculate how long the topics take at this rate per broker. If that is longer than watch.time_limit, "
                "raise the quota with kafka-configs.sh for the time of the migration.",
                happened=f"The quota for {quota.entity} on the {side} limits MirrorMaker ({principal}) to {rates}.",
                matters="The brokers delay MirrorMaker at this rate, so the copy may not end before watch.time_limit.",
            )
