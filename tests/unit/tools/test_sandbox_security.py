"""Rules of the sandbox's secured clusters: certificates, listeners and connections fit together."""

from __future__ import annotations

import ssl
from base64 import b64encode
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jwt
import pytest
from cryptography import x509

from kafka_migration.core.connections.connection_checks import connection_findings
from kafka_migration.core.connections.java_properties import java_findings
from sandbox.security.authority import Authority
from sandbox.security.listeners import PORTS, WAYS, Security, Way, token_endpoints


@pytest.fixture
def security(tmp_path: Path) -> Security:
    return Security(tmp_path, {name: 9000 + number for number, name in enumerate(PORTS)})


def test_certificate_is_of_its_authority_and_host() -> None:
    """A certificate names the host, is signed by the authority, and is valid for the requested time only."""
    authority, ends = Authority(), datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=5)
    issued = x509.load_pem_x509_certificate(
        authority.issue("broker", hosts=("broker1",), ends=ends).certificate.encode()
    )
    trusted = x509.load_pem_x509_certificate(authority.certificate.encode())
    names = issued.extensions.get_extension_for_class(x509.SubjectAlternativeName).value

    issued.verify_directly_issued_by(trusted)
    assert ["broker1"] == names.get_values_for_type(x509.DNSName)
    assert ends == issued.not_valid_after_utc


def test_certificate_and_key_fit_together(tmp_path: Path) -> None:
    """TLS accepts the pair of a certificate and its key."""
    issued = Authority().issue("broker")
    path = tmp_path / "broker.pem"
    path.write_text(issued.key + issued.certificate)

    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(path)


@pytest.mark.parametrize("way", WAYS)
def test_connection_is_accepted(security: Security, way: Way) -> None:
    """The package accepts the connection of each way, for Python and for Java clients, without an exception."""
    settings, endpoints = security.connection(way), [token_endpoints([security])]

    assert () == connection_findings("old_kafka", settings, (), lambda feature: False, endpoints)
    assert () == java_findings("old_kafka", settings)


def test_secrets_are_readable_by_their_owner_only(security: Security) -> None:
    """Keys are in files that no other user reads, and no password is in the text of an object."""
    listeners = security.listeners()

    assert {0o600} == {path.stat().st_mode & 0o777 for path in security.folder.glob("*.pem")}
    assert security.password not in f"{security!r}{listeners!r}"
    assert security.tokens.secret not in f"{security!r}{security.tokens!r}"


def test_token_is_given_to_its_client_only(security: Security) -> None:
    """Client and secret get a token that its key verifies; another secret, request or path gets an error of OAuth."""
    server = security.tokens
    asked = "grant_type=client_credentials"
    own, wrong = (f"Basic {b64encode(f'migration:{each}'.encode()).decode()}" for each in (server.secret, "?"))

    status, answer = server.answer("/oauth2/token", own, asked)

    claims = jwt.decode(answer["access_token"], server.public_key, ["RS256"], audience="kafka")
    assert (200, "migration") == (status, claims["sub"])
    assert (401, {"error": "invalid_client"}) == server.answer("/oauth2/token", wrong, asked)
    assert (401, {"error": "invalid_client"}) == server.answer("/oauth2/token", "Basic ?", asked)
    assert (400, {"error": "invalid_request"}) == server.answer("/oauth2/token", own, "grant_type=password")
