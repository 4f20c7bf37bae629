"""Real brokers refuse a connection: each reason has a code of its own, and is known at once."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.connections.client_settings import WITH_SYSTEM_TRUST
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused, TransientError
from sandbox.environment import base_environment
from sandbox.kafka import KafkaCluster, Listener
from sandbox.parts import Part, free_ports, wait_ready
from sandbox.security.authority import Authority
from sandbox.security.listeners import AUTHORIZER, PORTS, WAYS, Security, client_certificate
from sandbox.security.tokens import TokenServer

pytestmark = [pytest.mark.live, pytest.mark.campaign]

# A refusal comes within this time (issue of the secured clusters); the client alone gives up after 20 s.
LIMIT_S = 15
DAY = timedelta(days=1)
# Listeners whose certificate is wrong.
WRONG = ("ended", "early", "elsewhere", "stranger")

Config = Mapping[str, Any]


@dataclass(frozen=True)
class Refusing:
    """A broker with good listeners, and one more per wrong certificate; it accepts no token of `strange_tokens`."""

    security: Security
    kafka: KafkaCluster
    stranger: Authority
    strange_tokens: TokenServer

    def good(self, way: Any, **changed: str) -> Config:
        """Return the settings of a connection that works, with some of them changed."""
        return {**self.security.connection(way), **{name.replace("_", "."): text for name, text in changed.items()}}

    def at(self, listener: str) -> Config:
        """Return the settings of a TLS connection to a listener with a wrong certificate."""
        (found,) = [each for each in self.kafka.listeners if each.name == listener]
        return self.good("tls", bootstrap_servers=found.address)

    def own(self, authority: Authority, starts: datetime | None = None, ends: datetime | None = None) -> Config:
        """Return the settings of a connection with another client certificate."""
        own = authority.issue("someone", starts=starts, ends=ends)
        return {**self.good("mtls"), **client_certificate(own)}


@pytest.fixture(scope="module")
def refusing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Refusing]:
    """The broker, which runs until the end of the module."""
    folder: Path = tmp_path_factory.mktemp("refusing")
    ports = free_ports(3 + len(PORTS) + len(WRONG))
    security, stranger = Security(folder / "security", dict(zip(PORTS, ports, strict=False))), Authority("stranger")
    strange_tokens = TokenServer(folder / "strange", ports[-3], security.tokens.user, security.tokens.authority)
    now = datetime.now(UTC)
    certificates = {
        "ended": security.authority.issue("broker", starts=now - 2 * DAY, ends=now - DAY),
        "early": security.authority.issue("broker", starts=now + DAY),
        "elsewhere": security.authority.issue("broker", hosts=("elsewhere.example",)),
        "stranger": stranger.issue("broker"),
    }
    wrong = [
        Listener(name, port, "SSL", security.tls_properties(name, certificates[name]))
        for name, port in zip(WRONG, ports[len(PORTS) :], strict=False)
    ]
    listeners = (*security.listeners(), *wrong)
    kafka = KafkaCluster("refusing", folder / "kafka", ports[-2], ports[-1], listeners, AUTHORIZER)
    environment = base_environment("refusing")
    kafka.format(environment)
    part = Part(kafka.part(environment, folder))
    part.start()
    servers = (security.tokens, strange_tokens)
    try:
        for server in servers:
            server.start()
        wait_ready([part])
        security.create_users(kafka.bootstrap)
        yield Refusing(security, kafka, stranger, strange_tokens)
    finally:
        for server in servers:
            server.stop()
        part.stop()


def clear(refusing: Refusing, **settings: str) -> Config:
    """Return the settings of a connection to the listener without encryption and login."""
    return {"bootstrap.servers": refusing.kafka.bootstrap, **settings}


def now() -> datetime:
    """Return the time."""
    return datetime.now(UTC)


def without(config: Config, *names: str) -> Config:
    """Return settings without some of them."""
    return {name: value for name, value in config.items() if name not in names}


CASES: dict[str, tuple[Callable[[Refusing], Config], Code, str]] = {
    "wrong password, SCRAM": (
        lambda r: r.good("scram-sha-512", sasl_password="wrong"),
        Code.LOGIN_REFUSED,
        "invalid credentials",
    ),
    "wrong user, SCRAM": (lambda r: r.good("scram-sha-256", sasl_username="x"), Code.LOGIN_REFUSED, "invalid"),
    "wrong password, PLAIN": (lambda r: r.good("plain", sasl_password="wrong"), Code.LOGIN_REFUSED, "Invalid username"),
    "wrong client secret": (
        lambda r: r.good("oauthbearer", sasl_oauthbearer_client_secret="wrong"),
        Code.TOKEN_NOT_GIVEN,
        "invalid_client",
    ),
    "token endpoint with a certificate of a stranger": (
        lambda r: {**without(r.good("oauthbearer"), "https.ca.pem"), **WITH_SYSTEM_TRUST},
        Code.TOKEN_NOT_GIVEN,
        "certificate",
    ),
    "token of a stranger": (
        lambda r: {**r.good("oauthbearer"), **r.strange_tokens.client_login()},
        Code.LOGIN_REFUSED,
        "invalid_token",
    ),
    "wrong mechanism": (
        lambda r: r.good("scram-sha-512", sasl_mechanism="PLAIN"),
        Code.MECHANISM_NOT_OFFERED,
        "offers SCRAM-SHA-256, SCRAM-SHA-512",
    ),
    "certificate ended": (lambda r: r.at("ended"), Code.CERTIFICATE_EXPIRED, f"ended at {now() - DAY:%F}"),
    "certificate not valid yet": (lambda r: r.at("early"), Code.CERTIFICATE_NOT_YET_VALID, f"{now() + DAY:%F}"),
    "certificate of another host": (
        lambda r: r.at("elsewhere"),
        Code.CERTIFICATE_OF_OTHER_HOST,
        "is for elsewhere.example, not for 127.0.0.1",
    ),
    "certificate of a stranger": (lambda r: r.at("stranger"), Code.CERTIFICATE_NOT_TRUSTED, "CN=stranger"),
    "no CA": (lambda r: without(r.good("tls"), "ssl.ca.pem"), Code.CERTIFICATE_NOT_TRUSTED, "the trust store of this"),
    "no client certificate": (
        lambda r: without(r.good("mtls"), "ssl.certificate.pem", "ssl.key.pem"),
        Code.CLIENT_CERTIFICATE_REFUSED,
        "requires a client certificate, and the connection has none",
    ),
    "client certificate of a stranger": (
        lambda r: r.own(r.stranger),
        Code.CLIENT_CERTIFICATE_REFUSED,
        "refused the client certificate",
    ),
    "client certificate ended": (
        lambda r: r.own(r.security.authority, starts=now() - 2 * DAY, ends=now() - DAY),
        Code.CERTIFICATE_EXPIRED,
        f"The client certificate ended at {now() - DAY:%F}",
    ),
    "client certificate not valid yet": (
        lambda r: r.own(r.security.authority, starts=now() + DAY),
        Code.CERTIFICATE_NOT_YET_VALID,
        "The client certificate begins at",
    ),
    "plaintext on a TLS listener": (
        lambda r: clear(r, **{"bootstrap.servers": r.security.address("tls")}),
        Code.PROTOCOL_DIFFERS,
        "requires security.protocol SSL, and",
    ),
    "TLS on a plaintext listener": (
        lambda r: r.good("tls", bootstrap_servers=r.kafka.bootstrap),
        Code.PROTOCOL_DIFFERS,
        "requires security.protocol PLAINTEXT, and",
    ),
    "plaintext on a listener with TLS and login": (
        lambda r: clear(r, **{"bootstrap.servers": r.security.address("plain")}),
        Code.PROTOCOL_DIFFERS,
        "requires security.protocol SSL",
    ),
    "no login on a listener with a login": (
        lambda r: r.good("tls", bootstrap_servers=r.security.address("plain")),
        Code.PROTOCOL_DIFFERS,
        "requires security.protocol SASL_SSL with PLAIN",
    ),
    "login on a TLS listener without a login": (
        lambda r: r.good("plain", bootstrap_servers=r.security.address("tls")),
        Code.PROTOCOL_DIFFERS,
        "requires security.protocol SSL, and",
    ),
    "login over TLS on a plaintext listener": (
        lambda r: r.good("plain", bootstrap_servers=r.kafka.bootstrap),
        Code.PROTOCOL_DIFFERS,
        "requires security.protocol PLAINTEXT, and",
    ),
    "login without TLS on a plaintext listener": (
        lambda r: without(r.good("plain", bootstrap_servers=r.kafka.bootstrap, security_protocol="SASL_PLAINTEXT")),
        Code.PROTOCOL_DIFFERS,
        "requires security.protocol PLAINTEXT, and",
    ),
    "two listeners with wrong certificates": (
        lambda r: r.good("tls", bootstrap_servers=",".join(r.at(n)["bootstrap.servers"] for n in ("ended", "early"))),
        Code.CERTIFICATE_EXPIRED,
        "ended at",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_refusal_is_named(refusing: Refusing, name: str) -> None:
    """What the brokers refuse has its own code, the reason and what would be right, in less than 15 s."""
    settings, code, named = CASES[name]
    cluster = ConfluentCluster("source (old)", settings(refusing))
    asked = time.monotonic()
    with pytest.raises(Refused) as refused:
        cluster.facts()

    assert time.monotonic() - asked < LIMIT_S
    assert [code] == [finding.code for finding in refused.value.findings]
    assert named in str(refused.value)
    assert refusing.security.password not in str(refused.value)
    assert refusing.security.tokens.secret not in str(refused.value)


def test_token_endpoint_that_does_not_answer_refuses_nothing(refusing: Refusing) -> None:
    """An identity provider that is down may be up a moment later: the error is temporary, and names it."""
    settings = {**refusing.good("oauthbearer"), "sasl.oauthbearer.token.endpoint.url": "https://127.0.0.1:1/token"}
    with pytest.raises(TransientError, match="OAUTHBEARER token: Failed to connect to 127"):
        ConfluentCluster("source (old)", settings).facts()


@pytest.mark.parametrize("way", WAYS)
def test_good_connection_is_not_refused(refusing: Refusing, way: Any) -> None:
    """Each way to log in works, so that a refusal says something."""
    assert 1 == ConfluentCluster("source (old)", refusing.good(way)).facts().brokers


def test_certificates_of_the_brokers_are_found(refusing: Refusing) -> None:
    """With TLS each broker's certificate is read from its listener."""
    (found,) = ConfluentCluster("source (old)", refusing.good("mtls")).certificates().items()

    assert refusing.security.address("mtls") == found[0]
    assert ("CN=broker", True) == (found[1].subject, found[1].is_valid_at(now()))


def test_one_good_listener_is_enough(refusing: Refusing) -> None:
    """A listener with a wrong certificate beside a good one does not hinder the client."""
    servers = f"{refusing.at('ended')['bootstrap.servers']},{refusing.security.address('tls')}"

    assert 1 == ConfluentCluster("source (old)", refusing.good("tls", bootstrap_servers=servers)).facts().brokers


def test_missing_right_is_named(refusing: Refusing) -> None:
    """A user without rights is refused in the broker's words."""
    cluster = ConfluentCluster("source (old)", refusing.good("plain"))
    with pytest.raises(Refused) as refused:
        cluster.committed_offsets("g")

    assert [Code.RIGHT_MISSING] == [finding.code for finding in refused.value.findings]
