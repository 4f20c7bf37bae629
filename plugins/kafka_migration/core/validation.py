"""The same-partition validation: the documents exchanged with the Spark job.

The JSON is the whole contract between this package and `spark_jobs/validate_topics.py`, which cannot import
it. Offsets are *next to read*, so a window `[start, end)` without records has `start == end`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_migration.core.migration import IsolationLevel

SCHEMA = 1
REQUEST_KIND = "validation-request"
RESULT_KIND = "validation-result"
# Name and version of the digest that both documents speak of; defined in spark_jobs/kafka_digest/digest.py.
DIGEST = "partition-position-xxhash64/1"


@dataclass(frozen=True, slots=True, order=True)
class Window:
    """The offset ranges of one partition that one comparison covers, `[start, end)` on either side."""

    generation: int
    topic: str
    target_topic: str
    partition: int
    source_start: int
    source_end: int
    target_start: int
    target_end: int

    @property
    def is_empty(self) -> bool:
        """Whether neither side has offsets to read."""
        return self.source_start == self.source_end and self.target_start == self.target_end

    @property
    def has_no_holes(self) -> bool:
        """Whether both sides span equally many offsets, so that every offset is a record of its own."""
        return self.source_end - self.source_start == self.target_end - self.target_start

    def to_document(self) -> dict[str, Any]:
        """Return the window's fields."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Window:
        """Read a window out of a document that may hold more than its fields."""
        return cls(**{field.name: document[field.name] for field in fields(cls)})


@dataclass(frozen=True, slots=True)
class ValidationRequest:
    """What the job is asked to compare. Several windows of one partition are allowed.

    `generations` are those that the windows cover, for the judgement; the job does not read them.
    """

    migration: str
    run: str
    block_records: int
    isolation_level: IsolationLevel
    windows: tuple[Window, ...]
    generations: tuple[int, ...] = ()
    digest: str = DIGEST

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
        )


class DifferenceKind(StrEnum):
    """What the first difference of a partition is."""

    MISSING = "missing"
    EXTRA = "extra"
    DUPLICATE = "duplicate"
    REORDERED = "reordered"
    ALTERED = "altered"
    UNCLASSIFIED = "unclassified"


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first place where source and target differ.

    `source_offset` and `target_offset` name the records that stand at that place; `None` means that this
    side has no further record there. `fields` are those that differ in an altered record.
    """

    kind: DifferenceKind
    source_offset: int | None
    target_offset: int | None
    fields: tuple[str, ...]
    detail: str

    @property
    def is_target_tail(self) -> bool:
        """Whether the target equals the source and then goes on: its tail is all of the difference."""
        return self.source_offset is None and self.kind in {DifferenceKind.EXTRA, DifferenceKind.DUPLICATE}

    def to_document(self) -> dict[str, Any]:
        """Return the difference as plain JSON values."""
        return {**asdict(self), "kind": str(self.kind), "fields": list(self.fields)}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> FirstDifference:
        """Read back what `to_document` wrote."""
        return cls(
            DifferenceKind(document["kind"]),
            document["source_offset"],
            document["target_offset"],
            tuple(document["fields"]),
            document["detail"],
        )


@dataclass(frozen=True, slots=True)
class SideCount:
    """What was read of a window on one side; the offsets are those of real records, `None` without any."""

    records: int
    key_value_bytes: int
    first_offset: int | None
    last_offset: int | None


@dataclass(frozen=True, slots=True)
class PartitionResult:
    """What the comparison of one window found.

    `source_unreadable` and `target_unreadable` say in words which part of the window could not be read.
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

    @property
    def unreadable(self) -> tuple[str, ...]:
        """What could not be read, each with its side."""
        sides = (("source", self.source_unreadable), ("target", self.target_unreadable))
        return tuple(f"{side}: {text}" for side, text in sides if text is not None)

    def to_document(self) -> dict[str, Any]:
        """Return the window's fields and what was found."""
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
            "first_difference": None if difference is None else difference.to_document(),
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> PartitionResult:
        """Read back what `to_document` wrote."""
        difference = document["first_difference"]
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
        )


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """What the job found, one entry per window of the request; times are ISO 8601 in UTC."""

    spark_version: str
    started_at: str
    finished_at: str
    partitions: tuple[PartitionResult, ...]
    digest: str = DIGEST

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
        )


def _require(document: Mapping[str, Any], kind: str) -> None:
    found = (document.get("kind"), document.get("schema"), document.get("digest"))
    if found != (kind, SCHEMA, DIGEST):
        raise ValueError(f"expected a {kind} of schema {SCHEMA} and digest {DIGEST}, found {found}")


def empty_result(request: ValidationRequest, at: str) -> ValidationResult:
    """Return the result of a request without anything to read; `at` is ISO 8601 in UTC.

    Raises `ValueError` when a window does hold offsets: what was not read is not equal.
    """
    if not all(window.is_empty for window in request.windows):
        raise ValueError("a window of the request is not empty")
    return _not_read(request, at, equal=True, reason=None)


def unread_result(request: ValidationRequest, at: str, reason: str) -> ValidationResult:
    """Return the result of a request that nobody carried out, for a reason that makes every window not verifiable."""
    return _not_read(request, at, equal=False, reason=reason)


def _not_read(request: ValidationRequest, at: str, *, equal: bool, reason: str | None) -> ValidationResult:
    nothing = SideCount(0, 0, None, None)
    partitions = (
        PartitionResult(window, nothing, nothing, equal, blocks=0, differing_blocks=0, source_unreadable=reason)
        for window in request.windows
    )
    return ValidationResult("not started", at, at, tuple(partitions))


def unanswered_windows(request: ValidationRequest, result: ValidationResult) -> tuple[Window, ...]:
    """Return the windows that were asked for and have no entry in the result; silence is no verdict."""
    answered = {partition.window for partition in result.partitions}
    return tuple(window for window in request.windows if window not in answered)
