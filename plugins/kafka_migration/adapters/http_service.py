"""An HTTP service of an Airflow connection: the CA of the connection, no redirects, and bounded answers."""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import httpx

from kafka_migration.adapters.tls import trusting
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.text.brief import brief

TIMEOUT_S = 10.0
# For a whole answer: the time-out of the client starts again with each byte.
ANSWER_TIMEOUT_S = 60.0
MAX_ANSWER_BYTES = 16 * 1024 * 1024


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


class HttpService:
    """Sends requests to the service of an HTTP connection.

    :param name: names the service in errors
    :param refused: makes the refusal from what was found
    :param accept: the types of answers that the service shall give
    """

    def __init__(
        self,
        name: str,
        settings: HttpSettings,
        refused: Callable[[str], Refused],
        accept: str = "application/json",
        answer_timeout_s: float = ANSWER_TIMEOUT_S,
    ) -> None:
        self._name = name
        self._url = settings.url
        self._refused = refused
        self._answer_timeout_s = answer_timeout_s
        self._client = self._made(settings, accept)

    def get(self, path: str) -> HttpAnswer:
        """Return the answer to a request.

        Raises `Refused` if the connection is refused, has an invalid address, or the answer is too large, and
        `TransientError` if the service does not answer in time.
        """
        try:
            with self._client.stream("GET", f"{self._url}{path}") as answer:
                return HttpAnswer(answer.status_code, self._body(answer))
        except httpx.TransportError as error:
            # httpx has no class of its own for errors of TLS; OpenSSL's texts begin like this.
            if str(error).startswith("[SSL"):
                raise self._refused(f"a TLS connection that failed: {error}") from None
            raise TransientError(f"{self._name} did not answer: {type(error).__name__} {error}".rstrip()) from error
        except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
            raise self._refused(f"{type(error).__name__}: {brief(str(error))}") from None

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _body(self, answer: httpx.Response) -> bytes:
        body, end = bytearray(), time.monotonic() + self._answer_timeout_s
        for part in answer.iter_bytes():
            body += part
            if len(body) > MAX_ANSWER_BYTES:
                raise self._refused(f"an answer of more than {MAX_ANSWER_BYTES:,} bytes")
            if time.monotonic() > end:
                raise TransientError(f"{self._name} did not finish an answer within {self._answer_timeout_s:g} s")
        return bytes(body)

    def _made(self, settings: HttpSettings, accept: str) -> httpx.Client:
        try:
            return httpx.Client(
                auth=(settings.user, settings.password) if settings.user or settings.password else None,
                verify=trusting(settings.ca_pem),
                timeout=TIMEOUT_S,
                headers={"Accept": accept},
            )
        except (ssl.SSLError, TypeError):
            raise self._refused("ssl.ca.pem without a certificate in PEM") from None
        except (ImportError, ValueError) as error:
            # The environment names a proxy that httpx cannot use.
            raise self._refused(f"{error}") from None
