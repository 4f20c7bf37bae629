"""Each reason why a listener refuses a connection has its own code; without a reason there is no finding."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from kafka_migration.core.connections.listener import Attempt, Listener, addresses_in, refusal
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.kafka.cluster import Certificate

NOW = datetime(2026, 1, 10, tzinfo=UTC)
DAY = timedelta(days=1)
GOOD = Certificate("CN=broker", "CN=ca", ("b1",), NOW - DAY, NOW + DAY)
ENDED = Certificate("CN=broker", "CN=ca", ("b1",), NOW - 2 * DAY, NOW - DAY)
EARLY = Certificate("CN=broker", "CN=ca", ("b1",), NOW + DAY, NOW + 2 * DAY)
SCRAM = {"security.protocol": "SASL_SSL", "sasl.mechanism": "SCRAM-SHA-512"}
TLS = {"security.protocol": "ssl"}
LOGIN_FAILED = "sasl_ssl://b1:9/bootstrap: SASL authentication error: Authentication failed (after 3ms)"
ALERT = "ssl://b1:9/bootstrap: Receive failed: ssl/tls alert bad certificate: SSL alert number 42"


def listener(*, is_tls: bool = True, distrust: str = "", mechanisms: tuple[str, ...] | None = ()) -> Listener:
    """A listener with a good certificate."""
    return Listener("b1:9", is_tls, GOOD if is_tls else None, distrust, mechanisms)


def shown(certificate: Certificate | None, distrust: str) -> Listener:
    """A TLS listener with a certificate that is not accepted."""
    return Listener("b1:9", True, certificate, distrust)


CASES = {
    "TLS required": ({}, listener(), (), Code.PROTOCOL_DIFFERS),
    "no TLS": (TLS, listener(is_tls=False), (), Code.PROTOCOL_DIFFERS),
    "login required": (TLS, listener(mechanisms=("PLAIN",)), (), Code.PROTOCOL_DIFFERS),
    "no login": (SCRAM, listener(), (LOGIN_FAILED,), Code.PROTOCOL_DIFFERS),
    "certificate ended": (TLS, shown(ENDED, "certificate has expired"), (), Code.CERTIFICATE_EXPIRED),
    "certificate early": (TLS, shown(EARLY, "not yet valid"), (), Code.CERTIFICATE_NOT_YET_VALID),
    "other host": (TLS, shown(GOOD, "Hostname mismatch, …"), (), Code.CERTIFICATE_OF_OTHER_HOST),
    "other CA": (TLS, shown(GOOD, "self-signed certificate"), (), Code.CERTIFICATE_NOT_TRUSTED),
    "unknown certificate": (TLS, shown(None, "self-signed certificate"), (), Code.CERTIFICATE_NOT_TRUSTED),
    "mechanism": (SCRAM, listener(mechanisms=("PLAIN",)), (LOGIN_FAILED,), Code.MECHANISM_NOT_OFFERED),
    "login": (SCRAM, listener(mechanisms=("SCRAM-SHA-512",)), (LOGIN_FAILED,), Code.LOGIN_REFUSED),
    "login, mechanisms unknown": (SCRAM, listener(mechanisms=None), (LOGIN_FAILED,), Code.LOGIN_REFUSED),
    "ticket": (
        {**SCRAM, "sasl.mechanism": "GSSAPI"},
        listener(mechanisms=("GSSAPI",)),
        (f"{LOGIN_FAILED}: GSSAPI Error",),
        Code.KERBEROS_FAILED,
    ),
    "client certificate": (TLS, listener(mechanisms=None), ("refused", ALERT), Code.CLIENT_CERTIFICATE_REFUSED),
}
GSSAPI = f"{LOGIN_FAILED}: GSSAPI Error: No credentials were supplied, or the credentials were unavailable "
KERBEROS_SAYS = {
    "(No Kerberos credentials available (default cache: FILE:/tmp/cache))": Code.KERBEROS_KEYTAB_WRONG,
    "(Client 'me@EXAMPLE' not found in Kerberos database)": Code.KERBEROS_KEYTAB_WRONG,
    "(Decrypt integrity check failed)": Code.KERBEROS_KEYTAB_WRONG,
    "(Preauthentication failed)": Code.KERBEROS_KEYTAB_WRONG,
    "The referenced context has expired (Success)": Code.KERBEROS_TICKET_EXPIRED,
    "(Ticket expired)": Code.KERBEROS_TICKET_EXPIRED,
    "(Clock skew too great in KDC reply)": Code.KERBEROS_CLOCK_SKEW,
    "(Cannot contact any KDC for realm 'EXAMPLE')": Code.KERBEROS_FAILED,
    "(Server other/b1@EXAMPLE not found in Kerberos database)": Code.KERBEROS_FAILED,
}


@pytest.mark.parametrize(("said", "code"), KERBEROS_SAYS.items())
def test_reason_of_kerberos_has_its_code(said: str, code: Code) -> None:
    """A wrong keytab, an ended ticket and a wrong clock are told apart; anything else quotes Kerberos."""
    config = {**SCRAM, "sasl.mechanism": "GSSAPI"}
    found = refusal("source", Attempt(config, (), [listener(mechanisms=("GSSAPI",))], (f"{GSSAPI}{said}",)), NOW)

    assert found is not None
    assert code is found.code


@pytest.mark.parametrize("case", CASES)
def test_reason_has_its_code(case: str) -> None:
    """The finding names the reason, the listener and the connection."""
    config, seen, reported, code = CASES[case]
    found = refusal("source (old)", Attempt(config, (), [seen], reported), NOW)

    assert found is not None
    assert (code, "source (old)") == (found.code, found.subject)
    assert "b1:9" in found.found


def test_own_certificate_that_ended_is_the_reason() -> None:
    """If the client certificate has ended, the finding names its date and this machine's clock."""
    found = refusal("source", Attempt(TLS, (ENDED,), [listener(mechanisms=None)], (ALERT,)), NOW)

    assert found is not None
    assert Code.CERTIFICATE_EXPIRED is found.code
    assert "the client certificate ended at 2026-01-09 00:00:00 UTC" in found.found
    assert "clock says 2026-01-10" in found.found


OAUTH = {"sasl.mechanism": "OAUTHBEARER", "sasl.oauthbearer.token.endpoint.url": "https://login.example/token"}
NO_TOKEN = "Failed to acquire SASL OAUTHBEARER token: "


@pytest.mark.parametrize("answer", ['{"error": "invalid_client"}', "SSL certificate problem: self-signed certificate"])
def test_token_that_is_not_given_is_the_reason(answer: str) -> None:
    """The endpoint has answered: its address and its answer are in the finding, whatever the listeners show."""
    found = refusal("source", Attempt(OAUTH, (), [listener()], (f"{NO_TOKEN}{answer}",)), NOW)

    assert found is not None
    assert (Code.TOKEN_NOT_GIVEN, f"no token from https://login.example/token: {answer}") == (found.code, found.found)


NO_REASON = {
    "a token endpoint that is down": (OAUTH, [], (f"{NO_TOKEN}Failed to connect to login.example",)),
    "a token endpoint that fails": (OAUTH, [], (f'{NO_TOKEN}{{"status":503,"error":"Service Unavailable"}}',)),
    "a token endpoint of that name": (OAUTH, [], (f"{NO_TOKEN}Could not resolve host: certificate.example",)),
    "a token endpoint that is busy": (OAUTH, [], (f'{NO_TOKEN}{{"error":"temporarily_unavailable"}}',)),
    "a token endpoint that answered later": (OAUTH, [], (f'{NO_TOKEN}{{"error":"x"}}', f"{NO_TOKEN}timed out")),
    "a good listener": (TLS, [listener()], ()),
    "a good listener beside a bad one": (TLS, [listener(is_tls=False), listener()], ()),
    "no listener answers": (TLS, [], ("ssl://b1:9/bootstrap: Connect failed: Connection refused",)),
    "a good login": (SCRAM, [listener(mechanisms=("SCRAM-SHA-512",))], ()),
    "the login of another listener failed": (SCRAM, [listener(mechanisms=None)], (LOGIN_FAILED.replace("b1", "b2"),)),
    "a connection that was lost during the login": (
        SCRAM,
        [listener(mechanisms=("SCRAM-SHA-512",))],
        ("sasl_ssl://b1:9/1: SASL SCRAM-SHA-512 mechanism handshake failed: Local: Broker transport failure",),
    ),
    "a disconnect": (TLS, [listener(mechanisms=None)], ("ssl://b1:9/1: Disconnected (after 9ms)",)),
}


@pytest.mark.parametrize("case", NO_REASON)
def test_without_a_reason_there_is_no_finding(case: str) -> None:
    """What could pass by itself is no refusal."""
    config, seen, reported = NO_REASON[case]

    assert refusal("source", Attempt(config, (), seen, reported), NOW) is None


def test_addresses_of_reported_errors_are_found() -> None:
    """Each address is found once, in every form in which librdkafka writes one."""
    texts = [
        LOGIN_FAILED,
        LOGIN_FAILED,
        "b-2.x:9092/1: Connect failed",
        "ssl://[::1]:9093/12: ?",
        "1/1 brokers are down",
    ]

    assert ["b1:9", "b-2.x:9092", "[::1]:9093"] == addresses_in(texts)
