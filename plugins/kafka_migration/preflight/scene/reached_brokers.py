"""Whether the MirrorMaker host reaches every broker of a cluster at its advertised address."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.preflight.scene.tool_answers import LONGEST_REASON, UnknownFact

# getent's exit code for a name without an address.
_NO_ADDRESS = "2"
# One line per broker of `BrokerApiVersionsCommand`; newer versions add words to the parentheses.
_BROKER = re.compile(r"(\S{1,300}:\d{1,5}) \(id: -?\d{1,10} .{0,600}\) -> (\(|ERROR:.*)")


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


def broker_names(addresses: Sequence[str]) -> tuple[str, ...]:
    """Return the host names in addresses `host:port`, without duplicates."""
    return tuple(sorted({_host(address) for address in addresses}))


def broker_answers(output: str) -> Mapping[str, str]:
    """Return the error per broker address in a tool's output; empty if the broker answered."""
    found = filter(None, map(_BROKER.fullmatch, output.split("\n")))
    return {
        each[1]: "" if each[2] == "(" else each[2].removeprefix("ERROR:").strip() or "an error without a text"
        for each in found
    }


def resolve_findings(
    subject: str, addresses: Sequence[str], on_host: NamesOnHost, on_worker: Mapping[str, Sequence[str]]
) -> Iterator[Finding]:
    """Yield the finding about broker names without an address on the host, with the lines for its `/etc/hosts`."""
    missing = [name for name in broker_names(addresses) if name in on_host.missing]
    if not missing:
        return
    block = "\n".join(f"{on_worker[name][0]} {name}" for name in missing if on_worker.get(name))
    remedy = (
        f"Let the host's DNS know them, or add these lines to /etc/hosts on the host:\n{block}\n"
        if block
        else "Let the host's DNS know them, or correct advertised.listeners of the brokers."
    )
    yield Finding(
        Code.HOST_CANNOT_RESOLVE,
        subject,
        f"no address of {', '.join(missing)} on the MirrorMaker host",
        "an address of every broker that the cluster advertises",
        remedy,
    )


def connect_findings(
    subject: str, addresses: Sequence[str], answer: str | UnknownFact, on_host: NamesOnHost
) -> Iterator[Finding]:
    """Yield the finding about brokers that did not answer Kafka's tool on the host."""
    # A broker without an address has a finding of its own.
    wanted = [address for address in addresses if _host(address) not in on_host.missing]
    if isinstance(answer, UnknownFact):
        if answer.is_failure and len(wanted) == len(addresses):
            yield _unreached(subject, answer.reason)
        return
    answers = broker_answers(answer)
    failed = [f"{address} ({answers.get(address, 'no answer')})" for address in wanted if answers.get(address) != ""]
    if failed:
        yield _unreached(subject, f"no connection to {', '.join(failed)}"[:LONGEST_REASON])


def _unreached(subject: str, found: str) -> Finding:
    return Finding(
        Code.HOST_CANNOT_CONNECT,
        subject,
        f"{found}, from the MirrorMaker host",
        "an answer of every broker that the cluster advertises",
        "Check firewall and routes from the MirrorMaker host to these addresses. Airflow itself reaches the cluster "
        "with the same connection.",
    )


def _host(address: str) -> str:
    return address.rpartition(":")[0]
