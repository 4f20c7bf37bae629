"""What a listener shows before a login is read as it is, and nothing that it sends can do harm.

The live tests do the same with real brokers (`live/test_refused_connections.py`).
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from kafka_migration.adapters.kafka import listeners
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.adapters.kafka.listeners import attempt_of, certificates
from kafka_migration.adapters.system.deadlines import at_most
from kafka_migration.core.connections.listener import Listener
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.kafka.cluster import KafkaCluster
from sandbox.security.authority import Authority

SECRET = "canary-password"
LOGIN = {"sasl.mechanism": "PLAIN", "sasl.username": "canary-user", "sasl.password": SECRET}


def answer(error: int, *mechanisms: str, correlation: int = 7) -> bytes:
    """Return the frame of an answer to a `SaslHandshake`."""
    names = b"".join(struct.pack(">h", len(name)) + name.encode() for name in mechanisms)
    body = struct.pack(">ihi", correlation, error, len(mechanisms)) + names
    return struct.pack(">i", len(body)) + body


class Server:
    """A listener that gives each request the same answer, and keeps what it received."""

    def __init__(self, context: ssl.SSLContext | None, reply: bytes) -> None:
        self.received: list[bytes] = []
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._context, self._reply = context, reply
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"127.0.0.1:{self._listening.getsockname()[1]}"

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                channel, _ = self._listening.accept()
                with channel, suppress(OSError):
                    self._answer(self._context.wrap_socket(channel, server_side=True) if self._context else channel)

    def _answer(self, channel: socket.socket) -> None:
        with channel:
            self.received.append(channel.recv(4096))
            if self.received[-1]:
                channel.sendall(self._reply)

    def close(self) -> None:
        """Stop listening."""
        self._listening.close()


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start listeners, which end with the test."""
    started: list[Server] = []

    def make(reply: bytes = b"", authority: Authority | None = None) -> Server:
        context = None
        if authority is not None:
            issued = authority.issue("broker")
            path = tmp_path / "broker.pem"
            path.write_text(issued.key + issued.certificate)
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(path)
        started.append(Server(context, reply))
        return started[-1]

    yield make
    for server in started:
        server.close()


def seen(server: Server, **settings: str) -> Listener:
    """Return what a listener shows to a connection."""
    named = {name.replace("_", "."): text for name, text in settings.items()}
    (found,) = attempt_of({"bootstrap.servers": server.address, **named}, (), are_all_down=True).listeners
    return found


def test_mechanisms_of_a_listener_are_read(serve: Callable[..., Server]) -> None:
    """A listener with a login names its mechanisms, one without a login has none."""
    login = {"security_protocol": "SASL_PLAINTEXT", **{n.replace(".", "_"): v for n, v in LOGIN.items()}}

    assert ("PLAIN", "SCRAM-SHA-512") == seen(serve(answer(33, "SCRAM-SHA-512", "PLAIN")), **login).mechanisms
    assert () == seen(serve(answer(34)), **login).mechanisms


def test_certificate_is_read_whether_it_is_trusted_or_not(serve: Callable[..., Server]) -> None:
    """A trusted certificate gives no reason, another one gives OpenSSL's; both are shown."""
    authority = Authority("mine")
    server = serve(answer(34), authority)
    trusted = seen(server, security_protocol="SSL", ssl_ca_pem=authority.certificate)
    distrusted = seen(server, security_protocol="SSL", ssl_ca_pem=Authority("other").certificate)

    assert ("", ()) == (trusted.distrust, trusted.mechanisms)
    assert ("unable to get local issuer certificate", None) == (distrusted.distrust, distrusted.mechanisms)
    for listener in (trusted, distrusted):
        assert listener.certificate is not None
        assert ("CN=mine", ("127.0.0.1",)) == (listener.certificate.issuer, listener.certificate.hosts)


def test_no_secret_is_sent(serve: Callable[..., Server]) -> None:
    """A listener receives neither the user nor the password, with TLS or without."""
    authority = Authority()
    for protocol, server in (("SASL_PLAINTEXT", serve(answer(0, "PLAIN"))), ("SASL_SSL", serve(b"", authority))):
        attempt_of(
            {"bootstrap.servers": server.address, "security.protocol": protocol, "ssl.ca.pem": authority.certificate}
            | LOGIN,
            (),
            are_all_down=True,
        )

        assert any(b"PLAIN" in received for received in server.received)
        assert not any(b"canary" in received for received in server.received)


BAD_REPLIES = {
    "nothing": b"",
    "half a length": b"\0\0",
    "no length": struct.pack(">i", 0),
    "a huge length": struct.pack(">i", 2**31 - 1),
    "a negative length": struct.pack(">i", -5),
    "another answer": answer(0, "PLAIN", correlation=8),
    "more names than it has": struct.pack(">iihi", 10, 7, 33, 2**31 - 1),
    "a name that is longer than the answer": struct.pack(">iihih", 12, 7, 33, 1, 200) + b"PLAIN",
    "a negative name": struct.pack(">iihih", 12, 7, 33, 1, -2),
    "bytes that are no text": struct.pack(">iihih", 14, 7, 33, 1, 2) + b"\xff\xfe",
    "HTTP": b"HTTP/1.1 400 Bad Request\r\n\r\n",
}


@pytest.mark.parametrize("reply", BAD_REPLIES)
@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_any_other_answer_proves_nothing(
    serve: Callable[..., Server], monkeypatch: pytest.MonkeyPatch, reply: str, protocol: str
) -> None:
    """A listener that does not answer as Kafka does is unknown: it is not proved that it has no TLS."""
    monkeypatch.setattr(listeners, "TIMEOUT_S", 0.5)
    config = {"bootstrap.servers": serve(BAD_REPLIES[reply]).address, "security.protocol": protocol}

    assert [] == attempt_of(config, (), are_all_down=True).listeners


def test_listener_that_hangs_proves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker that accepts connections and is silent, as while it is stopped, is no reason for a refusal."""
    monkeypatch.setattr(listeners, "TIMEOUT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as hanging:
        config = {"bootstrap.servers": f"127.0.0.1:{hanging.getsockname()[1]}", "security.protocol": "SSL"}

        assert [] == attempt_of(config, (), are_all_down=True).listeners


def test_listener_that_does_not_answer_is_left_out() -> None:
    """An address where nothing listens, or that has no host, is no listener."""
    config = {"bootstrap.servers": "127.0.0.1:1, no.such.host.invalid:9092"}

    assert [] == attempt_of(config, (), are_all_down=True).listeners


def test_only_suspected_listeners_are_asked(serve: Callable[..., Server]) -> None:
    """While a broker is up, only the addresses of reported errors are asked, such as an advertised one."""
    good, advertised = serve(answer(34)), serve(answer(34))
    reported = [f"{advertised.address}/3: Disconnected (after 5ms)", "an error without an address"]
    attempt = attempt_of({"bootstrap.servers": good.address}, reported, are_all_down=False)

    assert [advertised.address] == [listener.address for listener in attempt.listeners]
    assert [] == good.received


def test_text_without_certificates_has_none() -> None:
    """PEM that cannot be parsed is not an error here; the client refuses it by itself."""
    assert () == certificates("-----BEGIN CERTIFICATE-----\n?\n-----END CERTIFICATE-----\n")


CALLS: list[Callable[[KafkaCluster], object]] = [
    lambda c: c.facts(),
    lambda c: c.topic_names(),
    lambda c: c.list_groups(),
]


@pytest.mark.parametrize("call", CALLS, ids=["facts", "topic_names", "list_groups"])
def test_call_of_a_refused_connection_names_the_reason(
    serve: Callable[..., Server], call: Callable[[KafkaCluster], object]
) -> None:
    """A call without an answer is a refusal if the listener shows why; the others' text tells what the client saw."""
    settings = {"security.protocol": "SSL", "ssl.ca.pem": Authority("other").certificate}
    refused = ConfluentCluster("old", {"bootstrap.servers": serve(b"", Authority("mine")).address, **settings})
    silent = ConfluentCluster("old", {"bootstrap.servers": "127.0.0.1:1"})
    with at_most(3), pytest.raises(Refused) as error:
        call(refused)
    with at_most(3), pytest.raises(TransientError, match="Connection refused"):
        call(silent)

    assert [Code.CERTIFICATE_NOT_TRUSTED] == [finding.code for finding in error.value.findings]
