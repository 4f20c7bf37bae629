"""What Kafka listeners show before a login: TLS, certificate, SASL mechanisms. No secret is sent.

Each is asked by an own connection. The one request is Kafka's `SaslHandshake` (version 1, Kafka 1.0 and later): a
listener with a login answers with its mechanisms, a listener without one with `ILLEGAL_SASL_STATE`
(https://kafka.apache.org/protocol).
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from cryptography import x509

from kafka_migration.adapters.system.deadlines import of_each, time_left
from kafka_migration.adapters.system.tls import trusting
from kafka_migration.core.connections.client_settings import HOST_NAME_CHECK, as_text
from kafka_migration.core.connections.connection_checks import protocol_of
from kafka_migration.core.connections.listener import Attempt, Listener, addresses_in
from kafka_migration.core.connections.mechanisms import MECHANISMS, mechanism_of
from kafka_migration.core.kafka.cluster import Certificate

TIMEOUT_S = 3.0
# This many listeners are enough to find a reason.
AT_MOST = 8
_SASL_HANDSHAKE, _VERSION, _CORRELATION = 17, 1, 7
_ILLEGAL_SASL_STATE = 34
_MAX_ANSWER = 64 * 1024


def attempt_of(config: Mapping[str, Any], reported: Sequence[str], *, are_all_down: bool) -> Attempt:
    """Return all that is known of a connection that no broker answers: its settings, listeners and errors.

    Only the listeners that reported errors name are asked; if no broker is up, those of `bootstrap.servers` as well.
    """
    servers = [server.strip() for server in str(config["bootstrap.servers"]).split(",")] if are_all_down else []
    suspects = list(dict.fromkeys([*servers, *addresses_in(reported)]))[:AT_MOST]
    found = of_each(suspects, lambda server: _look(server, config))
    listeners = [listener for listener in found.values() if listener is not None]
    return Attempt(config, own_certificates(config), listeners, reported)


def certificates_at(servers: Sequence[str]) -> dict[str, Certificate]:
    """Return the certificate that each address shows in a TLS handshake; one that does not answer is missing."""
    found = of_each(dict.fromkeys(servers), _offered)
    return {server: certificate for server, (_, certificate) in found.items() if certificate is not None}


def own_certificates(config: Mapping[str, Any]) -> tuple[Certificate, ...]:
    """Return the client certificates of a connection; none if it has none."""
    return certificates(as_text(config.get("ssl.certificate.pem")) or "")


def certificates(pem: str) -> tuple[Certificate, ...]:
    """Return the certificates of a text in PEM; none if it cannot be read."""
    with suppress(ValueError):
        return tuple(_certificate(each) for each in x509.load_pem_x509_certificates(pem.encode()))
    return ()


def principal_of(config: Mapping[str, Any]) -> str:
    """Return the principal that brokers probably derive from a connection; they may map names by rules of their own."""
    own = own_certificates(config)
    kerberos = (as_text(config.get("sasl.kerberos.principal")) or "").partition("@")[0].partition("/")[0]
    user = as_text(config.get("sasl.username")) or kerberos or (own[0].subject if own else "ANONYMOUS")
    return f"User:{user}"


def _look(server: str, config: Mapping[str, Any]) -> Listener | None:
    """Return what a listener shows; `None` without proof of what it is, as for a broker that hangs or just stops."""
    is_tls, certificate = _offered(server)
    if not is_tls:
        # It may have closed the connection for any reason. An answer without TLS proves that it has none.
        mechanisms = _mechanisms(server, config, is_tls=False)
        return None if mechanisms is None else Listener(server, False, mechanisms=mechanisms)
    if not protocol_of(config).endswith("SSL"):
        return Listener(server, True, certificate)
    distrust = _distrust(server, config)
    return Listener(server, True, certificate, distrust, None if distrust else _mechanisms(server, config, is_tls=True))


def _connected(server: str) -> socket.socket:
    host, _, port = server.rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), time_left(TIMEOUT_S))


def _offered(server: str) -> tuple[bool, Certificate | None]:
    """Return whether a listener completes a TLS handshake, and its certificate, whether it can be trusted or not."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with _connected(server) as plain, context.wrap_socket(plain, server_hostname=_host(server)) as shown:
            der = shown.getpeercert(binary_form=True)
    except OSError:
        return False, None
    return True, _certificate(x509.load_der_x509_certificate(der)) if der else None


def _distrust(server: str, config: Mapping[str, Any]) -> str:
    try:
        with _connected(server) as plain, _trusting(config).wrap_socket(plain, server_hostname=_host(server)):
            return ""
    except ssl.SSLCertVerificationError as error:
        return error.verify_message
    except OSError:
        return ""


def _trusting(config: Mapping[str, Any]) -> ssl.SSLContext:
    """Return a context that trusts what the connection trusts."""
    context = trusting(as_text(config.get("ssl.ca.pem")))
    context.check_hostname = (as_text(config.get(HOST_NAME_CHECK)) or "").lower() != "none"
    return context


def _mechanisms(server: str, config: Mapping[str, Any], *, is_tls: bool) -> tuple[str, ...] | None:
    with suppress(OSError, struct.error, UnicodeDecodeError), _connected(server) as plain:
        if not is_tls:
            return _asked(plain, mechanism_of(config))
        with _trusting(config).wrap_socket(plain, server_hostname=_host(server)) as encrypted:
            return _asked(encrypted, mechanism_of(config))
    return None


def _asked(channel: socket.socket, mechanism: str) -> tuple[str, ...]:
    """Send a `SaslHandshake`; return the mechanisms of the answer. Raises `OSError` or `struct.error` without one."""
    wanted = (mechanism or next(iter(MECHANISMS))).encode()
    header = struct.pack(">hhih", _SASL_HANDSHAKE, _VERSION, _CORRELATION, -1)
    request = header + struct.pack(">h", len(wanted)) + wanted
    channel.sendall(struct.pack(">i", len(request)) + request)
    (size,) = struct.unpack(">i", _read(channel, 4))
    if not 0 < size <= _MAX_ANSWER:
        raise struct.error("not an answer of Kafka")
    return _parsed(_read(channel, size))


def _parsed(answer: bytes) -> tuple[str, ...]:
    correlation, error, count = struct.unpack_from(">ihi", answer)
    if correlation != _CORRELATION:
        raise struct.error("not an answer of Kafka")
    if error == _ILLEGAL_SASL_STATE:
        return ()
    names, at = [], 10
    for _ in range(count):
        (length,) = struct.unpack_from(">h", answer, at)
        # A length that is negative or too large is a `struct.error`.
        (name,) = struct.unpack_from(f">{length}s", answer, at + 2)
        names.append(name.decode())
        at += 2 + length
    return tuple(sorted(names))


def _read(channel: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = channel.recv(size - len(found))
        if not part:
            raise ConnectionResetError
        found += part
    return found


def _host(server: str) -> str:
    return server.rpartition(":")[0].strip("[]")


def _certificate(found: x509.Certificate) -> Certificate:
    return Certificate(
        found.subject.rfc4514_string(),
        found.issuer.rfc4514_string(),
        _hosts(found),
        found.not_valid_before_utc,
        found.not_valid_after_utc,
    )


def _hosts(found: x509.Certificate) -> tuple[str, ...]:
    try:
        names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return ()
    addresses = map(str, names.get_values_for_type(x509.IPAddress))
    return (*names.get_values_for_type(x509.DNSName), *addresses)
