"""No HTTP server takes time or memory without bound from a client of the package, and none gets a login of another."""

from __future__ import annotations

import base64
import socket
import ssl
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, suppress
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote_to_bytes

import pytest

from kafka_migration.adapters.http import http_service
from kafka_migration.adapters.http.airflow_api import HttpAirflow
from kafka_migration.adapters.http.cluster_managers import manager_of
from kafka_migration.adapters.http.http_service import THREAD
from kafka_migration.adapters.http.registry_client import HttpSchemaRegistry
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.steps.discovery.read_managers import discovered
from sandbox.security.authority import Authority
from tests.contract.hostile_http import DRIPS, FLOODS, OK, TLS_ALERT, TLS_DRIP, HostileServer, once, redirect
from tests.waiting import wait_until

LOGIN, SECRET = "ada", "s3cret-of-the-service"
# More than any flood needs, and less than any drip.
LONG_S, SHORT_S = 60.0, 0.3
# A busy machine may end a request this much after its deadline.
LATE_S = 20.0
MAX_ANSWER = 2**20
# What buffers of the sockets may hold beyond what a client has read.
BUFFERS = 2**24


def allowing(deadline_s: float) -> AbstractContextManager[object]:
    """Give each request of the clients that are made here this time, instead of the usual one."""
    return patch.object(http_service, "DEADLINE_S", deadline_s)


def registry(settings: HttpSettings, deadline_s: float) -> None:
    """Ask a schema registry."""
    with allowing(deadline_s), closing(HttpSchemaRegistry("registry", settings, 0.01)) as asked:
        asked.schema(1)


def manager(settings: HttpSettings, deadline_s: float) -> None:
    """Ask Ambari or Cloudera Manager."""
    with allowing(deadline_s):
        discovered(partial(manager_of, settings), settings.connection, None)


def airflow_login(settings: HttpSettings, deadline_s: float) -> None:
    """Log in to Airflow."""
    with allowing(deadline_s), closing(HttpAirflow("--server", settings)) as asked:
        asked.dag("dag")


def airflow(settings: HttpSettings, deadline_s: float, size: int = 0) -> None:
    """Trigger with a token of Airflow."""
    with allowing(deadline_s), closing(HttpAirflow("--server", settings, "token")) as asked:
        asked.trigger("dag", "run", {"large": "x" * size})


Client = Callable[[HttpSettings, float], None]
CLIENTS: dict[str, Client] = {
    "registry": registry,
    "manager": manager,
    "airflow login": airflow_login,
    "airflow": airflow,
}
CODES = {
    Code.REGISTRY_REFUSED,
    Code.MANAGER_REFUSED,
    Code.MANAGER_UNREACHABLE,
    Code.MANAGER_ANSWER_UNREADABLE,
    Code.AIRFLOW_API_REFUSED,
}


@pytest.fixture(autouse=True)
def _small_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_service, "MAX_ANSWER_BYTES", MAX_ANSWER)


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest) -> Client:
    """Each client of the package."""
    return CLIENTS[request.param]


def error_of(client: Client, url: str, deadline_s: float) -> str:
    """Return the error of a request, which ends in time; no thread of it is left and no secret shown."""
    settings = HttpSettings("service", url, LOGIN, SECRET)
    with ThreadPoolExecutor(1) as caller, pytest.raises((Refused, TransientError)) as error:
        caller.submit(client, settings, deadline_s).result(timeout=deadline_s + LATE_S)
    wait_until(lambda: not _asking(), what="the end of the request's thread", every_s=0.01)
    assert SECRET not in str(error.value)
    if isinstance(error.value, Refused):
        assert {each.code for each in error.value.findings} <= CODES
    return str(error.value)


def _asking() -> list[threading.Thread]:
    return [each for each in threading.enumerate() if each.name == THREAD]


@pytest.mark.parametrize("attack", FLOODS)
def test_flood_is_refused(client: Client, attack: str) -> None:
    """What a server sends in masses is refused by name, before much of it was read or unpacked."""
    script, found = FLOODS[attack]
    tracemalloc.start()
    try:
        with HostileServer(script) as server:
            text = error_of(client, f"http://127.0.0.1:{server.port}", LONG_S)
            peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert found in text
    assert server.sent < MAX_ANSWER + BUFFERS
    assert peak < 8 * MAX_ANSWER


@pytest.mark.parametrize("attack", DRIPS)
def test_drip_ends_at_the_deadline(client: Client, attack: str) -> None:
    """One deadline ends a request, whatever the server sends slowly."""
    with HostileServer(lambda: server.drip(DRIPS[attack]) if DRIPS[attack] else server.silence()) as server:
        assert "did not finish an answer within 0.3 s" in error_of(client, f"http://127.0.0.1:{server.port}", SHORT_S)


@pytest.mark.parametrize("sent", [b"", TLS_DRIP])
def test_handshake_without_end_ends_at_the_deadline(client: Client, sent: bytes) -> None:
    """The deadline also ends the handshake of TLS."""
    with HostileServer(lambda: server.drip(sent) if sent else server.silence()) as server:
        assert "did not finish" in error_of(client, f"https://127.0.0.1:{server.port}", SHORT_S)


@pytest.mark.parametrize("sent", [b"", TLS_ALERT + b"\x50", TLS_DRIP])
def test_handshake_that_the_server_ends_may_succeed_later(client: Client, sent: bytes) -> None:
    """A server that ends the handshake, or says that it has an internal error, may be restarted: no refusal."""
    with HostileServer(once(sent)) as server:
        text = error_of(client, f"https://127.0.0.1:{server.port}", LONG_S)
    assert "did not answer" in text
    assert "SSL" in text


@pytest.mark.parametrize("sent", [TLS_ALERT + b"\x28", TLS_ALERT + b"\x46", OK + b"\r\n{}"])
def test_handshake_that_cannot_succeed_is_refused(client: Client, sent: bytes) -> None:
    """A server without a common protocol or cipher, or without TLS, is refused."""
    with HostileServer(once(sent)) as server:
        assert "a TLS connection that failed" in error_of(client, f"https://127.0.0.1:{server.port}", LONG_S)


def test_request_that_is_not_read_ends_at_the_deadline() -> None:
    """The deadline also ends the sending of a request."""
    with HostileServer(lambda: server.silence(), is_deaf=True) as server:
        # More than the buffers of the sockets take.
        large = partial(airflow, size=2**24)
        assert "did not finish" in error_of(large, f"http://127.0.0.1:{server.port}", SHORT_S)


def test_lookup_without_end_ends_at_the_deadline(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller does not wait for a resolver that hangs, and nothing is sent if it answers later."""
    goes_on, real = threading.Event(), socket.getaddrinfo

    def slow(*arguments: Any, **named: Any) -> Any:
        goes_on.wait()
        return real(*arguments, **named)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    with HostileServer(once(OK + b"\r\n{}")) as server, ThreadPoolExecutor(1) as caller:
        settings = HttpSettings("service", f"http://localhost:{server.port}", LOGIN, SECRET)
        with pytest.raises((Refused, TransientError), match="did not finish"):
            caller.submit(client, settings, SHORT_S).result(timeout=SHORT_S + LATE_S)
        goes_on.set()
        wait_until(lambda: not _asking(), what="the end of the request's thread", every_s=0.01)
    assert not any(server.heard)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("to", ["http://127.0.0.1:{port}/", "file:///etc/passwd", "//127.0.0.1:{port}/", "http://["])
def test_redirect_is_not_followed(client: Client, status: int, to: str) -> None:
    """A redirect is an answer that is refused; no other server is asked."""
    with (
        HostileServer(once(OK + b"\r\n{}")) as other,
        HostileServer(redirect(status, to.format(port=other.port))) as it,
    ):
        text = error_of(client, f"http://127.0.0.1:{it.port}", LONG_S)

    assert f"status {status}" in text or f"(status {status})" in text
    assert not other.connections


def test_request_asks_for_plain_bytes_and_keeps_no_cookie(client: Client) -> None:
    """Each request asks for content without encoding, and carries nothing that an earlier answer set."""
    cookie = OK + b"Set-Cookie: a=b\r\nContent-Length: 2\r\n\r\n{}"
    with HostileServer(once(cookie)) as server:
        error_of(client, f"http://127.0.0.1:{server.port}", LONG_S)

    assert server.heard
    assert all(b"\r\nAccept-Encoding: identity\r\n" in each for each in server.heard)
    assert not [each for each in server.heard if b"cookie" in each.lower()]


def set_proxy(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Name a proxy for https in the environment."""
    for name in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(name, address)


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Iterator[HostileServer]:
    """A proxy for everything, and a `.netrc` with a login for everyone."""
    netrc = tmp_path / "netrc"
    netrc.write_text(f"default login eve password {SECRET}-of-netrc")
    monkeypatch.setenv("NETRC", str(netrc))
    with HostileServer(once(b"HTTP/1.1 502 Bad Gateway\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")) as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
            monkeypatch.setenv(name.lower(), f"http://127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        yield proxy


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "127.99.0.3", "[::ffff:127.0.0.1]"])
def test_this_machine_is_reached_without_a_proxy(client: Client, environment: HostileServer, host: str) -> None:
    """A login over http stays on this machine, whatever the environment says."""
    with HostileServer(once(b"HTTP/1.1 500 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")) as server:
        server_is_asked = partial(error_of, client, f"http://{host}:{server.port}", LONG_S)
        text = server_is_asked()

    assert server.heard or "did not answer: ConnectError" in text
    assert not environment.connections
    assert not [each for each in server.heard if b"eve" in each]


def test_other_hosts_are_reached_through_the_proxy(client: Client, environment: HostileServer) -> None:
    """A proxy of the environment tunnels https, and sees no login; NO_PROXY is obeyed."""
    text = error_of(client, "https://service.invalid", LONG_S)

    assert "did not answer: ProxyError 502" in text
    assert environment.heard
    assert all(each.startswith(b"CONNECT service.invalid:443 ") for each in environment.heard)
    assert not [each for each in environment.heard if b"authorization" in each.lower()]


@pytest.mark.parametrize("host", ["2001:db8::1", "2001:db8::2"])
def test_ipv6_address_is_reached_through_the_proxy(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: str) -> None:
    """A proxy is asked for an IPv6 address with its brackets, and the certificate must be that of the address."""
    authority, heard = Authority("services"), []
    context = context_of(authority, "2001:db8::1", tmp_path)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)

    def tunnel(listener: socket.socket) -> None:
        with listener.accept()[0] as connection, suppress(ssl.SSLError):
            heard.append(connection.recv(65_536))
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            with context.wrap_socket(connection, server_side=True) as secure:
                secure.recv(65_536)
                secure.sendall(b"HTTP/1.1 418 No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor(1) as proxy:
        set_proxy(monkeypatch, f"http://127.0.0.1:{listener.getsockname()[1]}")
        served = proxy.submit(tunnel, listener)
        with pytest.raises(Refused) as error:
            registry(HttpSettings("service", f"https://[{host}]", LOGIN, SECRET, authority.certificate), LONG_S)
        served.result()

    assert heard[0].startswith(f"CONNECT [{host}]:443 HTTP/1.1\r\nHost: [{host}]:443\r\n".encode())
    assert ("(status 418)" if host.endswith("1") else "certificate verify failed: IP address mismatch") in str(
        error.value
    )


def context_of(authority: Authority, host: str, folder: Path) -> ssl.SSLContext:
    """Return the context of a server with this host's certificate."""
    own, file = authority.issue("service", hosts=(host,)), folder / "service.pem"
    file.write_text(own.key + own.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@pytest.mark.parametrize("password", ["s3cret", "s3crét", "s3cr%C3%A9t", "s3cr%FFt", "s3cret%0D%0Ax: y", ""])
def test_proxy_gets_its_login(
    client: Client, environment: HostileServer, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    """A proxy gets the login of its address, whatever letters it has."""
    set_proxy(monkeypatch, f"http://adä:{password}@127.0.0.1:{environment.port}")
    text = error_of(client, "https://service.invalid", LONG_S)

    login = base64.b64encode("adä:".encode() + unquote_to_bytes(password))
    assert "did not answer: ProxyError 502" in text
    assert all(b"\r\nProxy-Authorization: Basic " + login + b"\r\n" in each for each in environment.heard)


@pytest.mark.parametrize(
    "login",
    [
        "u:S3cret/x",
        "u:S3cret?x",
        "u:S3cret#x",
        "u:S3cret]",
        "u:S3[cret",
        "u:S3cret\u2100",
        "u:S3cret\udcff",
        "S3cret:/",
        "S3cret:1234/x",
        "S3cret:1234?x",
        "S3cret:1234#x",
    ],
)
def test_proxy_that_cannot_be_read_shows_no_password(
    client: Client, environment: HostileServer, monkeypatch: pytest.MonkeyPatch, login: str
) -> None:
    """A proxy address with a password that is not escaped is refused without a part of it."""
    set_proxy(monkeypatch, f"http://{login}@127.0.0.1:{environment.port}")
    text = error_of(client, "https://service.invalid", LONG_S)

    assert "a proxy address in the environment that cannot be read" in text
    assert "s3" not in text.lower()
    assert not environment.connections


def test_no_proxy_is_obeyed(client: Client, environment: HostileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that NO_PROXY names is asked directly."""
    monkeypatch.setenv("no_proxy", ".invalid")

    assert "did not answer: ConnectError" in error_of(client, "https://service.invalid", LONG_S)
    assert not environment.connections


def test_name_of_this_machine_that_leads_elsewhere_is_not_asked(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resolver that says that `localhost` is another machine gets no login."""
    with HostileServer(once(OK + b"\r\n{}")) as server:
        monkeypatch.setattr("kafka_migration.adapters.http.http_wire.is_loopback", lambda host: host == "localhost")
        text = error_of(client, f"http://localhost:{server.port}", LONG_S)

    assert "localhost is 127.0.0.1, which is not this machine" in text
    assert not any(server.heard)
