"""Every broker of both clusters answers the MirrorMaker host at its advertised address."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.mirror.host import ProbeSubject
from kafka_migration.preflight.scene.asking_host import (
    SIDES,
    addresses_of,
    machine,
    only_with_tools,
    tool,
    unknown_warnings,
)
from kafka_migration.preflight.scene.check import Check, Subject
from kafka_migration.preflight.scene.reached_brokers import NamesOnHost, connect_findings
from kafka_migration.preflight.scene.tool_answers import UnknownFact, answer_of


def _check(subject: Subject) -> Iterable[Finding]:
    return [finding for side in SIDES for finding in _unreached(subject, side)]


def _unreached(subject: Subject, side: Side) -> Iterator[Finding]:
    answer = _answer(subject, side)
    on_host = NamesOnHost.of(machine(subject).facts.get("names", ""))
    return connect_findings(f"{side}.connection", addresses_of(subject, side), answer, on_host)


def _warn(subject: Subject) -> Iterable[Finding]:
    answers = {f"{side}.connection": _answer(subject, side) for side in SIDES}
    return unknown_warnings(
        {where: each for where, each in answers.items() if isinstance(each, UnknownFact) and not each.is_failure}
    )


def _answer(subject: Subject, side: Side) -> str | UnknownFact:
    facts = tool(subject, ProbeSubject.BROKERS, side)
    return answer_of("whether the host reaches the brokers", facts, "Describe on the cluster")


CHECK = Check("host brokers", only_with_tools(_check), needs=("clusters", "host"), warn=_warn)
