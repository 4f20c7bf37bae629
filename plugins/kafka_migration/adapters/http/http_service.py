"""An HTTP service of an Airflow connection: the CA of the connection, no redirects, and bounded answers.

httpcore alone sends the requests: it follows no redirect, keeps no cookie, reads no `.netrc` and decodes no content.
"""

from __future__ import annotations

import json
import re
import ssl
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future, InvalidStateError, wait
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from threading import Thread
from typing import Any
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore

from kafka_migration.adapters.http.http_wire import MAX_HEADER_BYTES, TooLarge, Wire
from kafka_migration.adapters.system.deadlines import time_left
from kafka_migration.adapters.system.tls import trusting
from kafka_migration.core.connections.http import HttpSettings, basic_login, is_loopback
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.text.shortened import brief

# For each connect, read and write.
TIMEOUT_S = 10.0
# For a whole request, from the look-up of the name to the last byte of the answer.
DEADLINE_S = 60.0
MAX_ANSWER_BYTES = 16 * 1024 * 1024
# The name of the threads in which requests are sent.
THREAD = "http-request"
_KEEP_ALIVE_S = 5.0
_PLAIN = "identity"
_UNREACHED = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.RemoteProtocolError,
    httpcore.ProxyError,
    OSError,
)
# An address or a header that the client cannot use.
_REFUSED = (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol, ValueError)
# httpcore has no class of its own for errors of TLS; OpenSSL's texts begin like this. A server that is restarted or
# overloaded ends the connection, or says that it has an internal error.
_TLS_REFUSED = re.compile(r"\[SSL(?!: (UNEXPECTED_EOF_WHILE_READING|\w+_ALERT_INTERNAL_ERROR)\])")
_JSON = {"Content-Type": "application/json"}
_SECURE = "https"
_SOCKS = ("socks5", "socks5h")


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """Status and body of an answer."""

    status: int
    body: bytes

    def document(self) -> Any:
        """Return the JSON document, `None` if it is none."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    def json_object(self) -> Mapping[str, Any]:
        """Return the JSON object, an empty one if it is none."""
        found = self.document()
        return found if isinstance(found, dict) else {}


class HttpService:
    """Sends requests to the service of an HTTP connection, one at a time. Not thread-safe.

    A common limit (`adapters.system.deadlines.at_most`) makes each time limit shorter.

    :param name: names the service in errors
    :param refused: makes the refusal from what was found
    :param accept: the types of answers that the service shall give
    :param timeout_s: for each connect, read and write
    """

    def __init__(
        self,
        name: str,
        settings: HttpSettings,
        refused: Callable[[str], Refused],
        accept: str = "application/json",
        *,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self._name = name
        self._url = urlsplit(settings.url)
        self._refused = refused
        self._timeout_s = timeout_s
        self._deadline_s = DEADLINE_S
        # httpcore would write an IPv6 address without its brackets.
        self._headers = {"Host": self._url.netloc, "Accept": accept, "Accept-Encoding": _PLAIN, **_login(settings)}
        try:
            # A context reads all authorities of the system.
            has_tls = self._url.scheme == _SECURE or settings.ca_pem
            self._tls, self._proxy = trusting(settings.ca_pem) if has_tls else None, proxy_of(self._url)
        except (ssl.SSLError, TypeError):
            raise refused("ssl.ca.pem without a certificate in PEM") from None
        except ValueError as error:
            raise refused(f"{error}") from None
        self._host = self._url.hostname or ""
        if ":" in self._host and self._proxy and self._proxy.url.scheme.startswith(b"http"):
            # httpcore would ask the proxy for an IPv6 address without its brackets; the wire removes them for TLS.
            self._host = f"[{self._host}]"
        self._connect()

    def get(self, path: str) -> HttpAnswer:
        """Return the answer to a GET request. Raises like `request`."""
        return self.request("GET", path)

    def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, headers: Mapping[str, str] | None = None
    ) -> HttpAnswer:
        """Return the answer to a request; `body` is sent as JSON.

        Raises `Refused` if the connection is refused, has an invalid address, or the answer is too large or encoded,
        and `TransientError` if the service does not answer in time. The deadline holds whatever the request waits for.
        Only the look-up of a name cannot be ended: its thread ends when the resolver answers, and sends nothing.
        """
        content = None if body is None else json.dumps(body).encode()
        typed = {} if content is None else _JSON
        sent = [*self._headers.items(), *(headers or {}).items(), *typed.items()]
        answer: Future[HttpAnswer] = Future()
        # The thread does not know of a common limit.
        limit_s = time_left(self._deadline_s)
        timeouts = dict.fromkeys(("connect", "read", "write", "pool"), time_left(self._timeout_s))
        task = partial(self._answered, self._pool, self._wire, method, path, sent, content, timeouts)
        Thread(target=_settle, args=(answer, task), name=THREAD, daemon=True).start()
        try:
            wait((answer,), limit_s)
        finally:
            # Also if the caller was interrupted.
            if answer.cancel():
                self._wire.cut()
                self._connect()
        return self._result(answer, limit_s)

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()

    def _connect(self) -> None:
        """Make a new pool of one connection; nothing is connected yet."""
        self._wire = Wire(is_local=is_loopback(self._url.hostname or ""))
        self._pool = httpcore.ConnectionPool(
            ssl_context=self._tls,
            proxy=self._proxy,
            max_connections=1,
            keepalive_expiry=_KEEP_ALIVE_S,
            network_backend=self._wire,
        )

    def _answered(
        self,
        pool: httpcore.ConnectionPool,
        wire: Wire,
        method: str,
        path: str,
        headers: list[tuple[str, str]],
        content: bytes | None,
        timeouts: Mapping[str, float],
    ) -> HttpAnswer:
        wire.allow(MAX_HEADER_BYTES, f"more than {MAX_HEADER_BYTES:,} bytes of headers")
        to = httpcore.URL(
            scheme=self._url.scheme,
            host=self._host,
            port=self._url.port,
            target=f"{self._url.path}{path}",
        )
        limits = {"timeout": timeouts}
        with pool.stream(method, to, headers=headers, content=content, extensions=limits) as answer:
            if encodings := _encodings(answer):
                raise self._refused(f"an answer in the content encoding {encodings}, which was not asked for,")
            # The bytes around chunks count too.
            wire.allow(MAX_ANSWER_BYTES + MAX_HEADER_BYTES, _too_large())
            return HttpAnswer(answer.status, _body(answer))

    def _result(self, answer: Future[HttpAnswer], limit_s: float) -> HttpAnswer:
        try:
            return answer.result()
        except CancelledError:
            raise TransientError(f"{self._name} did not finish an answer within {limit_s:g} s") from None
        except TooLarge as error:
            raise self._refused(f"an answer of {error}") from None
        except _UNREACHED as error:
            if _TLS_REFUSED.match(str(error)):
                raise self._refused(f"a TLS connection that failed: {error}") from None
            what = f"{type(error).__name__} {brief(str(error))}".rstrip()
            raise TransientError(f"{self._name} did not answer: {what}") from error
        except _REFUSED as error:
            raise self._refused(f"{type(error).__name__}: {brief(str(error))}") from None


def _settle(answer: Future[HttpAnswer], ask: Callable[[], HttpAnswer]) -> None:
    """Ask, and keep the outcome; after the deadline the outcome is dropped."""
    try:
        found = ask()
    except Exception as error:
        with suppress(InvalidStateError):
            answer.set_exception(error)
    else:
        with suppress(InvalidStateError):
            answer.set_result(found)


def _body(answer: httpcore.Response) -> bytes:
    body = bytearray()
    for part in answer.iter_stream():
        body += part
        if len(body) > MAX_ANSWER_BYTES:
            raise TooLarge(_too_large())
    return bytes(body)


def _too_large() -> str:
    return f"more than {MAX_ANSWER_BYTES:,} bytes"


def _encodings(answer: httpcore.Response) -> str:
    """Return the content encodings of an answer, empty if its body is as it was sent."""
    named = b",".join(value for name, value in answer.headers if name.lower() == b"content-encoding").decode("latin-1")
    found = [each.strip().lower() for each in named.split(",") if each.strip()]
    return "" if set(found) <= {_PLAIN} else brief(ascii(", ".join(found)))


def _login(settings: HttpSettings) -> dict[str, str]:
    if not settings.user and not settings.password:
        return {}
    return {"Authorization": f"Basic {basic_login(settings.user, settings.password)}"}


def proxy_of(url: SplitResult) -> httpcore.Proxy | None:
    """Return the proxy for an address, `None` without one; this machine is never reached through a proxy.

    Raises `ValueError` if the environment names something that is no proxy.
    """
    if is_loopback(url.hostname or "") or proxy_bypass(url.netloc):
        return None
    named = getproxies()
    found = named.get(url.scheme) or named.get("all")
    return _proxy_at(found if "://" in found else f"http://{found}") if found else None


def _proxy_at(text: str) -> httpcore.Proxy:
    try:
        parts, url, login = _proxy_parts(text)
    except ValueError:
        # The reason of Python repeats a part of the address, which may be a part of the password.
        raise ValueError("a proxy address in the environment that cannot be read") from None
    if parts.scheme not in ("http", _SECURE, *_SOCKS) or not parts.hostname:
        raise ValueError(f"a proxy of the kind {parts.scheme!a} in the environment")
    if parts.scheme in _SOCKS and not find_spec("socksio"):
        raise ValueError(f"a proxy of the kind {parts.scheme} in the environment, which needs the package socksio")
    return httpcore.Proxy(url, auth=login, ssl_context=trusting(None) if parts.scheme == _SECURE else None)


def _proxy_parts(text: str) -> tuple[SplitResult, httpcore.URL, tuple[bytes, bytes] | None]:
    """Return the parts of a proxy's address, the proxy without its login, and the login as bytes."""
    parts = urlsplit(text)
    if "@" in parts.path + parts.query + parts.fragment:
        raise ValueError("a login with a character that is not escaped")
    url = httpcore.URL(scheme=parts.scheme, host=parts.hostname or "", port=parts.port, target="/")
    # httpcore takes only ASCII in a login that is text.
    login = (unquote_to_bytes(parts.username), unquote_to_bytes(parts.password or "")) if parts.username else None
    return parts, url, login
