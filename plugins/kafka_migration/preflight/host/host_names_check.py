"""The MirrorMaker host finds an address of every broker that both clusters advertise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Side
from kafka_migration.core.text.shortened import some
from kafka_migration.preflight.scene.asking_host import (
    SIDES,
    addresses_of,
    machine,
    names_of_brokers,
    only_with_mirrormaker,
    unknown_warnings,
)
from kafka_migration.preflight.scene.check import Check, Subject
from kafka_migration.preflight.scene.reached_brokers import NamesOnHost, broker_names, resolve_findings
from kafka_migration.preflight.scene.tool_answers import UnknownFact

_UNKNOWN = UnknownFact("which names the host resolves", "getent is missing there", "Install getent on the host.")


def _check(subject: Subject) -> Iterable[Finding]:
    return [finding for side in SIDES for finding in _unresolved(subject, side)]


def _unresolved(subject: Subject, side: Side) -> Iterator[Finding]:
    addresses, on_host = addresses_of(subject, side), NamesOnHost.of(machine(subject).facts.get("names", ""))
    on_worker = {name: subject.probes.look_up(name) for name in broker_names(addresses) if name in on_host.missing}
    return resolve_findings(f"{side}.connection", addresses, on_host, on_worker)


def _warn(subject: Subject) -> Iterable[Finding]:
    text = machine(subject).facts.get("names", "")
    unknown = NamesOnHost.of(text).unknown(names_of_brokers(subject))
    fact = _ended(unknown) if text else _UNKNOWN
    return unknown_warnings({"the MirrorMaker host": fact} if unknown else {})


def _ended(names: Sequence[str]) -> UnknownFact:
    reason = f"the look-up of {some(names)} gave no answer in time"
    return UnknownFact("which names the host resolves", reason, "Check the DNS servers of the host.")


CHECK = Check("host names", only_with_mirrormaker(_check), needs=("clusters", "host"), warn=_warn)
