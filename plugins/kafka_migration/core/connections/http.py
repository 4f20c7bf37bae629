"""The settings of an Airflow connection of type `http`: its address, its login and the CA that it trusts."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import urlsplit

from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding

CONNECTION_TYPE = "http"
CA = "ssl.ca.pem"
_SECURE = "https"
_SCHEMES = ("http", _SECURE)
# A last label that is a number: no name of a host ends so.
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")


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
    """Return whether a host is this machine: `localhost`, or an address of 127.0.0.0/8 or ::1 in its usual form.

    Only there a login may go over http, and nothing goes there through a proxy. `localhost.` is not this machine: a
    resolver may ask the network for it.
    """
    if host.lower() == "localhost":
        return True
    found = _ip_of(host)
    return found is not None and found.is_loopback


def basic_login(user: str, password: str) -> str:
    """Return a login as HTTP's basic authentication writes it."""
    return b64encode(f"{user}:{password}".encode(errors="surrogatepass")).decode()


def _ip_of(host: str) -> IPv4Address | IPv6Address | None:
    """Return the IP address that a host is, `None` if it is a name."""
    try:
        found = ip_address(host)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def _is_odd(host: str) -> bool:
    """Return whether a resolver would read a host as an IP address in an unusual form, such as `127.1` and `0x7f.1`.

    The unspecified addresses `0.0.0.0` and `::` count too: a connection to them ends on this machine.
    """
    found = _ip_of(host)
    return bool(_NUMBER.fullmatch(host.removesuffix(".").rpartition(".")[2])) if found is None else found.is_unspecified


def http_findings(settings: HttpSettings, extra: Mapping[str, object]) -> Iterator[Finding]:
    """Yield why a connection cannot be used. The extra may have `ssl.ca.pem` only."""
    if problem := _problem_of(settings.url):
        yield _invalid(settings, *problem)
    elif (settings.user or settings.password) and is_open(settings.url):
        yield Finding(
            Code.CONNECTION_INSECURE,
            f"connection {settings.connection}",
            "a login over http, which anyone on the network path can read",
            "https",
            "Use the https address of the service, or remove the login if the service needs none.",
            happened=f"The settings of {settings.connection} have a login for an http address.",
            matters="Anyone on the network path could read user and password, so the login is not sent.",
        )
    unknown = sorted(ascii(name) for name in extra if name != CA)
    if unknown:
        yield _invalid(settings, f"the name {', '.join(unknown)} in its extra", f"only {CA} in its extra")
    if not isinstance(extra.get(CA, ""), str):
        yield _invalid(settings, f"{CA} that is no text", f"certificates in PEM as {CA}")


def _problem_of(url: str) -> tuple[str, str] | None:
    """Return what an address has that it may not have, and what is expected."""
    try:
        parts = urlsplit(url)
        is_address = parts.scheme in _SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_address = False
    # `urlsplit` drops line breaks.
    is_plain = url.isascii() and url.isprintable() and " " not in url
    if not is_address or not is_plain or parts.query or parts.fragment:
        return "no address of a service", "a host, or a URL with http:// or https://"
    if ":" in parts.path:
        return "a port after the path", "the port in the host, if the host has a path"
    if parts.username is not None or parts.password is not None:
        return "a login in the host", "the login in the fields login and password"
    if _is_odd(parts.hostname or ""):
        return "an IP address in an unusual form", "a host name, or an IP address in its usual form"
    return None


def is_open(url: str) -> bool:
    """Return whether someone on a network path can read what is sent to an address."""
    parts = urlsplit(url)
    return parts.scheme != _SECURE and not is_loopback(parts.hostname or "")


def _invalid(settings: HttpSettings, found: str, expected: str) -> Finding:
    return Finding(
        Code.CONNECTION_INVALID,
        f"connection {settings.connection}",
        found,
        expected,
        f"Correct the Airflow connection, so that it has {expected}.",
        happened=f"The settings of {settings.connection} have {found}.",
        matters="No request is sent with such a connection, so nothing can be asked of the service.",
    )
