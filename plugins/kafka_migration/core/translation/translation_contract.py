"""Translating committed offsets if the copy does not keep partitions: the documents exchanged with the Spark job.

The commits of a group on all source partitions of a topic together are a *vector*. It is translated as a whole to one
offset per target partition, because every target partition may hold records of any source partition. In a rollback
(`is_back`) the vectors are offsets of the target's partitions and are translated to the source's partitions.

The JSON is the whole contract between this package and `spark_jobs/translate_offsets.py`, which cannot import it.
Offsets are *next to read*. Partitions are keys of JSON objects and therefore strings there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from kafka_migration.core.documents.codec import Document, read, written
from kafka_migration.core.kafka.commits import GroupsCommits
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.core.validation.validation_contract import client_id_of

if TYPE_CHECKING:
    from kafka_migration.core.kafka.cluster import IsolationLevel

SCHEMA = 2
REQUEST_KIND = "translation-request"
RESULT_KIND = "translation-result"

PartitionOffsets = Mapping[int, int]
"""An offset per partition of one topic."""
Vector = tuple[tuple[int, int], ...]
"""Partition and offset of every source partition of a topic, ascending; can be a key of a mapping."""


def vector_of(offsets: PartitionOffsets) -> Vector:
    """Return the offsets as a vector."""
    return tuple(sorted(offsets.items()))


@dataclass(frozen=True, slots=True)
class TopicToTranslate:
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
    vectors: tuple[Vector, ...]
    read: tuple[Vector, ...] = ()

    def to_document(self) -> dict[str, Any]:
        """Return the topic as plain JSON values."""
        vectors = {"vectors": self.vectors, "read": self.read}
        offsets = {name: [written(dict(vector)) for vector in each] for name, each in vectors.items()}
        return {**{each.name: written(getattr(self, each.name)) for each in fields(self)}, **offsets}


@dataclass(frozen=True, slots=True)
class TranslationRequest:
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

    @property
    def client_id(self) -> str:
        """The client id of the job's consumers on both clusters."""
        return client_id_of("offsets", self.migration, is_limited=self.max_bytes_per_s is not None)

    def to_document(self) -> dict[str, Any]:
        """Return the request document."""
        said = {each.name: written(getattr(self, each.name)) for each in fields(self) if each.name != "topics"}
        return {"schema": SCHEMA, "kind": REQUEST_KIND, **said, "topics": [t.to_document() for t in self.topics]}


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


def translations_back_from_document(document: Mapping[str, Any]) -> TranslationsBack:
    """Read the result of a request `is_back`.

    Raises `ValueError` for another kind or schema, and for a translation that lacks a partition of the source.
    """
    _require_result(document)
    return {
        topic["topic"]: dict(_translation_back(topic["topic"], entry) for entry in topic["translations"])
        for topic in document["topics"]
    }


def _translation_back(topic: str, entry: Mapping[str, Any]) -> tuple[tuple[Vector, Vector], VectorTranslation]:
    read_before, found = _vector_of(entry["read"]), VectorTranslation.from_document(entry)
    # Both have every partition of the source.
    if found.goes_on_at.keys() != dict(read_before).keys():
        there, expected = sorted(found.goes_on_at), sorted(dict(read_before))
        raise ValueError(f"topic {topic}: offsets of partitions {there}, expected those of {expected}")
    return (_vector_of(entry["vector"]), read_before), found


@dataclass(frozen=True, slots=True)
class Untranslated(Document):
    """Why a topic was not translated; `has_bad_record` says whether Spark cannot read one of its records."""

    unreadable: str
    has_bad_record: bool = False


def untranslated_topics(document: Mapping[str, Any]) -> dict[str, Untranslated]:
    """Return the topics of a result whose records could not be read."""
    return {
        topic["topic"]: Untranslated(topic["unreadable"], topic["has_bad_record"])
        for topic in document["topics"]
        if topic.get("unreadable") is not None
    }


def _require_result(document: Mapping[str, Any]) -> None:
    found = (document.get("kind"), document.get("schema"))
    if found != (RESULT_KIND, SCHEMA):
        raise ValueError(f"expected a {RESULT_KIND} of schema {SCHEMA}, found {found}")


def translations_from_document(document: Mapping[str, Any]) -> TopicTranslations:
    """Read a result. Raises `ValueError` for another kind or schema."""
    _require_result(document)
    return {
        topic["topic"]: {
            _vector_of(entry["vector"]): VectorTranslation.from_document(entry) for entry in topic["translations"]
        }
        for topic in document["topics"]
    }


def ends_asked(request: Mapping[str, Any]) -> dict[str, tuple[PartitionOffsets, PartitionOffsets]]:
    """Return the ends up to which a request reads each topic on the source and on the target."""
    return {topic["topic"]: (_ends(topic["source"]), _ends(topic["target"])) for topic in request["topics"]}


def _ends(ranges: Mapping[str, tuple[int, int]]) -> PartitionOffsets:
    return {int(partition): end for partition, (_, end) in ranges.items()}


def nothing_to_translate(request: TranslationRequest) -> dict[str, Any]:
    """Return the result of a request without topics."""
    return {"schema": SCHEMA, "kind": RESULT_KIND, "id": request.id, "spark_version": "not started", "topics": []}


def _vector_of(offsets: Mapping[str, int]) -> Vector:
    return vector_of(read(PartitionOffsets, offsets))
