"""A copy that MirrorMaker 1 has re-partitioned, and a Spark that translates the offsets of its groups."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import Offsets
from tests.airflow.engines import lossy
from tests.airflow.world import World
from tests.steps.world import FOUR_RECORDS, P0, P1


@dataclass
class TranslatingSpark:
    """A spark-submit that answers every vector alike, with offsets per direction.

    Without offsets the job succeeds and writes no result.
    """

    world: World
    there: Mapping[int, int] = field(default_factory=lambda: {0: 2, 1: 0, 2: 3})
    back: Mapping[int, int] = field(default_factory=lambda: {0: 2, 1: 3})
    requests: list[dict[str, Any]] = field(default_factory=list)
    clients: dict[str, dict[str, str]] = field(default_factory=dict)

    def submit(self, operator: Any, _context: Any) -> None:
        """Do what the job does."""
        places = dict(zip(operator.application_args[::2], operator.application_args[1::2], strict=True))
        request = json.loads(Path(places["--request"].removeprefix("file://")).read_text())
        self.requests.append(request)
        self.clients = json.loads(Path(places["--clients-once"]).read_text())
        assert operator.application.endswith("/spark_jobs/translate_offsets.py")
        if offsets := self.back if request["is_back"] else self.there:
            answer = {"schema": 2, "kind": "translation-result", "id": request["id"], "spark_version": "4"}
            topics = [_translated(topic, offsets) for topic in request["topics"]]
            self.world.spark_writes(operator.application_args, {**answer, "topics": topics})


def _translated(topic: Mapping[str, Any], offsets: Mapping[int, int]) -> dict[str, Any]:
    goes_on_at = {str(partition): offset for partition, offset in offsets.items()}
    found = {"goes_on_at": goes_on_at, "unread": 2, "delivered": 3, "missing": {}, "is_minimal": True}
    read = topic.get("read") or [None] * len(topic["vectors"])
    pairs = zip(topic["vectors"], read, strict=True)
    return {
        "topic": topic["topic"],
        "translations": [{"vector": vector, **found, **({"read": at} if at else {})} for vector, at in pairs],
    }


def repartitioned(world: World, monkeypatch: pytest.MonkeyPatch, groups: Mapping[str, Offsets]) -> TranslatingSpark:
    """Let MirrorMaker 1 copy from two partitions to three in a cutover, which is judged; the groups have stopped."""
    engine, spark = lossy(world), TranslatingSpark(world)
    monkeypatch.setattr(SparkSubmitOperator, "execute", lambda operator, context: spark.submit(operator, context))
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
