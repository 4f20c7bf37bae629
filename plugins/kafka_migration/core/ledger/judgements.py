"""Judgements: the result of one validation in the ledger, with each comparison and its digests, and the schema ids that
it found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

from kafka_migration.core.documents.codec import LATER, Document
from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.cutovers import LedgerEntry
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.migration.settings import Part


class ReadOffsets(NamedTuple):
    """The offset ranges `[start, end)` of one partition that a comparison read, and their generation."""

    partition: int
    generation: int
    source_start: int
    source_end: int
    target_start: int
    target_end: int

    @classmethod
    def of(cls, window: Window) -> ReadOffsets:
        """Return the ranges of a window."""
        return cls(*(getattr(window, name) for name in cls._fields))

    @property
    def has_offsets(self) -> bool:
        """Whether a range has an offset; a range that ends before its start has none."""
        return self.source_start < self.source_end or self.target_start < self.target_end


@dataclass(frozen=True, slots=True)
class Comparison(Document):
    """One comparison of a topic and its result.

    A comparison by position has one window; by key it has one per partition of the topic. Digests are hexadecimal
    digests of the records that were read, `None` if unknown; they are the same if all records are equal. `unreadable`
    are the clusters, `source` and `target`, of which a part could not be read.
    """

    verdict: Verdict
    windows: tuple[ReadOffsets, ...]
    source_records: int
    target_records: int
    source_digest: str | None = None
    target_digest: str | None = None
    unreadable: tuple[str, ...] = ()

    @property
    def is_blind(self) -> bool:
        """Whether the only reason for `NOT_VERIFIABLE` is that the source can no longer be read."""
        return self.verdict is Verdict.NOT_VERIFIABLE and self.unreadable == ("source",)


Comparisons = Annotated[Mapping[str, tuple[Comparison, ...]], LATER]
"""The comparisons per topic."""


@dataclass(frozen=True, slots=True)
class Judgement(LedgerEntry):
    """The verdicts of one validation: of some generations' windows, or of the whole copy.

    `digest` names the kind of comparison.
    """

    whole: bool
    generations: tuple[int, ...]
    topics: Mapping[str, Verdict]
    source_records: Mapping[str, int]
    digest: str
    comparisons: Comparisons
    kind: Literal["judged"] = "judged"

    @property
    def is_good(self) -> bool:
        """Whether every topic has a good verdict."""
        return all(verdict.is_good for verdict in self.topics.values())


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
class SchemaIdsFound(LedgerEntry):
    """The ids that one validation found, and per topic the generations that it validated; topics by source names."""

    generations: Mapping[str, tuple[int, ...]]
    parts: tuple[PartIds, ...]
    kind: Literal["schema-ids"] = "schema-ids"
