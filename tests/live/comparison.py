"""One submission of the validation job over many topics, and what it said of each of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import pyarrow.parquet as pq

from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.judging import TopicVerdict, judge_topics
from kafka_migration.core.validation.validation_contract import (
    KEY_DIGEST,
    Digest,
    PartitionResult,
    TopicResult,
    ValidationRequest,
    ValidationResult,
)
from tests.live.validation_scene import Clusters, Place, Sent, submit
from tests.oracle import Logs, Raw, good_by_key, same_by_position, unpaired

TIMEOUT_S = 3_600
BLOCK_RECORDS = 20
Spot = tuple[int, int]  # partition, offset


class Row(NamedTuple):
    """A difference as the file of the run has it."""

    label: str
    fields: tuple[str, ...]
    source: Spot | None
    target: Spot | None


@dataclass
class Outcome:
    """What the job said, and the file of all differences."""

    result: ValidationResult
    file: Path

    @cached_property
    def rows(self) -> dict[str, list[Row]]:
        """All differences by topic."""
        rows: dict[str, list[Row]] = {}
        for row in pq.read_table(self.file).to_pylist() if self.file.exists() else ():
            rows.setdefault(row["topic"], []).append(
                Row(row["label"], tuple(row["fields"]), _spot(row, "source"), _spot(row, "target"))
            )
        return rows

    @cached_property
    def verdicts(self) -> dict[str, TopicVerdict]:
        """The verdict on each topic."""
        return {topic.topic: topic for topic in judge_topics(self.result)}

    @cached_property
    def windows(self) -> dict[str, list[PartitionResult]]:
        """What was found of each partition, by topic."""
        windows: dict[str, list[PartitionResult]] = {}
        for found in self.result.partitions:
            windows.setdefault(found.window.topic, []).append(found)
        return windows

    def topic(self, name: str) -> TopicResult:
        """What was found of a topic compared by key."""
        (found,) = [topic for topic in self.result.topics if topic.topic == name]
        return found

    def counts(self, topic: str) -> Counter[str]:
        """How many differences of each label the result counts."""
        return Counter({str(kind): count for kind, count in self.verdicts[topic].differences.counts.items()})


def _spot(row: Mapping[str, int | None], side: str) -> Spot | None:
    partition, offset = row[f"{side}_partition"], row[f"{side}_offset"]
    return None if partition is None or offset is None else (partition, offset)


def compared(
    clusters: Clusters,
    folder: Path,
    windows: Iterable[Window],
    digest: Digest,
    untimed: Sequence[str] = (),
    compacted: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> Outcome:
    """Compare windows by one submission."""
    request = ValidationRequest(
        "demo",
        "run",
        BLOCK_RECORDS,
        "read_committed",
        tuple(windows),
        (),
        digest,
        tuple(untimed),
        compacted_topics={side: tuple(topics) for side, topics in compacted.items()},
    )
    ended, path = submit(clusters, folder, request.to_document(), clusters.clients, timeout_s=TIMEOUT_S)
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    return Outcome(ValidationResult.from_document(json.loads(path.read_text())), folder / "result.differences.parquet")


def raw_logs(read: Mapping[Place, Sequence[tuple[int, Sent]]]) -> dict[str, list[list[Raw]]]:
    """Return what another reader than Spark found, by topic and partition."""
    logs: dict[str, list[list[Raw]]] = {}
    for (topic, _), records in sorted(read.items()):
        logs.setdefault(topic, []).append([_raw(record) for _, record in records])
    return logs


def _raw(record: Sent) -> Raw:
    return Raw(record.key, record.value, tuple(record.headers), record.timestamp_ms)


def contradictions(outcome: Outcome, source: Mapping[str, Logs], target: Mapping[str, Logs]) -> dict[str, str]:
    """Return by topic where the job and the oracle are not of one opinion.

    A topic must be good exactly if the oracle finds it so, and its differences must name as many records of either side
    as have no partner.
    """
    told = {topic: (outcome.verdicts[topic].verdict.is_good, *_named(outcome.counts(topic))) for topic in source}
    good = good_by_key if outcome.result.digest == KEY_DIGEST else same_by_position
    known = {topic: (good(source[topic], target[topic]), *unpaired(source[topic], target[topic])) for topic in source}
    return {topic: f"known {known[topic]}, told {told[topic]}" for topic in source if known[topic] != told[topic]}


def _named(counts: Counter[str]) -> tuple[int, int]:
    lost, more = counts["missing"], counts["extra"] + counts["duplicate"] + counts["stale"]
    return lost + counts["altered"], more + counts["altered"]
