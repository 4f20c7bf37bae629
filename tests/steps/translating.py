"""A copy that MirrorMaker 1 has re-partitioned, and a Spark that translates the offsets of its groups."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import Offsets
from kafka_migration.steps.reading.spark_documents import SparkJob
from tests.steps.engines import lossy
from tests.steps.world import FOUR_RECORDS, P0, P1, World


@dataclass
class TranslatingSpark:
    """A Spark that answers every vector alike, with offsets per direction.

    Without offsets the job succeeds and writes no result.
    """

    world: World
    there: Mapping[int, int] = field(default_factory=lambda: {0: 2, 1: 0, 2: 3})
    back: Mapping[int, int] = field(default_factory=lambda: {0: 2, 1: 3})
    requests: list[dict[str, Any]] = field(default_factory=list)

    def work(self, job: SparkJob) -> None:
        """Do what the job does."""
        request = json.loads(Path(job.request).read_text())
        self.requests.append(request)
        assert "translate_offsets.py" == job.application
        if offsets := self.back if request["is_back"] else self.there:
            answer = {"schema": 2, "kind": "translation-result", "id": request["id"], "spark_version": "4"}
            topics = [_translated(topic, offsets) for topic in request["topics"]]
            self.world.spark_writes(job.result, {**answer, "topics": topics})


def _translated(topic: Mapping[str, Any], offsets: Mapping[int, int]) -> dict[str, Any]:
    goes_on_at = {str(partition): offset for partition, offset in offsets.items()}
    found = {"goes_on_at": goes_on_at, "unread": 2, "delivered": 3, "missing": {}, "is_minimal": True}
    read = topic.get("read") or [None] * len(topic["vectors"])
    pairs = zip(topic["vectors"], read, strict=True)
    return {
        "topic": topic["topic"],
        "translations": [{"vector": vector, **found, **({"read": at} if at else {})} for vector, at in pairs],
    }


def repartitioned(world: World, groups: Mapping[str, Offsets]) -> TranslatingSpark:
    """Let MirrorMaker 1 copy from two partitions to three in a cutover, which is judged; the groups have stopped."""
    engine, spark = lossy(world), TranslatingSpark(world)
    world.spark_work = spark.work
    world.params["mode"] = "cutover"
    world.target.create_topics([NewTopic("orders", 3, 1, {}), NewTopic("audit", 1, 1, {})])
    for partition in (0, 1):
        world.source.produce("orders", partition, *FOUR_RECORDS)
    for group, commits in groups.items():
        world.source.commit(group, commits, metadata="note")
    world.start()
    for partition in (0, 2):
        world.target.produce("orders", partition, *FOUR_RECORDS)
    engine.positions |= {P0: 4, P1: 4}
    world.do("stop_mirror")
    world.judge()
    return spark
