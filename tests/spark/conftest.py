"""One small Spark session for all tests, and frames with the columns of Spark's Kafka source."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from pyspark.sql import DataFrame, SparkSession

from kafka_digest.runtime.session import set_up
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
Row = tuple[str, int, int, datetime, bytes | None, bytes | None, Sequence[Header] | None]  # of `SCHEMA`


@dataclass(frozen=True)
class KafkaRecord:
    """A record as a test writes it down."""

    key: bytes | None = b"k"
    value: bytes | None = b"v"
    headers: Sequence[Header] | None = None
    timestamp_ms: int = 0


FrameMaker = Callable[..., DataFrame]
FramesMaker = Callable[..., DataFrame]


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
        return frame_of(spark, [_rows((topic, partition), records, offsets or range(len(records)))])

    return make


@pytest.fixture(scope="session")
def kafka_frames(spark: SparkSession) -> FramesMaker:
    """Make one frame of many Kafka partitions, each read in a task of its own; those without records have none.

    A union of frames would not do: Spark 4.1 reads a union of frames of one task in one task.
    """

    def make(partitions: Mapping[Place, Sequence[KafkaRecord]], *, first_offset: int = 0) -> DataFrame:
        filled = {place: records for place, records in partitions.items() if records}
        return frame_of(
            spark, [_rows(place, r, range(first_offset, first_offset + len(r))) for place, r in filled.items()]
        )

    return make


def frame_of(session: SparkSession, parts: Sequence[Sequence[Row]]) -> DataFrame:
    """Return a frame that reads each of these parts in a task of its own.

    The JVM makes it alone, from JSON. `createDataFrame` would start a Spark job with a Python task for each frame.
    """
    text = json.dumps([[_as_json(row) for row in part] for part in parts] or [[]])
    tasks = max(1, len(parts))
    return session.sql(
        f"select inline(from_json(:rows, :schema, map('mode', 'FAILFAST'))[id]) from range(0, {tasks}, 1, {tasks})",
        {"rows": text, "schema": f"array<array<struct<{SCHEMA}>>>"},
    )


def _as_json(row: Row) -> dict[str, object]:
    *place, timestamp, key, value, headers = row
    with_values: object = headers and [{"key": name, "value": _as_base64(content)} for name, content in headers]
    values = (*place, timestamp.isoformat(), _as_base64(key), _as_base64(value), with_values)
    return dict(zip(("topic", "partition", "offset", "timestamp", "key", "value", "headers"), values, strict=True))


def _as_base64(content: bytes | None) -> str | None:
    return None if content is None else b64encode(content).decode()


def _rows(place: Place, records: Sequence[KafkaRecord], offsets: Sequence[int]) -> list[Row]:
    return [
        (*place, offset, START + timedelta(milliseconds=r.timestamp_ms), r.key, r.value, r.headers)
        for offset, r in zip(offsets, records, strict=True)
    ]
