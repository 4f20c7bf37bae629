"""The documents exchanged with the Spark job of a validation.

The JSON is the whole contract between this package and `spark_jobs/validate_topics.py`, which cannot import
it. Offsets are *next to read*, so a window `[start, end)` without records has `start == end`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from kafka_migration.core.documents.codec import Document
from kafka_migration.core.kafka.cluster import IsolationLevel
from kafka_migration.core.ledger.generations import PartIds, Window
from kafka_migration.core.migration.settings import Part
from kafka_migration.core.validation.differences import Differences, FirstDifference

Schema = Literal[2]
SCHEMA: Schema = 2
# Names and versions of the digests; a request names one, and spark_jobs/kafka_digest defines them. By position, each
# partition is compared with the partition of the same number; by key, a topic is compared as a whole.
Digest = Literal["partition-position-xxhash64/2", "key-order-fmix64/2"]
DIGESTS: tuple[Digest, ...] = get_args(Digest)
POSITION_DIGEST, KEY_DIGEST = DIGESTS
# Records of one block of the digest by position.
BLOCK_RECORDS = 65_536


def client_id_of(job: str, migration: str, *, is_limited: bool) -> str:
    """Return the client id of a Spark job's consumers; names of migrations have no dot.

    A limited job sets a quota on its client id, and a killed job leaves the quota there. So limited jobs have a
    separate id: the quota only affects the next limited job, which replaces it.
    """
    return f"kafka-migration-{job}-{migration}{'.limited' if is_limited else ''}"


def is_by_key(digest: str) -> bool:
    """Whether a comparison with this digest was by key, also for digests of earlier versions in ledgers."""
    return digest.startswith("key-order-")


@dataclass(frozen=True, slots=True)
class ValidationRequest(Document):
    """The request of a validation. Several windows of one partition are allowed.

    `generations` are those that the windows cover, for the judgement; the job does not read them. `killed_generations`
    are those of them that ended ungracefully and may have copied more than their windows, `resent_generations` those
    that may have sent records again at any place of their ranges. `untimed_topics` are topics to which the target
    assigns new timestamps, so timestamps are not compared. `compacted_topics` are topics of which
    a side may delete records that have a newer one. With `is_uncommitted_copy` MirrorMaker also copied aborted
    transactions. `max_bytes_per_s` limits what each broker of either side sends, `None` for no limit.
    `schema_ids` are the parts of the target's records, by target topic, of which the job collects the schema ids.
    `topic_generations` are the generations of each source topic, for the ledger's record of these ids.
    """

    ADDED: ClassVar[frozenset[str]] = frozenset({"resent_generations"})

    migration: str
    run: str
    block_records: int
    isolation_level: IsolationLevel
    windows: tuple[Window, ...]
    generations: tuple[int, ...] = ()
    digest: Digest = POSITION_DIGEST
    untimed_topics: tuple[str, ...] = ()
    compacted_topics: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_uncommitted_copy: bool = False
    max_bytes_per_s: int | None = None
    killed_generations: tuple[int, ...] = ()
    resent_generations: tuple[int, ...] = ()
    schema_ids: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    topic_generations: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    kind: Literal["validation-request"] = "validation-request"
    schema: Schema = SCHEMA

    @property
    def client_id(self) -> str:
        """The client id of the job's consumers on both clusters."""
        return client_id_of("validation", self.migration, is_limited=self.max_bytes_per_s is not None)

    @property
    def most_records(self) -> int:
        """An upper bound of the records that the job reads: the number of offsets of both sides."""
        return sum(w.source_end - w.source_start + w.target_end - w.target_start for w in self.windows)


@dataclass(frozen=True, slots=True)
class SideCount(Document):
    """The records read from a window on one side; the offsets are those of real records, `None` without any.

    `untimed` are the records without a timestamp, if timestamps are compared.
    """

    records: int
    key_value_bytes: int
    first_offset: int | None
    last_offset: int | None
    untimed: int = 0


@dataclass(frozen=True, slots=True)
class PartitionResult(Document):
    """The result of comparing one window.

    In a comparison by key, `equal` is about the whole topic, and there are no blocks and no digests.
    Digests are hexadecimal and cover the records that were read.
    `source_unreadable` and `target_unreadable` say which part of the window could not be read. `has_bad_record` says
    whether that is because Spark cannot read one of its records; the text names the record if its offset is known.
    `differences` are those within keys; there may be none if only records of different keys changed places.
    `rest_in_order` says whether the records that compaction does not explain are in the same order on both sides, over
    all keys; `None` if compaction does not explain everything, or if this was not compared. It is true where the pieces
    of a window are equal: then all differences are records that were sent again.
    """

    window: Window
    source: SideCount
    target: SideCount
    equal: bool
    blocks: int
    differing_blocks: int
    source_unreadable: str | None = None
    target_unreadable: str | None = None
    first_difference: FirstDifference | None = None
    differences: Differences | None = None
    source_digest: str | None = None
    target_digest: str | None = None
    rest_in_order: bool | None = None
    has_bad_record: bool = False

    @property
    def unreadable(self) -> tuple[str, ...]:
        """What could not be read, each with its side."""
        sides = (("source", self.source_unreadable), ("target", self.target_unreadable))
        return tuple(f"{side}: {text}" for side, text in sides if text is not None)


@dataclass(frozen=True, slots=True)
class TopicResult(Document):
    """The result of comparing all windows of a topic and generation by key; digests are hexadecimal.

    `differences` is `None` if there are none or if nothing could be compared.
    """

    generation: int
    topic: str
    target_topic: str
    equal: bool
    differing_buckets: int
    source_records: int
    target_records: int
    source_digest: str
    target_digest: str
    differences: Differences | None = None


@dataclass(frozen=True, slots=True)
class ValidationResult(Document):
    """The result of a validation, one entry per window of the request; times are ISO 8601 in UTC.

    `topics` has an entry per topic and generation that was compared by key. `schema_ids` has an entry per target topic
    and part that the request names.
    """

    spark_version: str
    started_at: str
    finished_at: str
    partitions: tuple[PartitionResult, ...]
    topics: tuple[TopicResult, ...] = ()
    digest: Digest = POSITION_DIGEST
    schema_ids: tuple[PartIds, ...] = ()
    kind: Literal["validation-result"] = "validation-result"
    schema: Schema = SCHEMA

    @property
    def source_records(self) -> int:
        """All records read on the source."""
        return sum(partition.source.records for partition in self.partitions)

    @property
    def target_records(self) -> int:
        """All records read on the target."""
        return sum(partition.target.records for partition in self.partitions)


def empty_result(request: ValidationRequest, at: str) -> ValidationResult:
    """Return the result of a request without anything to read; `at` is ISO 8601 in UTC.

    Raises `ValueError` if a window has offsets: records that were not read do not count as equal.
    """
    if not all(window.is_empty for window in request.windows):
        raise ValueError("a window of the request is not empty")
    nothing = SideCount(0, 0, None, None)
    partitions = tuple(PartitionResult(window, nothing, nothing, True, 0, 0) for window in request.windows)
    ids = tuple(PartIds(topic, part, ()) for topic, parts in request.schema_ids.items() for part in parts)
    return ValidationResult("not started", at, at, partitions, digest=request.digest, schema_ids=ids)


def unanswered_windows(request: ValidationRequest, result: ValidationResult) -> tuple[Window, ...]:
    """Return the windows of the request without an entry in the result; these have no verdict."""
    answered = {partition.window for partition in result.partitions}
    return tuple(window for window in request.windows if window not in answered)


def unanswered_ids(request: ValidationRequest, result: ValidationResult) -> tuple[str, ...]:
    """Return the target topics of which the result lacks the schema ids."""
    answered = {(each.topic, each.part) for each in result.schema_ids}
    return tuple(t for t, parts in request.schema_ids.items() if any((t, part) not in answered for part in parts))
