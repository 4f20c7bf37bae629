"""The settings of an Airflow connection of type `http`: its address, its login and the CA that it trusts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding

CONNECTION_TYPE = "http"
CA = "ssl.ca.pem"
_SECURE = "https"
_SCHEMES = ("http", _SECURE)


@dataclass(frozen=True, slots=True)
class HttpSettings:
    """Where a service is and how to log in; `ca_pem` are certificates of authorities, empty for the system's."""

    connection: str
    url: str
    user: str = ""
    password: str = field(default="", repr=False)
    ca_pem: str = ""


def address(host: str, scheme: str, port: int | None) -> str:
    """Return the URL of a connection, as Airflow's HTTP provider builds it: the host may be a whole URL."""
    base = host if "://" in host else f"{scheme or 'http'}://{host}"
    return f"{base}:{port}".rstrip("/") if port else base.rstrip("/")


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, so that no one on a network path reads a request."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def http_findings(settings: HttpSettings, extra: Mapping[str, object]) -> Iterator[Finding]:
    """Yield why a connection cannot be used. The extra may have `ssl.ca.pem` only."""
    url = settings.url
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in _SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    # `urlsplit` drops line breaks.
    is_plain = url.isascii() and url.isprintable() and " " not in url
    if not is_address or not is_plain or parts.query or parts.fragment:
        yield _invalid(settings, "no address of a service", "a host, or a URL with http:// or https://")
    elif ":" in parts.path:
        yield _invalid(settings, "a port after the path", "the port in the host, if the host has a path")
    elif parts.username is not None or parts.password is not None:
        yield _invalid(settings, "a login in the host", "the login in the fields login and password")
    elif parts.scheme != _SECURE and (settings.user or settings.password) and not is_loopback(parts.hostname or ""):
        yield Finding(
            Code.CONNECTION_INSECURE,
            f"connection {settings.connection}",
            "a login over http, which anyone on the network path can read",
            "https",
            "Use the https address of the service, or remove the login if the service needs none.",
        )
    unknown = sorted(ascii(name) for name in extra if name != CA)
    if unknown:
        yield _invalid(settings, f"in the extra {', '.join(unknown)}", f"only {CA}")
    if not isinstance(extra.get(CA, ""), str):
        yield _invalid(settings, f"{CA} that is no text", "certificates in PEM")


def _invalid(settings: HttpSettings, found: str, expected: str) -> Finding:
    subject = f"connection {settings.connection}"
    return Finding(Code.CONNECTION_INVALID, subject, found, expected, "Correct the Airflow connection.")
