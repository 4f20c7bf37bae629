"""Every broker of both clusters answers the MirrorMaker host at its advertised address."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.mirror.host import ProbeSubject
from kafka_migration.preflight.host.asking_host import (
    LONGEST_REASON,
    NamesOnHost,
    host_of,
    machine,
    tool_answer,
    without_tools,
)
from kafka_migration.preflight.scene.check import Asked, Check, Fact, Findings, UnknownFact, warnings_of_sides
from kafka_migration.preflight.scene.scene import SIDES, Scene, facts

_REACHED = Fact(
    "whether the host reaches the brokers",
    "MirrorMaker may start and then copy nothing.",
    "Describe on the cluster",
)
# One line per broker of `BrokerApiVersionsCommand`; newer versions add words to the parentheses.
_BROKER = re.compile(r"(\S{1,300}:\d{1,5}) \(id: -?\d{1,10} .{0,600}\) -> (\(|ERROR:.*)")


def _check(scene: Scene) -> Findings:
    for side in SIDES:
        addresses = facts(scene, side).addresses
        yield from connect_findings(f"{side}.connection", addresses, _answer(scene, side), machine(scene).names)


def _warn(scene: Scene) -> Findings:
    answers = {side: _answer(scene, side) for side in SIDES}
    is_failure = {side: isinstance(answer, UnknownFact) and answer.is_failure for side, answer in answers.items()}
    return warnings_of_sides({side: answer for side, answer in answers.items() if not is_failure[side]})


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


CHECK = Check(
    "host brokers",
    _check,
    asks={Asked.SOURCE, Asked.TARGET, Asked.HOST, Asked.TOOLS},
    needs=("clusters", "host"),
    warn=_warn,
    unless=without_tools,
)
