"""Translating committed offsets if the copy does not keep partitions: the documents exchanged with the Spark job.

The commits of a group on all source partitions of a topic together are a *vector*. It is translated as a whole to one
offset per target partition, because every target partition may hold records of any source partition. In a rollback
(`is_back`) the vectors are offsets of the target's partitions and are translated to the source's partitions.

The JSON is the whole contract between this package and `spark_jobs/translate_offsets.py`, which cannot import it.
Offsets are *next to read*. Partitions are keys of JSON objects and therefore strings there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

from kafka_migration.core.documents.codec import Document, DoesNotFit
from kafka_migration.core.kafka.cluster import IsolationLevel
from kafka_migration.core.kafka.offsets import GroupsCommits, Offsets
from kafka_migration.core.validation.validation_contract import client_id_of

Schema = Literal[2]
SCHEMA: Schema = 2

PartitionOffsets = Mapping[int, int]
"""An offset per partition of one topic."""
Vector = tuple[tuple[int, int], ...]
"""Partition and offset of every source partition of a topic, ascending; can be a key of a mapping."""


def vector_of(offsets: PartitionOffsets) -> Vector:
    """Return the offsets as a vector."""
    return tuple(sorted(offsets.items()))


@dataclass(frozen=True, slots=True)
class TopicToTranslate(Document):
    """One topic with the vectors that groups committed on it.

    :param by_key: whether records are matched in the order of each key; otherwise in the order of the partition
    :param is_compacted: whether the target deletes records that have a newer one of their key
    :param has_timestamps: whether the target's records have the timestamps of the source
    :param source: offsets [from, to) to read per source partition, from the first committed one on
    :param target: the same for the target's partitions; before it there is no copy of an unread record
    :param read: in a rollback, for each vector the source offsets before which the group has read everything
    """

    topic: str
    target_topic: str
    by_key: bool
    is_compacted: bool
    has_timestamps: bool
    source: Mapping[int, tuple[int, int]]
    target: Mapping[int, tuple[int, int]]
    vectors: tuple[PartitionOffsets, ...]
    read: tuple[PartitionOffsets, ...] = ()

    @property
    def ends(self) -> tuple[PartitionOffsets, PartitionOffsets]:
        """The ends up to which the job reads the topic on the source and on the target."""
        return {p: end for p, (_, end) in self.source.items()}, {p: end for p, (_, end) in self.target.items()}


@dataclass(frozen=True, slots=True)
class TranslationRequest(Document):
    """The request to translate offsets.

    `commits` are those from which the vectors were made, `source_log_start` the source's log starts at that time; the
    job does not read them. Its result has the request's `id`. `max_bytes_per_s` is as in a validation request.
    """

    id: str
    migration: str
    run: str
    isolation_level: IsolationLevel
    topics: tuple[TopicToTranslate, ...]
    commits: GroupsCommits
    source_log_start: Offsets
    max_bytes_per_s: int | None = None
    is_back: bool = False
    kind: Literal["translation-request"] = "translation-request"
    schema: Schema = SCHEMA

    @property
    def client_id(self) -> str:
        """The client id of the job's consumers on both clusters."""
        return client_id_of("offsets", self.migration, is_limited=self.max_bytes_per_s is not None)

    @property
    def most_records(self) -> int:
        """An upper bound of the records that the job reads: the number of offsets of both sides."""
        return sum(
            end - start for each in self.topics for side in (each.source, each.target) for start, end in side.values()
        )


@dataclass(frozen=True, slots=True)
class VectorTranslation(Document):
    """Where a vector resumes.

    :param goes_on_at: the offset by partition of the other side
    :param unread: the number of unread source records of which the other side has a copy
    :param delivered: the number of records from there to the end of the copy, including the unread ones
    :param missing: by source partition the last unread record without a copy; with any, the group must not be moved
    :param is_minimal: whether no other offsets would deliver fewer records again
    """

    goes_on_at: PartitionOffsets
    unread: int
    delivered: int
    missing: PartitionOffsets
    is_minimal: bool

    @property
    def delivered_again(self) -> int:
        """Records that are delivered again: read on the source, or present more than once."""
        return self.delivered - self.unread


TopicTranslations = Mapping[str, Mapping[Vector, VectorTranslation]]
"""The translations of the vectors, by topic."""
TranslationsBack = Mapping[str, Mapping[tuple[Vector, Vector], VectorTranslation]]
"""The translations of the vectors in a rollback, by topic, each with the offsets read before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslatedVector(VectorTranslation):
    """A vector and where it resumes; in a rollback with the offsets `read` before it."""

    OMITTED: ClassVar[frozenset[str]] = frozenset({"read"})

    vector: PartitionOffsets
    read: PartitionOffsets | None = None

    @property
    def found(self) -> VectorTranslation:
        """Where the vector resumes."""
        return VectorTranslation(self.goes_on_at, self.unread, self.delivered, self.missing, self.is_minimal)


@dataclass(frozen=True, slots=True, kw_only=True)
class TranslatedTopic(Document):
    """The translations of one topic.

    `unreadable` says why there are none, `has_bad_record` whether that is because Spark cannot read one of its records.
    """

    OMITTED: ClassVar[frozenset[str]] = frozenset({"unreadable", "has_bad_record"})

    topic: str
    translations: tuple[TranslatedVector, ...]
    unreadable: str | None = None
    has_bad_record: bool | None = None


@dataclass(frozen=True)
class TranslationResult(Document):
    """The result of a request with the same `id`."""

    id: str
    spark_version: str
    topics: tuple[TranslatedTopic, ...]
    kind: Literal["translation-result"] = "translation-result"
    schema: Schema = SCHEMA

    @cached_property
    def translations(self) -> TopicTranslations:
        """The translations of the vectors of a cutover."""
        return {each.topic: {vector_of(one.vector): one.found for one in each.translations} for each in self.topics}

    @cached_property
    def translations_back(self) -> TranslationsBack:
        """The translations of a request `is_back`.

        Raises `DoesNotFit` for a translation that lacks a partition of the source.
        """
        return {each.topic: dict(_back(each.topic, one) for one in each.translations) for each in self.topics}

    @cached_property
    def untranslated(self) -> Mapping[str, TranslatedTopic]:
        """The topics whose records could not be read."""
        return {each.topic: each for each in self.topics if each.unreadable is not None}


def _back(topic: str, one: TranslatedVector) -> tuple[tuple[Vector, Vector], VectorTranslation]:
    read_before = one.read or {}
    # Both have every partition of the source.
    if one.goes_on_at.keys() != read_before.keys():
        there, expected = sorted(one.goes_on_at), sorted(read_before)
        raise DoesNotFit(f"topic {topic}: offsets of partitions {there}, expected those of {expected}")
    return (vector_of(one.vector), vector_of(read_before)), one.found


def nothing_to_translate(request: TranslationRequest) -> TranslationResult:
    """Return the result of a request without topics."""
    return TranslationResult(request.id, "not started", ())
