"""A schema registry: the Protocol that the adapter implements, and its schemas."""

from __future__ import annotations

import hashlib
import json
from dataclasses import InitVar, dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema with the schemas to which it refers, of which only the digest of the whole content is kept.

    `kind` is `AVRO`, `JSON` or `PROTOBUF`. `references` are pairs of the name that the text uses and its schema.
    """

    kind: InitVar[str]
    text: InitVar[str]
    references: InitVar[tuple[tuple[str, Schema], ...]] = ()
    digest: str = field(init=False)

    def __post_init__(self, kind: str, text: str, references: tuple[tuple[str, Schema], ...]) -> None:
        content = json.dumps([kind, _normal(text), sorted((name, each.digest) for name, each in references)])
        object.__setattr__(self, "digest", hashlib.sha256(content.encode()).hexdigest())

    def is_same_as(self, other: Schema) -> bool:
        """Return whether both have the same content; the order of JSON members and the indentation do not count."""
        return self.digest == other.digest


def _normal(text: str) -> str:
    try:
        return json.dumps(json.loads(text), sort_keys=True)
    except (ValueError, RecursionError):
        return "\n".join(line.strip() for line in text.splitlines() if line.strip())


class SchemaRegistry(Protocol):
    """A registry with the REST interface of Confluent's Schema Registry."""

    def schema(self, schema_id: int) -> Schema | None:
        """Return the schema of an id, `None` if the registry has none.

        Raises `Refused` if the registry refuses the request, `TransientError` if it does not answer.
        """

    def close(self) -> None:
        """Close the connection."""
