"""One small Spark session for all tests, and frames with the columns of Spark's Kafka source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import DataFrame, SparkSession, functions

from kafka_digest.shell.session import set_up
from sandbox.kafka import SHORT_LIVED
from sandbox.spark import local_session

SCHEMA = (
    "topic string, partition int, offset bigint, timestamp timestamp, key binary, value binary, "
    "headers array<struct<key: string, value: binary>>"
)
# Most of a small job's time goes into compiling: Spark's own code for each plan, and the JVM's best code for that. The
# live tests run the same job with all of it.
SMALL = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.extraJavaOptions": " ".join(SHORT_LIVED),
}
START = datetime(2026, 1, 1, tzinfo=UTC)
Header = tuple[str, bytes | None]
Place = tuple[str, int]  # topic, partition


@dataclass(frozen=True)
class KafkaRecord:
    """A record as a test writes it down."""

    key: bytes | None = b"k"
    value: bytes | None = b"v"
    headers: Sequence[Header] | None = None
    timestamp_ms: int = 0


FrameMaker = Callable[..., DataFrame]
FramesMaker = Callable[[Mapping[Place, Sequence[KafkaRecord]]], DataFrame]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A local session of one thread, without a UI."""
    session = set_up(local_session(1, SMALL))
    yield session
    session.stop()


@pytest.fixture(scope="session")
def kafka_frame(spark: SparkSession) -> FrameMaker:
    """Make a frame of one Kafka partition, read in one task like Spark's Kafka source does."""

    def make(
        records: Sequence[KafkaRecord],
        *,
        offsets: Sequence[int] | None = None,
        topic: str = "orders",
        partition: int = 0,
    ) -> DataFrame:
        rows = _rows((topic, partition), records, offsets or range(len(records)))
        return spark.createDataFrame(rows, SCHEMA).coalesce(1)

    return make


@pytest.fixture(scope="session")
def kafka_frames(spark: SparkSession) -> FramesMaker:
    """Make one frame of many Kafka partitions, each read in a task of its own; those without records have none."""

    def make(partitions: Mapping[Place, Sequence[KafkaRecord]]) -> DataFrame:
        parts = [_rows(place, records, range(len(records))) for place, records in partitions.items() if records]
        tasks = spark.range(0, len(parts), 1, max(1, len(parts)))
        rows = spark.createDataFrame(list(enumerate(parts)), f"id bigint, rows array<struct<{SCHEMA}>>")
        return tasks.join(functions.broadcast(rows), "id").selectExpr("inline(rows)")

    return make


def _rows(place: Place, records: Sequence[KafkaRecord], offsets: Sequence[int]) -> list[tuple[object, ...]]:
    return [
        (*place, offset, START + timedelta(milliseconds=r.timestamp_ms), r.key, r.value, r.headers)
        for offset, r in zip(offsets, records, strict=True)
    ]
