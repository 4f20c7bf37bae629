"""What an Airflow connection of type `http` may say."""

from __future__ import annotations

from typing import Any

import pytest

from kafka_migration.core.connections.http import HttpSettings, address, http_findings
from kafka_migration.core.findings.codes import Code


@pytest.mark.parametrize(
    ("host", "scheme", "port", "url"),
    [
        ("registry", "", None, "http://registry"),
        ("registry", "https", 8081, "https://registry:8081"),
        ("https://registry", "", 8081, "https://registry:8081"),
        ("https://registry:8081/apis/ccompat/v7/", "", None, "https://registry:8081/apis/ccompat/v7"),
    ],
)
def test_address_is_the_one_of_airflows_provider(host: str, scheme: str, port: int | None, url: str) -> None:
    """The host may be a whole URL; else the schema and the port complete it."""
    assert url == address(host, scheme, port)


@pytest.mark.parametrize(
    ("url", "user", "extra"),
    [
        ("http://registry:8081", "", {}),
        ("https://registry/apis/ccompat/v7", "ada", {"ssl.ca.pem": "…"}),
        ("https://[::1]:8081", "ada", {}),
    ],
)
def test_good_connection_has_no_finding(url: str, user: str, extra: dict[str, Any]) -> None:
    """A login needs https; without a login http is allowed."""
    assert [] == list(http_findings(HttpSettings("reg", url, user, user), extra))


@pytest.mark.parametrize(
    ("url", "user", "extra", "code", "found"),
    [
        ("http://", "", {}, Code.CONNECTION_INVALID, "no address"),
        ("ftp://registry", "", {}, Code.CONNECTION_INVALID, "no address"),
        ("https://registry:99999", "", {}, Code.CONNECTION_INVALID, "no address"),
        ("https://registry/path:8081", "", {}, Code.CONNECTION_INVALID, "a port after the path"),
        ("https://reg\nistry", "", {}, Code.CONNECTION_INVALID, "no address"),
        ("https://registré", "", {}, Code.CONNECTION_INVALID, "no address"),
        ("https://registry/?a=b", "", {}, Code.CONNECTION_INVALID, "no address"),
        ("https://ada:secret@registry", "", {}, Code.CONNECTION_INVALID, "a login in the host"),
        ("http://registry", "ada", {}, Code.CONNECTION_INSECURE, "a login over http"),
        ("https://registry", "", {"verify": False}, Code.CONNECTION_INVALID, "'verify'"),
        ("https://registry", "", {"ssl.ca.pem": 1}, Code.CONNECTION_INVALID, "no text"),
    ],
)
def test_bad_connection_has_one_finding(url: str, user: str, extra: dict[str, Any], code: Code, found: str) -> None:
    """Each mistake is one finding, and none shows a password."""
    (finding,) = http_findings(HttpSettings("reg", url, user, user), extra)

    assert finding.code is code
    assert found in finding.found
    assert "secret" not in str(finding)


@pytest.mark.parametrize("url", ["http://localhost:8080", "http://127.0.0.1", "http://[::1]:8080/airflow"])
def test_a_login_on_this_machine_needs_no_tls(url: str) -> None:
    """A login over http to this machine crosses no network."""
    assert [] == list(http_findings(HttpSettings("reg", url, "ada", "secret"), {}))
