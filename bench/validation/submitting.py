"""Whole submissions: twelve small topics in one application against one topic."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from bench.measuring import interleaved, ratio
from bench.results import Row
from bench.sizes import Submission as Size
from bench.validation.data import Topic, fill, keyed
from bench.validation.scene import two_clusters
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.validation_contract import KEY_DIGEST, ValidationRequest
from kafka_migration.orchestration.operators.spark_submission import zip_package
from sandbox.jars import spark_jars
from sandbox.spark import JOB, submit_job

PARTITIONS = 4


def rows(size: Size) -> Iterator[Row]:
    """Time submissions of one and of several topics, compared by key."""
    topics = [keyed(f"small-{number}", size.records, 100, PARTITIONS) for number in range(size.topics)]
    one, all_of_them = "1 topic", f"{size.topics} topics"
    with two_clusters() as (folder, sides):
        fill(sides, topics)
        costs = interleaved(
            {one: lambda: _submit(folder, sides, topics[:1]), all_of_them: lambda: _submit(folder, sides, topics)},
            size.runs,
        )
    yield ratio("submission of 12 small topics ÷ of 1", costs, all_of_them, one)


def _submit(folder: Path, sides: Mapping[str, str], topics: list[Topic]) -> None:
    windows = [
        Window(1, topic.name, topic.name, number, 0, topic.sizes["source"][number], 0, topic.sizes["target"][number])
        for topic in topics
        for number in range(topic.partitions)
    ]
    request = ValidationRequest("bench", "run", 65_536, "read_committed", tuple(windows), digest=KEY_DIGEST)
    clients = {side: {"kafka.bootstrap.servers": at} for side, at in sides.items()}
    documents = {"request": request.to_document(), "clients": clients}
    package = zip_package(JOB.parent / "kafka_digest", folder)
    ended, result = submit_job(folder, documents, package, spark_jars(), conf={"spark.log.level": "WARN"})
    ended.check_returncode()
    assert all(topic["equal"] for topic in json.loads(result.read_text())["topics"])
