"""A schema registry for tests: Confluent's REST interface over HTTP, with its schemas in memory.

It replaces Confluent's Schema Registry in fast tests. The same contract (`registry_contract.py`) tests this server and
Apicurio Registry.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

Reference = tuple[str, str, int]  # name, subject, version
NO_SUCH_ID, NO_SUCH_SUBJECT = 40403, 40401


@dataclass
class RegistryServer:
    """Serves schemas by id. `faults` are answers (status, body) that it gives first, instead of the true ones.

    `asked` are the paths of all requests, with the header `Authorization` if there was one.
    """

    by_id: dict[int, dict[str, Any]] = field(default_factory=dict)
    by_version: dict[tuple[str, int], dict[str, Any]] = field(default_factory=dict)
    faults: list[tuple[int, str]] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)

    def __enter__(self) -> RegistryServer:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        threading.Thread(target=self._server.serve_forever, args=[0.02], daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        """The port on loopback."""
        return int(self._server.server_port)

    @property
    def url(self) -> str:
        """The address of the registry."""
        return f"http://127.0.0.1:{self.port}"

    def register(
        self, subject: str, text: str, kind: str = "AVRO", references: Sequence[Reference] = (), schema_id: int = 0
    ) -> int:
        """Add a version to a subject, under this id or the next one; return the id."""
        number = schema_id or max(self.by_id, default=0) + 1
        found: dict[str, Any] = {"schema": text}
        if kind != "AVRO":
            found["schemaType"] = kind
        if references:
            found["references"] = [{"name": n, "subject": s, "version": v} for n, s, v in references]
        self.by_id[number] = found
        version = sum(name == subject for name, _ in self.by_version) + 1
        self.by_version[subject, version] = {"subject": subject, "version": version, "id": number, **found}
        return number

    def answer(self, path: str) -> tuple[int, str]:
        """Return status and body of a request."""
        if self.faults:
            return self.faults.pop(0)
        match [unquote(part) for part in urlsplit(path).path.split("/")[1:]]:
            case ["schemas", "ids", number] if int(number) in self.by_id:
                return 200, json.dumps(self.by_id[int(number)])
            case ["schemas", "ids", number]:
                return 404, json.dumps({"error_code": NO_SUCH_ID, "message": f"Schema {number} not found"})
            case ["subjects", subject, "versions", version] if (subject, int(version)) in self.by_version:
                return 200, json.dumps(self.by_version[subject, int(version)])
        return 404, json.dumps({"error_code": NO_SUCH_SUBJECT, "message": "Subject not found"})


def _handler_of(server: RegistryServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            server.asked.append((self.path, self.headers.get("Authorization", "")))
            status, body = server.answer(self.path)
            self.send_response(status)
            self.send_header("Content-Type", "application/vnd.schemaregistry.v1+json")
            self.send_header("Content-Length", str(len(body.encode(errors="surrogatepass"))))
            self.end_headers()
            self.wfile.write(body.encode(errors="surrogatepass"))

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    return Handler
