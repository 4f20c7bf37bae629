"""A schema registry behind Confluent's REST interface, which Apicurio, Karapace and Redpanda have too."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from kafka_migration.adapters.http.http_service import HttpAnswer, HttpService
from kafka_migration.core.connections.http import HttpSettings
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.schema_registry import Schema
from kafka_migration.core.text.shortened import brief

_ACCEPTED = "application/vnd.schemaregistry.v1+json, application/json"
# Attempts of one request while the registry is busy. Confluent Cloud limits the requests per second of each key.
ATTEMPTS = 6
_BUSY = frozenset({429, 503})
# The error codes of Confluent's interface. Karapace also gives `_NO_ID` to a user who may not read the schema.
_NO_ID = (40403,)
_NO_VERSION = (40401, 40402)
_MAX_DEPTH = 50
# References of one schema, also those of the schemas to which it refers.
MAX_REFERENCES = 500
# Characters; a subject of a topic and a record has some hundreds.
_LONGEST_SUBJECT = 4096
_Version = tuple[str, int]  # subject and version


class HttpSchemaRegistry:
    """The registry of an HTTP connection; schemas to which others refer are read once.

    :param what: names the registry in errors
    :param wait_s: the longest wait between two attempts while the registry is busy
    """

    def __init__(self, what: str, settings: HttpSettings, wait_s: float = 10.0) -> None:
        self._name = f"{what} ({settings.connection}, {settings.url})"
        self._subject = f"connection {settings.connection}"
        self._wait_s = wait_s
        self._service = HttpService(self._name, settings, self._refused, _ACCEPTED)
        self._versions: dict[_Version, Schema] = {}
        self._references = 0

    def schema(self, schema_id: int) -> Schema | None:
        """Return the schema of an id, `None` if the registry has none (error code 40403).

        Raises `Refused` (`REGISTRY_REFUSED`) for any other answer and for too many references,
        `TransientError` without an answer.
        """
        self._references = 0
        found = self._asked(f"/schemas/ids/{schema_id}", _NO_ID)
        return None if found is None else self._schema(found, ())

    def close(self) -> None:
        """Close the connection."""
        self._service.close()

    def _schema(self, found: Mapping[str, Any], above: tuple[_Version, ...]) -> Schema:
        kind, text, references = found.get("schemaType", "AVRO"), found.get("schema"), found.get("references") or []
        if not isinstance(text, str) or not isinstance(kind, str) or not isinstance(references, list):
            raise self._refused("an answer without a schema")
        self._count(len(references))
        return Schema(kind, text, tuple(self._reference(each, above) for each in references))

    def _count(self, references: int) -> None:
        self._references += references
        if self._references > MAX_REFERENCES:
            raise self._refused(f"a schema with more than {MAX_REFERENCES:,} references")

    def _reference(self, found: object, above: tuple[_Version, ...]) -> tuple[str, Schema]:
        match found:
            case {"name": str(name), "subject": str(subject), "version": int(version)} if (
                len(subject) <= _LONGEST_SUBJECT
            ):
                return name, self._version((subject, version), above)
        raise self._refused("an answer with a reference that has no usable name, subject and version")

    def _version(self, of: _Version, above: tuple[_Version, ...]) -> Schema:
        if of in above or len(above) > _MAX_DEPTH:
            raise self._refused(f"schemas that refer to each other in a circle, or over more than {_MAX_DEPTH} levels")
        if of not in self._versions:
            subject, version = of
            path = f"/subjects/{quote(subject, safe='', errors='replace')}/versions/{version}?deleted=true"
            found = self._asked(path, _NO_VERSION)
            if found is None:
                raise self._refused(f"a reference to version {version} of subject {brief(subject)}, which is not there")
            self._versions[of] = self._schema(found, (*above, of))
        return self._versions[of]

    def _asked(self, path: str, unknown: tuple[int, ...]) -> Mapping[str, Any] | None:
        attempts = Retrying(
            retry=retry_if_exception_type(_Busy),
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_exponential(multiplier=0.5, max=self._wait_s),
            reraise=True,
        )
        return attempts(self._asked_once, path, unknown)

    def _asked_once(self, path: str, unknown: tuple[int, ...]) -> Mapping[str, Any] | None:
        answer = self._service.get(path)
        if answer.status in _BUSY:
            raise _Busy(f"{self._name} is busy (status {answer.status})")
        return self._understood(answer, unknown)

    def _understood(self, answer: HttpAnswer, unknown: tuple[int, ...]) -> Mapping[str, Any] | None:
        status, found = answer.status, answer.json_object()
        if status == HTTPStatus.NOT_FOUND and found.get("error_code") in unknown:
            return None
        if status == HTTPStatus.OK and found:
            return found
        if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
            raise self._refused(f"a refused login or right (status {status})")
        if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            raise TransientError(f"{self._name} answered with status {status}")
        raise self._refused(f"an answer that no schema registry gives (status {status})")

    def _refused(self, found: str) -> Refused:
        return Refused(
            [
                Finding(
                    Code.REGISTRY_REFUSED,
                    self._subject,
                    f"{found} from {self._name}",
                    "schemas by id, as Confluent's Schema Registry returns them",
                    "Correct address, login and ssl.ca.pem of the Airflow connection, or grant its user the right to "
                    "read all schemas. Then clear the task with its downstream tasks.",
                    happened=f"The schema registry {self._name} did not give a schema: {found}.",
                    matters="Without the schema it is unknown whether consumers can read the copied records.",
                )
            ]
        )


class _Busy(TransientError):
    """The registry asks to come back later."""
