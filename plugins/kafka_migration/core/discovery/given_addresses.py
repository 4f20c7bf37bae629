"""Addresses that a person gives, completed with the defaults of a platform."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kafka_migration.core.discovery.described_cluster import Entrance
from kafka_migration.core.discovery.presets import access_to, default_port, unsupported
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.text.secret_forms import given_unless_secret

_SERVER = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?")
_MAX_PORT = 65_535


def entrance_of(servers: str, preset: str) -> Entrance:
    """Return the addresses `host[:port],…` with the platform's port, protocol and mechanism.

    Raises `Refused` with a finding for each wrong address, and for a port whose login cannot be used.
    """
    texts = [each.strip() for each in servers.split(",")]
    found = [_SERVER.fullmatch(each) for each in texts]
    wrong = [text for text, match in zip(texts, found, strict=True) if not match or not _is_port(match[2])]
    if wrong:
        raise Refused([_wrong(text) for text in dict.fromkeys(wrong)])
    pairs = [(match[1], int(match[2] or default_port(preset))) for match in found if match]
    ports = list(dict.fromkeys(number for _, number in pairs))
    if findings := [finding for number in ports if (finding := unsupported(preset, number))]:
        raise Refused(findings)
    return Entrance(tuple(f"{host}:{number}" for host, number in pairs), *_access(preset, ports))


def _access(preset: str, ports: Sequence[int]) -> tuple[str | None, str | None]:
    found = {access_to(preset, number) for number in ports}
    access = found.pop() if len(found) == 1 else None
    return (access.protocol, access.mechanism) if access else (None, None)


def _is_port(text: str | None) -> bool:
    return text is None or 0 < int(text) <= _MAX_PORT


def _wrong(text: str) -> Finding:
    # An address with an @ may have a password.
    found = "an address with an @" if "@" in text else given_unless_secret(text)
    return Finding(
        Code.CONNECTION_INVALID,
        "--bootstrap",
        found,
        "host or host:port, separated by commas",
        "Write host or host:port, separated by commas.",
        happened=f"--bootstrap has {found}, which is no address of a broker.",
        matters="No connection can be proposed for it.",
    )
