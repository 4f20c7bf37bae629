"""The translation job: request document in, result document out, one Spark application for all topics and groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Union

from pyspark.sql import SparkSession

from kafka_digest.reading.kafka_clusters import SIDES, Clusters
from kafka_digest.reading.read_windows import LogBounds, SideRange, readable_range
from kafka_digest.runtime.command import Clients, run_job
from kafka_digest.runtime.job_errors import RECORD_UNREADABLE, JobError
from kafka_digest.translate.passes import Translation
from kafka_digest.translate.vectors import TopicCopy, Translated

SCHEMA = 2
REQUEST_KIND = "translation-request"
RESULT_KIND = "translation-result"
TOPIC_FIELDS = {
    "topic",
    "target_topic",
    "by_key",
    "is_compacted",
    "has_timestamps",
    "source",
    "target",
    "vectors",
    "read",
}
Bounds = Mapping[tuple[str, int], LogBounds]
Answer = Union[Sequence[Translated], JobError]
"""Where the vectors of a topic resume, or why they cannot be translated."""


def main(arguments: Sequence[str]) -> int:
    """Run the job of a command line and return its exit code."""
    return run_job(arguments, translate, program="translate_offsets.py")


def translate(session: SparkSession, request: Mapping[str, Any], clients: Clients, _result: str) -> dict[str, Any]:
    """Return the result document of a request. Raises `JobError` if it cannot be carried out."""
    _check_request(request)
    untimed, limit = _untimed(request["topics"]), request.get("max_bytes_per_s")
    clusters = Clusters(session, clients, request["isolation_level"], untimed, max_bytes_per_s=limit)
    asked = _copies(clusters, request["topics"], is_back=request["is_back"])
    copies = [copy for copy in asked if isinstance(copy, TopicCopy)]
    topics = {"source": {copy.topic for copy in copies}, "target": {copy.target_topic for copy in copies}}
    with clusters.reading(topics):
        found = iter(Translation(clusters).run(copies))
    answers = [
        _topic(topic["topic"], copy if isinstance(copy, JobError) else next(found))
        for topic, copy in zip(request["topics"], asked)
    ]
    found_by = {"id": request["id"], "spark_version": session.version}
    return {"schema": SCHEMA, "kind": RESULT_KIND, **found_by, "topics": answers}


def _copies(clusters: Clusters, topics: Iterable[Mapping[str, Any]], *, is_back: bool) -> list[TopicCopy | JobError]:
    """Return what to read of each topic, or why its groups cannot be translated."""
    asked = {side: [_ranges(topic, side) for topic in topics] for side in SIDES}
    bounds = {side: clusters.log_bounds(side, [p for pieces in asked[side] for p in pieces]) for side in SIDES}
    return [
        _copy(
            topic,
            {"source": _source_ranges(source, bounds["source"]), "target": _held(target, bounds["target"])},
            is_back,
        )
        for topic, source, target in zip(topics, asked["source"], asked["target"])
    ]


def _copy(topic: Mapping[str, Any], ranges: Mapping[str, Sequence[SideRange]], is_back: bool) -> TopicCopy | JobError:
    try:
        return TopicCopy(
            topic=topic["topic"],
            target_topic=topic["target_topic"],
            by_key=topic["by_key"],
            is_compacted=topic["is_compacted"],
            ranges=ranges,
            vectors=[_by_number(vector) for vector in topic["vectors"]],
            read=[_by_number(vector) for vector in topic["read"]],
            is_back=is_back,
        )
    except JobError as error:
        return error


def _ranges(topic: Mapping[str, Any], side: str) -> list[SideRange]:
    name = topic["topic" if side == "source" else "target_topic"]
    return [SideRange(name, int(partition), start, end) for partition, (start, end) in topic[side].items()]


def _source_ranges(pieces: Iterable[SideRange], bounds: Bounds) -> list[SideRange]:
    """Return the ranges, with the reason for a range that cannot be read completely."""
    return [readable_range(piece, bounds.get(piece.place), end_may_be_missing=False) for piece in pieces]


def _held(pieces: Iterable[SideRange], bounds: Bounds) -> list[SideRange]:
    """Return the part of the ranges that the target still holds: an unread record that it deleted has no copy.

    The end stays unchanged: a group that has read everything resumes there.
    """
    return [_still_held(piece, bounds[piece.place]) if piece.place in bounds else piece for piece in pieces]


def _still_held(piece: SideRange, bounds: LogBounds) -> SideRange:
    held = piece.between(min(max(piece.start, bounds.log_start), piece.end), piece.end)
    bad = bounds.bad_record_in(held.start, held.end)
    return replace(held, unreadable=bad, has_bad_record=bad is not None)


def _topic(name: str, answer: Answer) -> dict[str, Any]:
    if isinstance(answer, JobError):
        why = {"unreadable": str(answer), "has_bad_record": answer.code == RECORD_UNREADABLE}
        return {"topic": name, "translations": [], **why}
    return {"topic": name, "translations": [_translation(one) for one in answer], "unreadable": None}


def _translation(one: Translated) -> dict[str, Any]:
    return {
        "vector": _by_text(one.vector),
        "read": _by_text(one.read),
        "goes_on_at": _by_text(one.goes_on_at),
        "unread": one.unread,
        "delivered": one.delivered,
        "missing": _by_text(one.missing),
        "is_minimal": one.is_minimal,
    }


def _by_number(offsets: Mapping[str, int]) -> dict[int, int]:
    return {int(partition): offset for partition, offset in offsets.items()}


def _by_text(offsets: Mapping[int, int]) -> dict[str, int]:
    return {str(partition): offset for partition, offset in sorted(offsets.items())}


def _untimed(topics: Iterable[Mapping[str, Any]]) -> dict[str, frozenset[str]]:
    """Return the topics of each side whose timestamps are not compared."""
    untimed = [topic for topic in topics if not topic["has_timestamps"]]
    return {
        "source": frozenset(topic["topic"] for topic in untimed),
        "target": frozenset(topic["target_topic"] for topic in untimed),
    }


def _check_request(request: Mapping[str, Any]) -> None:
    found = (request.get("kind"), request.get("schema"))
    if found != (REQUEST_KIND, SCHEMA):
        raise JobError(f"the request is {found}; this job reads {(REQUEST_KIND, SCHEMA)}")
    lacking = [name for name in ("id", "isolation_level", "is_back", "topics") if name not in request]
    lacking += sorted({name for topic in request.get("topics", ()) for name in TOPIC_FIELDS - topic.keys()})
    if lacking:
        raise JobError(f"the request lacks {', '.join(lacking)}")
    if request["isolation_level"] not in {"read_committed", "read_uncommitted"}:
        raise JobError(f"unknown isolation level {request['isolation_level']!r}")
