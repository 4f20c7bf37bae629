"""The validation job: request document in, result document out, one Spark application for all topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from pyspark.sql import SparkSession

from kafka_digest.keys import key_digest
from kafka_digest.keys.difference_file import DifferenceFile
from kafka_digest.keys.key_job import KeyJob
from kafka_digest.position import position_digest as digest
from kafka_digest.position.position_job import PositionJob
from kafka_digest.reading.kafka_clusters import SIDES, Clusters
from kafka_digest.reading.read_windows import WindowPlan
from kafka_digest.reading.record_schema_ids import SchemaIds
from kafka_digest.runtime.command import Clients, run_job
from kafka_digest.runtime.job_documents import as_uri, remove
from kafka_digest.runtime.job_errors import JobError, naming

SCHEMA = 2
REQUEST_KIND = "validation-request"
RESULT_KIND = "validation-result"
DIGESTS = (digest.DIGEST, key_digest.DIGEST)
WINDOW_FIELDS = {
    *("generation", "topic", "target_topic", "partition"),
    *("source_start", "source_end", "target_start", "target_end"),
}


def main(arguments: Sequence[str]) -> int:
    """Run the job of a command line and return its exit code."""
    return run_job(arguments, compare, program="validate_topics.py")


def compare(session: SparkSession, request: Mapping[str, Any], clients: Clients, result: str) -> dict[str, Any]:
    """Return the result document of a request. Raises `JobError` if it cannot be carried out.

    All differences are in a Parquet file next to the result, which is not written if there are none.
    """
    differences = f"{as_uri(result).removesuffix('.json')}.differences.parquet"
    with naming(f"removing the differences of an earlier result {differences}"):
        remove(session, differences)
    started_at = datetime.now(timezone.utc)
    _check_request(request)
    clusters = _clusters(session, request, clients)
    plans = clusters.plan(request["windows"])
    names = {side: {getattr(plan, side).topic for plan in plans} for side in SIDES}
    with clusters.reading(names):
        entries, topics = _compared(clusters, plans, request, DifferenceFile(session, differences))
    return {
        "schema": SCHEMA,
        "kind": RESULT_KIND,
        "digest": request["digest"],
        "spark_version": session.version,
        "started_at": started_at.isoformat(),
        "finished_at": datetime.now(timezone.utc).isoformat(),
        "source_records": sum(entry["source"]["records"] for entry in entries),
        "target_records": sum(entry["target"]["records"] for entry in entries),
        "partitions": entries,
        "topics": topics,
        "schema_ids": clusters.schema_ids.documents(plans),
    }


def _clusters(session: SparkSession, request: Mapping[str, Any], clients: Clients) -> Clusters:
    return Clusters(
        session,
        clients,
        request["isolation_level"],
        _untimed(request),
        compacted={side: frozenset(request.get("compacted_topics", {}).get(side, ())) for side in SIDES},
        is_uncommitted_copy=request.get("is_uncommitted_copy", False),
        max_bytes_per_s=request.get("max_bytes_per_s"),
        schema_ids=SchemaIds(request.get("schema_ids", {})),
    )


def _compared(
    clusters: Clusters, plans: Sequence[WindowPlan], request: Mapping[str, Any], file: DifferenceFile
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the entries of the result per window, and per topic if the comparison is by key."""
    killed = frozenset(request.get("killed_generations", ()))
    if request["digest"] == key_digest.DIGEST:
        return KeyJob(clusters, file, killed).run(plans)
    resent = frozenset(request.get("resent_generations", ()))
    return PositionJob(clusters, file, request["block_records"], killed, resent).run(plans), []


def _untimed(request: Mapping[str, Any]) -> dict[str, frozenset[str]]:
    """Return the topics of each side whose timestamps are not compared; the request names the source topics."""
    source = frozenset(request.get("untimed_topics", ()))
    target = frozenset(window["target_topic"] for window in request["windows"] if window["topic"] in source)
    return {"source": source, "target": target}


def _check_request(request: Mapping[str, Any]) -> None:
    found = (request.get("kind"), request.get("schema"))
    if found != (REQUEST_KIND, SCHEMA) or request.get("digest") not in DIGESTS:
        expected = f"{(REQUEST_KIND, SCHEMA)} with one of the digests {', '.join(DIGESTS)}"
        raise JobError(f"the request is {found} with {request.get('digest')}; this job reads {expected}")
    lacking = [name for name in ("isolation_level", "block_records", "windows") if name not in request]
    lacking += sorted({name for window in request.get("windows", ()) for name in WINDOW_FIELDS - window.keys()})
    if lacking:
        raise JobError(f"the request lacks {', '.join(lacking)}")
    _check_values(request)


def _check_values(request: Mapping[str, Any]) -> None:
    if request["isolation_level"] not in {"read_committed", "read_uncommitted"}:
        raise JobError(f"unknown isolation level {request['isolation_level']!r}")
    if not 1 <= request["block_records"] <= 1 << 24:
        raise JobError(f"block_records is {request['block_records']}; expected 1 to {1 << 24}")
    if not isinstance(request.get("max_bytes_per_s"), (int, type(None))):
        raise JobError(f"max_bytes_per_s is {request['max_bytes_per_s']!r}; expected a whole number or null")
    mixed = _mixed_names(request["windows"]) if request["digest"] == key_digest.DIGEST else ()
    if mixed:
        raise JobError(f"comparison by key needs one separate target topic per topic; not so for {', '.join(mixed)}")


def _mixed_names(windows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the topics that have several target topics, or share one."""
    pairs = {(window["topic"], window["target_topic"]) for window in windows}
    sources, targets = (Counter(pair[side] for pair in pairs) for side in (0, 1))
    return sorted({source for source, target in pairs if sources[source] > 1 or targets[target] > 1})
