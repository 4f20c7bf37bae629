"""What the translation job answers on a history: its own pure parts, and in Python what Spark's SQL does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from kafka_digest.reading.read_windows import LogBounds, SideRange
from kafka_digest.translate.passes import _results
from kafka_digest.translate.translate_job import _copies, _topic
from kafka_digest.translate.translate_tasks import _HASHED, _PLACED, COMMITTED, COPY, OTHER, counts, steps
from kafka_digest.translate.vectors import TopicCopy, delivered_from, places_of, sum_of
from kafka_migration.core.kafka.records import NO_TIMESTAMP
from kafka_migration.core.translation.translation_contract import (
    SCHEMA,
    TopicToTranslate,
    TopicTranslations,
    TranslationResult,
)
from tests.compaction.cleaner import Log, Record
from tests.translation.histories import History, Logs

Placed = tuple[int, int, Record]
"""A partition, an offset, and its record."""
_STEP = ("kind", "unit", "from_partition", "step", "to_partition", "to_step")


class Hashes(dict[Any, int]):
    """Gives each content a number, as a hash does."""

    def __missing__(self, content: Any) -> int:
        return self.setdefault(content, len(self) + 1)


@dataclass
class Topic:
    """One topic as the job asks for it and reads it."""

    logs: Mapping[str, Logs]
    source_log_start: Mapping[int, int]
    hashes: Hashes = field(default_factory=Hashes)

    def log_bounds(self, side: str, ranges: Iterable[SideRange]) -> dict[tuple[str, int], LogBounds]:
        """Return the bounds of these logs, as `Clusters` does."""
        starts = self.source_log_start if side == "source" else {}
        logs = {piece.place: self.logs[side][piece.partition] for piece in ranges}
        return {place: LogBounds(starts.get(place[1], 0), log.end, log.end) for place, log in logs.items()}

    def read(self, side: str, ranges: Iterable[SideRange]) -> list[Placed]:
        """Return the visible records of these ranges."""
        logs: Mapping[int, Log] = self.logs[side]
        return [(p.partition, o, r) for p in ranges for o, r in logs[p.partition].read(p.start, p.end)]


def translations(history: History, *, max_known_records: int) -> TopicTranslations:
    """Return what the job answers about the groups of a history; nothing if it need not be asked."""
    asked = history.topic.to_translate(history.vectors)
    if asked is None:
        return {}
    topic = Topic({"source": history.source, "target": history.target}, history.topic.source_log_start)
    (copy,) = _copies(topic, [asked.to_document()], is_back=False)  # type: ignore[arg-type]
    assert isinstance(copy, TopicCopy)
    rows = list(_summed(_steps(topic, copy, asked, max_known_records)))
    ((number, found),) = _results({0: copy}, {0: copy.unit}, rows).items()
    places = places_of({number: found})
    pieces = [replace(p, start=places[0, p.partition][0]) for p in copy.ranges["target"]]
    at = [{"unit": 0, "partition": p, "offset": o} for p, o, _ in topic.read("target", pieces)]
    told = [row for batch in counts([pa.RecordBatch.from_pylist(at, _PLACED)], places) for row in batch.to_pylist()]
    delivered = delivered_from(told, places)
    full = [replace(one, delivered=sum_of(delivered, 0, one.goes_on_at)) for one in found]
    result = {"schema": SCHEMA, "kind": "translation-result", "id": "", "spark_version": ""}
    return TranslationResult.from_document({**result, "topics": [_topic(copy.topic, full)]}).translations


def _steps(topic: Topic, copy: TopicCopy, asked: TopicToTranslate, max_known_records: int) -> list[dict[str, Any]]:
    source, target = (_hashed(topic, asked, side, copy.ranges[side]) for side in ("source", "target"))
    is_untimed = any(row["record"] == row["content"] for row in source)
    by_scope = asked.is_compacted or len(source) > max_known_records
    known = {row["scope" if by_scope else "content"] for row in source}
    copies = [row for row in target if row["scope" if by_scope else "content"] in known]
    rows = [
        {
            **row,
            "unit": 0,
            "side": side,
            "key": row["content" if is_untimed else "record"] if row["is_alone"] else row["scope"],
        }
        for side, of_side in ((COMMITTED, source), (OTHER, copies))
        for row in of_side
    ]
    rows.sort(key=lambda row: (row["key"], row["side"], row["partition"], row["offset"]))
    batches = steps([pa.RecordBatch.from_pylist(rows, _HASHED)], {0: copy.unit})
    return [row for batch in batches for row in batch.to_pylist()]


def _hashed(topic: Topic, asked: TopicToTranslate, side: str, ranges: Iterable[SideRange]) -> list[dict[str, Any]]:
    rows = []
    for partition, offset, record in topic.read(side, ranges):
        is_timed = asked.has_timestamps and record.timestamp != NO_TIMESTAMP
        content = topic.hashes[record[:2]]
        is_alone = asked.by_key and record.key is None
        scope = content if is_alone else topic.hashes["key", record.key] if asked.by_key else partition
        hashes = {"record": topic.hashes[record] if is_timed else content, "content": content}
        rows.append({"partition": partition, "offset": offset, "scope": scope, "is_alone": is_alone, **hashes})
    return rows


def _summed(rows: Sequence[Mapping[str, Any]]) -> Iterable[dict[str, Any]]:
    """Sum the rows of each step, as the job's SQL does."""
    groups: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in _STEP), []).append(row)
    for step, mine in groups.items():
        lost = [row["last_missing"] for row in mine if row["last_missing"] is not None]
        yield {
            **dict(zip(_STEP, step, strict=True)),
            "records": sum(row["records"] or 0 for row in mine),
            "last_missing": max(lost, default=None),
            "first": min((row["offset"], row["is_only_choice"]) for row in mine) if step[0] == COPY else None,
        }
