"""Whole submissions: twelve small topics in one application against one topic, and few records against none."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.measuring import interleaved, ratio
from bench.results import Row
from bench.sizes import Submission as Size
from bench.validation.data import Topic, fill, keyed
from bench.validation.scene import two_clusters
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.spark.driver_java import DEFAULT_OPTIONS, driver_settings
from kafka_migration.core.spark.spark_target import SparkTarget
from kafka_migration.core.validation.validation_contract import KEY_DIGEST, POSITION_DIGEST, Digest, ValidationRequest
from kafka_migration.orchestration.operators.spark_submission import zip_package
from sandbox.jars import spark_jars
from sandbox.shared_classes import spark_archive
from sandbox.spark import JOB, run_spark, submit_job

PARTITIONS = 4


@dataclass(frozen=True, slots=True)
class Place:
    """Where an application runs: Spark's master, further settings, and the variables of `spark-submit`."""

    master: str
    conf: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


LOCAL = Place("local[2]")
# Neither an archive nor a choice of the compiler.
AS_JAVA_DOES = {DEFAULT_OPTIONS: ""}
_EMPTY = """\
from pyspark.sql import SparkSession

session = SparkSession.builder.getOrCreate()
assert session.range(1).count() == 1
session.stop()
"""


def rows(size: Size) -> Iterator[Row]:
    """Time submissions of one and of several topics by key, and of few records against an empty application.

    Few records are compared as a task would: with the class archive, and with the JVM's quick compiler.
    """
    topics = [keyed(f"small-{number}", size.records, 100, PARTITIONS) for number in range(size.topics)]
    few = [keyed(f"few-{number}", size.few_records, 100, PARTITIONS) for number in range(size.few_topics)]
    one, all_of_them = "1 topic", f"{size.topics} topics"
    small, empty = f"{size.few_topics * size.few_records:,} records", "an empty spark-submit"
    with two_clusters() as (folder, sides):
        fill(sides, [*topics, *few])
        yield ratio(
            "submission of 12 small topics ÷ of 1",
            interleaved(
                {one: lambda: submit(folder, sides, topics[:1]), all_of_them: lambda: submit(folder, sides, topics)},
                size.runs,
            ),
            all_of_them,
            one,
        )
        yield ratio(
            "validation of 20,000 records in 4 topics ÷ an empty spark-submit",
            interleaved(
                {
                    small: lambda: submit(folder, sides, few, POSITION_DIGEST, _quick_start(few)),
                    empty: lambda: _submit_nothing(folder),
                },
                size.runs,
            ),
            small,
            empty,
        )


def _quick_start(topics: list[Topic]) -> dict[str, str]:
    """Return the setting that a task gives its driver."""
    records = 2 * sum(topic.records for topic in topics)
    found = spark_archive()
    archive = str(found) if found else None
    return driver_settings(SparkTarget("bench", "local[2]"), {}, records=records, archive=archive)


def submit(
    folder: Path,
    sides: Mapping[str, str],
    topics: list[Topic],
    digest: Digest = KEY_DIGEST,
    conf: Mapping[str, str] = AS_JAVA_DOES,
    place: Place = LOCAL,
) -> None:
    """Validate topics, which must be equal on both sides, in one application."""
    windows = [
        Window(1, topic.name, topic.name, number, 0, topic.sizes["source"][number], 0, topic.sizes["target"][number])
        for topic in topics
        for number in range(topic.partitions)
    ]
    request = ValidationRequest("bench", "run", 65_536, "read_committed", tuple(windows), digest=digest)
    clients = {side: {"kafka.bootstrap.servers": at} for side, at in sides.items()}
    documents = {"request": request.to_document(), "clients": clients}
    package = zip_package(JOB.parent / "kafka_digest", folder)
    settings = {"spark.log.level": "WARN", **conf, **place.conf}
    ended, result = submit_job(
        folder, documents, package, spark_jars(), conf=settings, master=place.master, environment=place.environment
    )
    ended.check_returncode()
    document = json.loads(result.read_text())
    assert all(found["equal"] for found in document["topics"] or document["partitions"])


def _submit_nothing(folder: Path) -> None:
    """Run an application that counts one row, without a class archive."""
    package = zip_package(JOB.parent / "kafka_digest", folder)
    application = folder / "empty.py"
    application.write_text(_EMPTY)
    run_spark(folder, application, [], package, spark_jars(), conf=AS_JAVA_DOES).check_returncode()
