"""What an Airflow connection of type `http` may say."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from kafka_migration.core.connections.http import HttpSettings, address, http_findings, is_loopback
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


HERE = ["127.0.0.1", "127.1.2.3", "[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "localhost", "LocalHost"]
ODD = ["127.1", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.0.0.01", "127.0.0.1.", "0.0.0.0", "[::]"]
ODD += ["0", "1.2.3.4.5", "host.0x7f", "[::ffff:0.0.0.0]"]
ELSEWHERE = ["localhost.", "localhost.example", "127.0.0.1.example", "[::2]", "[::ffff:10.0.0.1]", "10.0.0.1"]


@pytest.mark.parametrize("host", [*HERE, *ELSEWHERE])
def test_host_is_this_machine_only_in_its_usual_forms(host: str) -> None:
    """A login may go over http exactly to the hosts that are reached without a proxy."""
    url = f"http://{host}:8081"
    is_allowed = not list(http_findings(HttpSettings("reg", url, "ada", "secret"), {}))

    assert (host in HERE) == is_allowed == is_loopback(urlsplit(url).hostname or "")


@pytest.mark.parametrize("host", ODD)
def test_address_in_an_unusual_form_is_refused(host: str) -> None:
    """A resolver reads these as addresses, perhaps of this machine, and no rule here would see it."""
    (finding,) = http_findings(HttpSettings("reg", f"https://{host}:8081", "ada", "secret"), {})

    assert (Code.CONNECTION_INVALID, "an IP address in an unusual form") == (finding.code, finding.found)
