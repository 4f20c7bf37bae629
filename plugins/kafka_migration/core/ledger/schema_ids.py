"""The schema ids that the records of the copy begin with, as validations found them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kafka_migration.core.documents.codec import Document

Part = Literal["key", "value"]


@dataclass(frozen=True, slots=True)
class PartIds(Document):
    """The ids in the keys or values of one topic.

    `others` says whether there were also numbers that cannot be ids.
    """

    topic: str
    part: Part
    ids: tuple[int, ...]
    others: bool


@dataclass(frozen=True, slots=True)
class SchemaIdsFound(Document):
    """The ids that one validation found, and the generations whose records it read; topics by their source names."""

    run: str
    at: str
    generations: tuple[int, ...]
    parts: tuple[PartIds, ...]
    kind: Literal["schema-ids"] = "schema-ids"
