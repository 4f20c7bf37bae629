"""The documents exchanged with the Spark job of a validation.

The JSON is the whole contract between this package and `spark_jobs/validate_topics.py`, which cannot import
it. Offsets are *next to read*, so a window `[start, end)` without records has `start == end`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from kafka_migration.core.ledger.window import Window
from kafka_migration.core.validation.differences import Differences, FirstDifference

if TYPE_CHECKING:
    from kafka_migration.core.kafka.cluster import IsolationLevel

SCHEMA = 2
REQUEST_KIND = "validation-request"
RESULT_KIND = "validation-result"
# Names and versions of the digests; a request names one, and spark_jobs/kafka_digest defines them. By position, each
# partition is compared with the partition of the same number; by key, a topic is compared as a whole.
POSITION_DIGEST = "partition-position-xxhash64/2"
KEY_DIGEST = "key-order-fmix64/2"
DIGESTS = (POSITION_DIGEST, KEY_DIGEST)
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
class ValidationRequest:
    """The request of a validation. Several windows of one partition are allowed.

    `generations` are those that the windows cover, for the judgement; the job does not read them. `killed_generations`
    are those of them that ended ungracefully and may have copied more than their windows. `untimed_topics` are topics
    to which the target assigns new timestamps, so timestamps are not compared. `compacted_topics` are topics of which
    a side may delete records that have a newer one. With `is_uncommitted_copy` MirrorMaker also copied aborted
    transactions. `max_bytes_per_s` limits what each broker of either side sends, `None` for no limit.
    """

    migration: str
    run: str
    block_records: int
    isolation_level: IsolationLevel
    windows: tuple[Window, ...]
    generations: tuple[int, ...] = ()
    digest: str = POSITION_DIGEST
    untimed_topics: tuple[str, ...] = ()
    compacted_topics: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_uncommitted_copy: bool = False
    max_bytes_per_s: int | None = None
    killed_generations: tuple[int, ...] = ()

    @property
    def client_id(self) -> str:
        """The client id of the job's consumers on both clusters."""
        return client_id_of("validation", self.migration, is_limited=self.max_bytes_per_s is not None)

    def to_document(self) -> dict[str, Any]:
        """Return the request document."""
        return {
            "schema": SCHEMA,
            "kind": REQUEST_KIND,
            "migration": self.migration,
            "run": self.run,
            "digest": self.digest,
            "block_records": self.block_records,
            "isolation_level": self.isolation_level,
            "generations": list(self.generations),
            "killed_generations": list(self.killed_generations),
            "untimed_topics": list(self.untimed_topics),
            "compacted_topics": {side: list(topics) for side, topics in self.compacted_topics.items()},
            "is_uncommitted_copy": self.is_uncommitted_copy,
            "max_bytes_per_s": self.max_bytes_per_s,
            "windows": [window.to_document() for window in self.windows],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> ValidationRequest:
        """Read the request back. Raises `ValueError` for another kind, schema or digest."""
        _require(document, REQUEST_KIND)
        return cls(
            migration=document["migration"],
            run=document["run"],
            block_records=document["block_records"],
            isolation_level=document["isolation_level"],
            windows=tuple(Window.from_document(window) for window in document["windows"]),
            generations=tuple(document["generations"]),
            digest=document["digest"],
            untimed_topics=tuple(document["untimed_topics"]),
            compacted_topics={side: tuple(topics) for side, topics in document["compacted_topics"].items()},
            is_uncommitted_copy=document["is_uncommitted_copy"],
            max_bytes_per_s=document["max_bytes_per_s"],
            killed_generations=tuple(document["killed_generations"]),
        )


@dataclass(frozen=True, slots=True)
class SideCount:
    """The records read from a window on one side; the offsets are those of real records, `None` without any."""

    records: int
    key_value_bytes: int
    first_offset: int | None
    last_offset: int | None


@dataclass(frozen=True, slots=True)
class PartitionResult:
    """The result of comparing one window.

    In a comparison by key, `equal` is about the whole topic, and there are no blocks and no digests.
    Digests are hexadecimal and cover the records that were read.
    `source_unreadable` and `target_unreadable` say which part of the window could not be read.
    `differences` are those within keys; there may be none if only records of different keys changed places.
    `rest_in_order` says whether the records that compaction does not explain are in the same order on both sides, over
    all keys; `None` if compaction does not explain everything, or if this was not compared.
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

    @property
    def unreadable(self) -> tuple[str, ...]:
        """What could not be read, each with its side."""
        sides = (("source", self.source_unreadable), ("target", self.target_unreadable))
        return tuple(f"{side}: {text}" for side, text in sides if text is not None)

    def to_document(self) -> dict[str, Any]:
        """Return the window's fields and the result."""
        difference = self.first_difference
        return {
            **self.window.to_document(),
            "source": asdict(self.source),
            "target": asdict(self.target),
            "equal": self.equal,
            "blocks": self.blocks,
            "differing_blocks": self.differing_blocks,
            "source_unreadable": self.source_unreadable,
            "target_unreadable": self.target_unreadable,
            "source_digest": self.source_digest,
            "target_digest": self.target_digest,
            "first_difference": None if difference is None else difference.to_document(),
            "differences": self.differences and self.differences.to_document(),
            "rest_in_order": self.rest_in_order,
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> PartitionResult:
        """Read back what `to_document` wrote."""
        difference, differences = document["first_difference"], document["differences"]
        return cls(
            window=Window.from_document(document),
            source=SideCount(**document["source"]),
            target=SideCount(**document["target"]),
            equal=document["equal"],
            blocks=document["blocks"],
            differing_blocks=document["differing_blocks"],
            source_unreadable=document["source_unreadable"],
            target_unreadable=document["target_unreadable"],
            first_difference=None if difference is None else FirstDifference.from_document(difference),
            differences=differences and Differences.from_document(differences),
            source_digest=document.get("source_digest"),
            target_digest=document.get("target_digest"),
            rest_in_order=document.get("rest_in_order"),
        )


@dataclass(frozen=True, slots=True)
class TopicResult:
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

    def to_document(self) -> dict[str, Any]:
        """Return the result as plain JSON values."""
        return {**asdict(self), "differences": self.differences and self.differences.to_document()}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> TopicResult:
        """Read back what `to_document` wrote."""
        differences = document["differences"]
        return cls(**{**document, "differences": differences and Differences.from_document(differences)})


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """The result of a validation, one entry per window of the request; times are ISO 8601 in UTC.

    `topics` has an entry per topic and generation that was compared by key.
    """

    spark_version: str
    started_at: str
    finished_at: str
    partitions: tuple[PartitionResult, ...]
    topics: tuple[TopicResult, ...] = ()
    digest: str = POSITION_DIGEST

    @property
    def source_records(self) -> int:
        """All records read on the source."""
        return sum(partition.source.records for partition in self.partitions)

    @property
    def target_records(self) -> int:
        """All records read on the target."""
        return sum(partition.target.records for partition in self.partitions)

    def to_document(self) -> dict[str, Any]:
        """Return the result document."""
        return {
            "schema": SCHEMA,
            "kind": RESULT_KIND,
            "digest": self.digest,
            "spark_version": self.spark_version,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
            "source_records": self.source_records,
            "target_records": self.target_records,
            "partitions": [partition.to_document() for partition in self.partitions],
            "topics": [topic.to_document() for topic in self.topics],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> ValidationResult:
        """Read the result back. Raises `ValueError` for another kind, schema or digest."""
        _require(document, RESULT_KIND)
        return cls(
            spark_version=document["spark_version"],
            started_at=document["started_at"],
            finished_at=document["finished_at"],
            partitions=tuple(PartitionResult.from_document(p) for p in document["partitions"]),
            topics=tuple(TopicResult.from_document(t) for t in document["topics"]),
            digest=document["digest"],
        )


def _require(document: Mapping[str, Any], kind: str) -> None:
    found = (document.get("kind"), document.get("schema"))
    if found != (kind, SCHEMA) or document.get("digest") not in DIGESTS:
        expected = f"a {kind} of schema {SCHEMA} with one of the digests {', '.join(DIGESTS)}"
        raise ValueError(f"expected {expected}, found {found} with {document.get('digest')}")


def empty_result(request: ValidationRequest, at: str) -> ValidationResult:
    """Return the result of a request without anything to read; `at` is ISO 8601 in UTC.

    Raises `ValueError` if a window has offsets: records that were not read do not count as equal.
    """
    if not all(window.is_empty for window in request.windows):
        raise ValueError("a window of the request is not empty")
    nothing = SideCount(0, 0, None, None)
    partitions = tuple(PartitionResult(window, nothing, nothing, True, 0, 0) for window in request.windows)
    return ValidationResult("not started", at, at, partitions, digest=request.digest)


def unanswered_windows(request: ValidationRequest, result: ValidationResult) -> tuple[Window, ...]:
    """Return the windows of the request without an entry in the result; these have no verdict."""
    answered = {partition.window for partition in result.partitions}
    return tuple(window for window in request.windows if window not in answered)
