"""The tests' schema registry does what the contract says, and the client answers faults with the right errors."""

from __future__ import annotations

import base64
import json
import re
import ssl
import tracemalloc
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kafka_migration.adapters.http.registry_client import ATTEMPTS, MAX_REFERENCES, HttpSchemaRegistry
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused, TransientError
from sandbox.security.authority import Authority
from tests.contract.registry_contract import CUSTOMER, ORDER, RegistryContract
from tests.contract.registry_server import Reference, RegistryServer
from tests.present import present


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    """A registry without schemas."""
    with RegistryServer() as made:
        yield made


def client(
    server: RegistryServer, user: str = "", password: str = "", url: str = "", ca: str = ""
) -> HttpSchemaRegistry:
    """Return the client of a registry, which hardly waits between attempts."""
    return HttpSchemaRegistry("registry", HttpSettings("reg", url or server.url, user, password, ca), wait_s=0.01)


def refused(registry: HttpSchemaRegistry, schema_id: int = 1) -> str:
    """Ask for an id, and return what the refusal says it found."""
    with pytest.raises(Refused) as error:
        registry.schema(schema_id)
    (finding,) = error.value.findings
    assert finding.code is Code.REGISTRY_REFUSED
    return finding.found


class TestRegistryServer(RegistryContract):
    """The tests' own registry."""

    @pytest.fixture(autouse=True)
    def _served(self, server: RegistryServer) -> None:
        self.url = server.url
        self._server = server

    def register(self, subject: str, text: str, kind: str = "AVRO", references: Sequence[Reference] = ()) -> int:
        """Add a version to a subject."""
        return self._server.register(subject, text, kind, references)


@pytest.mark.parametrize("status", [401, 403])
def test_refused_login_is_no_missing_schema(server: RegistryServer, status: int) -> None:
    """A refused login or right is refused, not answered with "no schema"."""
    server.faults.append((status, json.dumps({"error_code": 40301, "message": "no"})))

    assert f"a refused login or right (status {status})" in refused(client(server))


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, ""),
        (200, "<html>"),
        (200, "[]"),
        (200, "{}"),
        (200, '{"schema": 1}'),
        (200, '{"schema": "x", "references": [{"name": "a"}]}'),
        (301, ""),
        (404, ""),
        (404, "<html>"),
        (404, '{"error_code": 404, "message": "HTTP 404 Not Found"}'),
        (404, '{"error_code": []}'),
        (404, '{"error_code": "40403"}'),
        (400, "{}"),
    ],
)
def test_answer_of_another_service_is_refused(server: RegistryServer, status: int, body: str) -> None:
    """Only a schema, or error code 40403, is an answer."""
    server.faults.append((status, body))

    assert re.search(
        f"an answer that no schema registry gives .status {status}|an answer with", refused(client(server))
    )


def test_busy_registry_is_asked_again(server: RegistryServer) -> None:
    """Statuses 429 and 503 are waited out, but not for ever."""
    server.register("orders-value", ORDER)
    server.faults += [(429, ""), (503, "")]
    assert client(server).schema(1) is not None

    server.faults += [(429, "")] * ATTEMPTS
    with pytest.raises(TransientError, match="busy"):
        client(server).schema(1)
    assert not server.faults


@pytest.mark.parametrize("status", [500, 502, 504])
def test_failing_registry_may_succeed_later(server: RegistryServer, status: int) -> None:
    """A failing registry is neither a refusal nor "no schema"."""
    server.faults.append((status, ""))

    with pytest.raises(TransientError, match=str(status)):
        client(server).schema(1)


def test_silent_registry_may_answer_later() -> None:
    """A registry that does not run is unreachable."""
    with RegistryServer() as server:
        url = server.url

    with pytest.raises(TransientError, match="did not answer"):
        HttpSchemaRegistry("registry", HttpSettings("reg", url)).schema(1)


def test_login_is_sent_only_if_there_is_one(server: RegistryServer) -> None:
    """User and password are sent as HTTP's basic authentication."""
    client(server, "ada", "s3cret:x").schema(1)
    client(server).schema(1)

    expected = base64.b64encode(b"ada:s3cret:x").decode()
    assert [f"Basic {expected}", ""] == [authorization for _, authorization in server.asked]


def test_shared_reference_is_read_once(server: RegistryServer) -> None:
    """Schemas that refer to the same version ask for it once."""
    server.register("address", "{}")
    ids = [server.register(f"{n}-value", CUSTOMER, references=[("Address", "address", 1)]) for n in range(3)]
    registry = client(server)

    for number in ids:
        registry.schema(number)

    assert 1 == sum(path.startswith("/subjects/") for path, _ in server.asked)


def test_circle_of_references_is_refused(server: RegistryServer) -> None:
    """Schemas that refer to each other in a circle end with a refusal."""
    server.register("a", CUSTOMER, references=[("B", "b", 1)])
    server.register("b", CUSTOMER, references=[("A", "a", 1), ("B", "b", 1), ("A2", "a", 1)])

    assert "in a circle" in refused(client(server))


def test_reference_to_nothing_is_refused(server: RegistryServer) -> None:
    """A schema is not compared without those to which it refers."""
    server.register("a", CUSTOMER, references=[("B", "b", 1)])

    assert "a reference to version 1 of subject b, which is not there" in refused(client(server))


def test_certificate_of_a_stranger_is_refused(server: RegistryServer, tmp_path: Path) -> None:
    """A registry is trusted by the CA in the connection, and by no other."""
    authority = Authority("registries")
    own, file = authority.issue("registry"), tmp_path / "registry.pem"
    file.write_text(own.key + own.certificate)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    server._server.socket = context.wrap_socket(server._server.socket, server_side=True, do_handshake_on_connect=False)
    url = f"https://127.0.0.1:{server.port}"

    assert client(server, url=url, ca=authority.certificate).schema(1) is None
    assert "TLS connection that failed" in refused(client(server, url=url, ca=Authority("others").certificate))
    assert "TLS connection that failed" in refused(client(server, url=url))


@pytest.mark.parametrize("ca", ["nothing", "# Ümlaut", "-----BEGIN CERTIFICATE-----"])
def test_ca_that_is_none_is_refused(server: RegistryServer, ca: str) -> None:
    """A text without a certificate is refused before anything is connected."""
    with pytest.raises(Refused, match=r"ssl\.ca\.pem without a certificate"):
        client(server, ca=ca)
    assert not server.asked


@pytest.mark.parametrize("body", ["[" * 100_000, '{"schema": ' + "[" * 100_000, "\ud800"])
def test_rubbish_is_refused(server: RegistryServer, body: str) -> None:
    """No answer causes another error than a refusal."""
    server.faults.append((200, body))

    assert "no schema registry gives" in refused(client(server))


@pytest.mark.parametrize("host", ["a" * 70, "xn--", "-", "127.0.0.1:1:1"])
def test_address_that_is_none_is_refused(server: RegistryServer, host: str) -> None:
    """An address that no resolver can ask for is a refusal or an outage, and no other error."""
    with pytest.raises((Refused, TransientError)):
        client(server, url=f"http://{host}").schema(1)


def test_proxy_that_cannot_be_used_is_refused(server: RegistryServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy of a kind that needs another package, or of no kind, is named."""
    for proxy, found in (("socks5://127.0.0.1:1", "socks5 .* needs the package socksio"), ("x://a", "kind 'x'")):
        monkeypatch.setenv("ALL_PROXY", proxy)
        with pytest.raises(Refused, match=found):
            client(server, url="http://registry")


def test_references_of_a_schema_are_bounded(server: RegistryServer) -> None:
    """A schema with too many references is refused before all of them are asked for, however they are spread."""
    wide = [(f"r{n}", f"s{n}", 1) for n in range(MAX_REFERENCES + 1)]
    for _, subject, _ in wide:
        server.register(subject, "{}")
    assert f"more than {MAX_REFERENCES} references" in refused(client(server), server.register("w", "{}", "", wide))
    assert 1 == len(server.asked)

    halves = [server.register(f"h{n}", "{}", references=wide[n : n + MAX_REFERENCES // 2]) for n in range(2)]
    both = server.register("both", "{}", references=[(f"h{n}", f"h{n}", 1) for n in range(len(halves))])
    assert f"more than {MAX_REFERENCES} references" in refused(client(server), both)
    registry = client(server)
    assert all(registry.schema(half) for half in halves)


def test_texts_are_not_kept(server: RegistryServer) -> None:
    """Any number of large schemas is compared; memory does not grow with the texts, also of those in references."""
    blanks = " " * 2**20
    shared = [server.register(f"s{n}", json.dumps({"n": n}) + blanks) for n in range(35)]
    ids = shared + [server.register(f"r{n}", "{}", references=[(f"s{n}", f"s{n}", 1)]) for n in range(len(shared))]
    registry = client(server)
    tracemalloc.start()
    try:
        found = [present(registry.schema(each)) for each in ids]
        kept = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert len(ids) == len({each.digest for each in found})
    assert kept < 8 * len(blanks)


def test_long_subject_of_a_reference_is_refused(server: RegistryServer) -> None:
    """A subject, which is kept while other schemas are read, has a bound."""
    server.register("s" * 5000, "{}")

    assert "a reference" in refused(client(server), server.register("a", "{}", references=[("S", "s" * 5000, 1)]))
    assert 1 == len(server.asked)
