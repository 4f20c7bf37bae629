"""The MirrorMaker host finds an address of every broker that both clusters advertise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.text.shortened import some
from kafka_migration.preflight.host.asking_host import NamesOnHost, broker_names, machine, names_of_brokers
from kafka_migration.preflight.scene.check import (
    BOTH_AND_HOST,
    Check,
    Fact,
    Findings,
    UnknownFact,
    unknown_warnings,
    without_mirrormaker,
)
from kafka_migration.preflight.scene.scene import SIDES, Scene, facts

_NAMES = Fact(
    "whether the host resolves the names of all brokers", "MirrorMaker cannot reach a broker whose name has no address."
)


def _check(scene: Scene) -> Findings:
    for side in SIDES:
        addresses, on_host = facts(scene, side).addresses, machine(scene).names
        on_worker = {name: scene.airflow.look_up(name) for name in broker_names(addresses) if name in on_host.missing}
        yield from resolve_findings(f"{side}.connection", addresses, on_host, on_worker)


def resolve_findings(
    subject: str, addresses: Sequence[str], on_host: NamesOnHost, on_worker: Mapping[str, Sequence[str]]
) -> Findings:
    """Yield the finding about broker names without an address on the host, with the lines for its `/etc/hosts`."""
    missing = [name for name in broker_names(addresses) if name in on_host.missing]
    if not missing:
        return
    block = "\n".join(f"{on_worker[name][0]} {name}" for name in missing if on_worker.get(name))
    yield Finding(
        Code.HOST_CANNOT_RESOLVE,
        subject,
        f"no address of {', '.join(missing)} on the MirrorMaker host",
        "an address of every broker that the cluster advertises",
        f"Add the names to the host's DNS, or these lines to /etc/hosts on the host:\n{block}\n"
        if block
        else "Add the names to the host's DNS, or correct advertised.listeners of the brokers.",
        happened=f"The MirrorMaker host finds no address for {', '.join(missing)}, which brokers of {subject} "
        "advertise.",
        matters="MirrorMaker cannot copy the partitions of a broker that it does not reach.",
    )


def _warn(scene: Scene) -> Findings:
    answer = machine(scene)
    unknown = answer.names.unknown(names_of_brokers(scene))
    fact = _ended(unknown) if answer.facts.get("names") else _NO_GETENT
    return unknown_warnings({"the MirrorMaker host": fact} if unknown else {})


_NO_GETENT = UnknownFact(_NAMES, "getent is missing there", "Install getent on the MirrorMaker host.")


def _ended(names: Sequence[str]) -> UnknownFact:
    reason = f"the look-up of {some(names)} gave no answer in time"
    return UnknownFact(_NAMES, reason, "Check the DNS servers that the MirrorMaker host uses.")


CHECK = Check(
    "host names", _check, asks=BOTH_AND_HOST, needs=("clusters", "host"), warn=_warn, unless=without_mirrormaker
)
