"""The proxy that the environment names for an address."""

from __future__ import annotations

from importlib.util import find_spec
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore

from kafka_migration.adapters.system.tls import trusting
from kafka_migration.core.connections.http import is_loopback

_SECURE = "https"
_SOCKS = ("socks5", "socks5h")


def proxy_of(url: SplitResult) -> httpcore.Proxy | None:
    """Return the proxy for an address, `None` without one; this machine is never reached through a proxy.

    Raises `ValueError` if the environment names something that is no proxy.
    """
    if is_loopback(url.hostname or "") or proxy_bypass(url.netloc):
        return None
    named = getproxies()
    found = named.get(url.scheme) or named.get("all")
    return _proxy(found if "://" in found else f"http://{found}") if found else None


def _proxy(text: str) -> httpcore.Proxy:
    try:
        parts, url, login = _read(text)
    except ValueError:
        # The reason of Python repeats a part of the address, which may be a part of the password.
        raise ValueError("a proxy address in the environment that cannot be read") from None
    if parts.scheme not in ("http", _SECURE, *_SOCKS) or not parts.hostname:
        raise ValueError(f"a proxy of the kind {parts.scheme!a} in the environment")
    if parts.scheme in _SOCKS and not find_spec("socksio"):
        raise ValueError(f"a proxy of the kind {parts.scheme} in the environment, which needs the package socksio")
    return httpcore.Proxy(url, auth=login, ssl_context=trusting(None) if parts.scheme == _SECURE else None)


def _read(text: str) -> tuple[SplitResult, httpcore.URL, tuple[bytes, bytes] | None]:
    """Return the parts of a proxy's address, the proxy without its login, and the login as bytes."""
    parts = urlsplit(text)
    if "@" in parts.path + parts.query + parts.fragment:
        raise ValueError("a login with a character that is not escaped")
    url = httpcore.URL(scheme=parts.scheme, host=parts.hostname or "", port=parts.port, target="/")
    # httpcore takes only ASCII in a login that is text.
    login = (unquote_to_bytes(parts.username), unquote_to_bytes(parts.password or "")) if parts.username else None
    return parts, url, login
