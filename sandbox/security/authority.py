"""A certificate authority for tests: certificates in PEM, valid or wrong in one chosen way."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from sandbox.parts import HOST

VALID_FOR = timedelta(days=365)
# Clocks of clients may be a little slow.
STARTED_AGO = timedelta(hours=1)
_CURVE = ec.SECP256R1()


@dataclass(frozen=True)
class Credentials:
    """A certificate and its private key (PKCS#8), both in PEM."""

    certificate: str
    key: str = field(repr=False)


class Authority:
    """Issues certificates; `certificate` is its own one, which clients and brokers trust."""

    def __init__(self, name: str = "sandbox") -> None:
        self._key = ec.generate_private_key(_CURVE)
        self._name = _named(name)
        now = datetime.now(UTC)
        built = (
            _builder(self._name, self._name, self._key.public_key(), now - STARTED_AGO, now + VALID_FOR)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.certificate = _pem(built)

    def issue(
        self,
        name: str,
        *,
        hosts: Sequence[str] = (HOST,),
        starts: datetime | None = None,
        ends: datetime | None = None,
    ) -> Credentials:
        """Issue a certificate for a name and hosts, valid from `starts` (default: an hour ago) until `ends`."""
        key, now = ec.generate_private_key(_CURVE), datetime.now(UTC)
        built = (
            _builder(_named(name), self._name, key.public_key(), starts or now - STARTED_AGO, ends or now + VALID_FOR)
            .add_extension(x509.SubjectAlternativeName([_host(host) for host in hosts]), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
        return Credentials(_pem(built), key.private_bytes(encoding, form, serialization.NoEncryption()).decode())


def _builder(
    name: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey, starts: datetime, ends: datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(issuer).public_key(key)
    return builder.serial_number(x509.random_serial_number()).not_valid_before(starts).not_valid_after(ends)


def _named(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _host(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
