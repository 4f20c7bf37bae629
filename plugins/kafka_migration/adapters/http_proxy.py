"""The proxy that the environment names for an address."""

from __future__ import annotations

from importlib.util import find_spec
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore

from kafka_migration.adapters.tls import trusting
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
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        # The error may quote a part of the login.
        raise ValueError("a proxy address in the environment that cannot be read") from None
    if parts.scheme not in ("http", _SECURE, *_SOCKS) or not host:
        raise ValueError(f"a proxy of the kind {parts.scheme!a} in the environment")
    if parts.scheme in _SOCKS and not find_spec("socksio"):
        raise ValueError(f"a proxy of the kind {parts.scheme} in the environment, which needs the package socksio")
    login = (unquote(parts.username).encode(), unquote(parts.password or "").encode()) if parts.username else None
    return httpcore.Proxy(
        httpcore.URL(scheme=parts.scheme, host=host, port=port, target="/"),
        auth=login,
        ssl_context=trusting(None) if parts.scheme == _SECURE else None,
    )
