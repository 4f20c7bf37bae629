"""A schema registry: the Protocol that the adapter implements, and its schemas."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema with the schemas to which it refers.

    `kind` is `AVRO`, `JSON` or `PROTOBUF`. `references` are pairs of the name that the text uses and its schema.
    """

    kind: str
    text: str
    references: tuple[tuple[str, Schema], ...] = ()

    def is_same_as(self, other: Schema) -> bool:
        """Return whether both have the same content; white space and the order of JSON members do not count."""
        return self._content == other._content

    @property
    def _content(self) -> tuple[object, ...]:
        references = sorted((name, each._content) for name, each in self.references)
        return self.kind, _normal(self.text), tuple(references)


def _normal(text: str) -> str:
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except ValueError:
        return " ".join(text.split())


class SchemaRegistry(Protocol):
    """A registry with the REST interface of Confluent's Schema Registry."""

    def schema(self, schema_id: int) -> Schema | None:
        """Return the schema of an id, `None` if the registry has none.

        Raises `Refused` if the registry refuses the request, `TransientError` if it does not answer.
        """

    def close(self) -> None:
        """Close the connection."""
