"""Why the listeners of a cluster refuse a connection: from what they offer, and from what the Kafka client reported.

librdkafka reports the same text for every certificate that it refuses, and nothing if a listener requires TLS.
Therefore the listener itself is asked. It shows its TLS, certificate and SASL mechanisms before a login.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from kafka_migration.core.connections.client_settings import OAUTH_ENDPOINT
from kafka_migration.core.connections.connection_checks import protocol_of
from kafka_migration.core.connections.mechanisms import mechanism_named, mechanism_of
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding
from kafka_migration.core.kafka.cluster import Certificate
from kafka_migration.core.text.shortened import capitalized

Config = Mapping[str, object]

_MAX_REPORTED = 300
# librdkafka begins an error of a connection with `<protocol>://<host>:<port>/<broker id, or bootstrap>: `.
_ADDRESS = re.compile(r"(?:\w+://)?(\[[^\]]+\]:\d+|[\w.-]+:\d+)/(?:bootstrap|\d+): ")
# OpenSSL's names of the alerts with which a broker refuses a client certificate, as librdkafka quotes them.
_CLIENT_CERTIFICATE_ALERTS = ("certificate", "unknown ca")
# How librdkafka begins the error, and what follows if the endpoint has refused the client: an error of OAuth (RFC 6749,
# section 5.2), or curl's words for a certificate that is not accepted. Any other answer may be temporary.
_WITHOUT_GRANT = "Failed to acquire SASL OAUTHBEARER token: "
_GRANT_REFUSED = re.compile(
    r'"error"\s{0,20}:\s{0,20}"(?:invalid_client|invalid_grant|invalid_request|invalid_scope|unauthorized_client'
    r'|unsupported_grant_type)"|SSL certificate problem|SSL: no alternative certificate|error adding trust anchors'
)
_SET_IN_CONNECTION = "in the Airflow connection"
_NO_LOGIN = "Nothing can read or write the cluster with this connection."


@dataclass(frozen=True, slots=True)
class Listener:
    """What one listener shows before a login.

    `is_tls`: whether it answers a TLS handshake. `distrust`: why its certificate is not accepted, in OpenSSL's words;
    empty if it is. `mechanisms`: those of its SASL login, none if it has no login, `None` if it did not answer that.
    """

    address: str
    is_tls: bool
    certificate: Certificate | None = None
    distrust: str = ""
    mechanisms: tuple[str, ...] | None = None

    @property
    def protocol(self) -> str:
        """The `security.protocol` that it requires, as far as it showed it."""
        return ("SASL_" if self.mechanisms else "") + ("SSL" if self.is_tls else "PLAINTEXT")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A connection that no broker has answered.

    `config` are its settings, `own` its client certificates, `listeners` those that the client could not use and that
    answer, and `reported` the errors of the client, oldest first.
    """

    config: Config
    own: Sequence[Certificate]
    listeners: Sequence[Listener]
    reported: Sequence[str]


def addresses_in(reported: Sequence[str]) -> list[str]:
    """Return the addresses that reported errors are about, each once; brokers' advertised addresses among them."""
    found = (_ADDRESS.match(text) for text in reported)
    return list(dict.fromkeys(match[1] for match in found if match))


def lacks_token(reported: str) -> bool:
    """Whether an error means that the client got no OAuth token, for any reason."""
    return reported.startswith(_WITHOUT_GRANT)


def refusal(name: str, attempt: Attempt, now: datetime) -> Finding | None:
    """Return why the cluster, or the token endpoint, refuses the connection; `name` names cluster and connection.

    Returns `None` if that is not known, or if one of the listeners has no reason to refuse it.
    """
    reasons = [next(_reasons(attempt, listener, now), None) for listener in attempt.listeners]
    reason = _token_refused(attempt) or (reasons[0] if reasons and all(reasons) else None)
    return replace(reason, subject=name) if reason else None


def _reason(code: Code, found: str, expected: str, remedy: str, happened: str, matters: str = _NO_LOGIN) -> Finding:
    """Return a reason why a connection is refused; `refusal` names the subject."""
    return Finding(code, "", found, expected, remedy, happened=happened, matters=matters)


def _token_refused(attempt: Attempt) -> Finding | None:
    """Return the reason of the endpoint's latest answer; an endpoint that does not answer has refused nothing."""
    texts = [text.removeprefix(_WITHOUT_GRANT) for text in attempt.reported if lacks_token(text)]
    if not texts or _GRANT_REFUSED.search(texts[-1]) is None:
        return None
    return _reason(
        Code.TOKEN_NOT_GIVEN,
        f"no token from {attempt.config.get(OAUTH_ENDPOINT)}: {texts[-1][:_MAX_REPORTED]}",
        "a token for the client of the connection",
        f"Correct client id, secret and scope {_SET_IN_CONNECTION}, or set https.ca.pem to the certificate of the "
        "endpoint's CA.",
        f"The token endpoint {attempt.config.get(OAUTH_ENDPOINT)} gave no token: {texts[-1][:_MAX_REPORTED]}.",
    )


def _reasons(attempt: Attempt, listener: Listener, now: datetime) -> Iterator[Finding]:
    yield from _other_protocol(attempt.config, listener)
    if listener.distrust:
        yield _distrusted(attempt.config, listener, now)
    yield from _refused_login(attempt, listener, now)


def _other_protocol(config: Config, listener: Listener) -> Iterator[Finding]:
    ours = protocol_of(config)
    is_other_login = listener.mechanisms is not None and bool(listener.mechanisms) != ours.startswith("SASL_")
    if listener.is_tls != ours.endswith("SSL") or is_other_login:
        needed = listener.protocol
        login = f" with {' or '.join(listener.mechanisms)}" if listener.mechanisms else ""
        yield _reason(
            Code.PROTOCOL_DIFFERS,
            f"security.protocol {ours}, but the listener {listener.address} requires {needed}{login}",
            f"security.protocol {needed}, or the address of a listener for {ours}",
            f"Set security.protocol to {needed} {_SET_IN_CONNECTION}, or bootstrap.servers to a listener for {ours}.",
            f"The listener {listener.address} requires security.protocol {needed}{login}, and the connection has "
            f"{ours}.",
        )


def _distrusted(config: Config, listener: Listener, now: datetime) -> Finding:
    certificate = listener.certificate
    if certificate is not None and not certificate.is_valid_at(now):
        return _outdated(f"the certificate of {listener.address}", certificate, now)
    if certificate is not None and "mismatch" in listener.distrust:
        return _reason(
            Code.CERTIFICATE_OF_OTHER_HOST,
            f"the certificate of {listener.address} is for {', '.join(certificate.hosts) or certificate.subject}",
            f"a certificate for {listener.address.rpartition(':')[0]}",
            "Use a name from the certificate in bootstrap.servers and advertised.listeners, or have the certificate "
            "issued for this name.",
            f"The certificate of {listener.address} is for {', '.join(certificate.hosts) or certificate.subject}, not "
            f"for {listener.address.rpartition(':')[0]}.",
            "Another machine may answer at this address, so the client does not log in.",
        )
    issuer = f", issued by {certificate.issuer}" if certificate else ""
    trusted = "in ssl.ca.pem" if "ssl.ca.pem" in config else "in the trust store of this machine"
    return _reason(
        Code.CERTIFICATE_NOT_TRUSTED,
        f"the certificate of {listener.address}{issuer}: {listener.distrust}",
        f"a certificate whose CA is {trusted}",
        f"Make sure that the address is right. Then set ssl.ca.pem {_SET_IN_CONNECTION} to the certificate of the CA.",
        f"The certificate of {listener.address}{issuer and f'{issuer},'} is from no CA {trusted}: {listener.distrust}.",
        "Another machine may answer at this address, so the client does not log in.",
    )


def _outdated(what: str, certificate: Certificate, now: datetime) -> Finding:
    """Return the reason for a certificate that is not valid now."""
    is_early = now < certificate.starts
    found = f"begins at {certificate.starts:%F %T} UTC" if is_early else f"ended at {certificate.ends:%F %T} UTC"
    return _reason(
        Code.CERTIFICATE_NOT_YET_VALID if is_early else Code.CERTIFICATE_EXPIRED,
        f"{what} {found}; this machine's clock says {now:%F %T} UTC",
        "a certificate that is valid now",
        "Correct this machine's clock if it is wrong. Otherwise renew the certificate.",
        f"{capitalized(what)} {found}, and this machine's clock says {now:%F %T} UTC.",
        "One side refuses a certificate that is not valid now, so nothing can read or write the cluster.",
    )


def _refused_login(attempt: Attempt, listener: Listener, now: datetime) -> Iterator[Finding]:
    mechanism, offered = mechanism_of(attempt.config), listener.mechanisms
    if mechanism and offered and mechanism not in offered:
        yield _reason(
            Code.MECHANISM_NOT_OFFERED,
            f"sasl.mechanism {mechanism}, but the listener {listener.address} offers {', '.join(offered)}",
            f"one of {', '.join(offered)}",
            f"Correct sasl.mechanism {_SET_IN_CONNECTION}, or enable {mechanism} on the brokers.",
            f"The listener {listener.address} offers {', '.join(offered)}, but the connection has sasl.mechanism "
            f"{mechanism}.",
        )
    mine = [text for text in attempt.reported if f"//{listener.address}/" in text]
    if refused := next((text for text in mine if _is_login_failure(text)), ""):
        yield _login_refused(mechanism, refused)
    elif refused := next((text for text in mine if _is_certificate_alert(text)), ""):
        yield _client_certificate(attempt, listener, refused, now)


def _is_login_failure(text: str) -> bool:
    """Whether a login was refused; "Local:" begins librdkafka's own errors, such as a lost connection."""
    is_refusal = "failed" in text.lower() or "SASL authentication error" in text
    return "SASL" in text and is_refusal and "Local:" not in text


def _login_refused(mechanism: str, refused: str) -> Finding:
    reported = refused[:_MAX_REPORTED]
    why = mechanism_named(mechanism).refusal(refused)
    return _reason(
        why.code, reported, why.expected, why.remedy, f"The login of the connection failed: {reported}.", why.matters
    )


def _is_certificate_alert(text: str) -> bool:
    _, alert, name = text.lower().partition("alert ")
    return bool(alert) and any(each in name for each in _CLIENT_CERTIFICATE_ALERTS)


def _client_certificate(attempt: Attempt, listener: Listener, alert: str, now: datetime) -> Finding:
    if outdated := [each for each in attempt.own if not each.is_valid_at(now)]:
        return _outdated("the client certificate", outdated[0], now)
    refused = f"the listener {listener.address} refused the client certificate: {alert[:_MAX_REPORTED]}"
    return _reason(
        Code.CLIENT_CERTIFICATE_REFUSED,
        refused if attempt.own else f"no client certificate, which the listener {listener.address} requires",
        "a client certificate that is valid and whose CA the brokers trust",
        f"Set ssl.certificate.pem and ssl.key.pem {_SET_IN_CONNECTION} to a valid certificate of a CA that the brokers "
        "trust.",
        f"{capitalized(refused)}."
        if attempt.own
        else f"The listener {listener.address} requires a client certificate, and the connection has none.",
    )
