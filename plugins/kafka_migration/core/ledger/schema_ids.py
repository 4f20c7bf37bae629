"""The schema ids that the records of the copy begin with, as validations found them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.migration.settings import Part


@dataclass(frozen=True, slots=True)
class PartIds(Document):
    """The ids in the keys or values of one topic.

    `large` says whether there were also numbers of 2^20 or more, `too_many` whether there were too many different
    numbers to keep them, and `complete` whether all records of the topic's windows were read.
    """

    topic: str
    part: Part
    ids: tuple[int, ...]
    large: bool = False
    too_many: bool = False
    complete: bool = True


@dataclass(frozen=True, slots=True)
class SchemaIdsFound(Document):
    """The ids that one validation found, and per topic the generations that it validated; topics by source names."""

    run: str
    at: str
    generations: Mapping[str, tuple[int, ...]]
    parts: tuple[PartIds, ...]
    kind: Literal["schema-ids"] = "schema-ids"
