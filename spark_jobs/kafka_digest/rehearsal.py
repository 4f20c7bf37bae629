"""Loads the classes that the jobs need, without a Kafka cluster: a JVM that ends after it can archive them.

Every part of a validation runs once on a few records of a table. Kafka's clients are made with an address at which
nothing listens.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

from kafka_digest.keys.difference_file import DifferenceFile
from kafka_digest.keys.key_job import KeyJob
from kafka_digest.position.position_job import PositionJob
from kafka_digest.reading.kafka_clusters import SIDES, Clusters
from kafka_digest.reading.kafka_source import read_ranges
from kafka_digest.reading.log_bounds import read_log_bounds
from kafka_digest.reading.read_windows import SideRange, WindowPlan, requested_range
from kafka_digest.runtime.job_documents import read_document, write_document
from kafka_digest.runtime.job_errors import JobError
from kafka_digest.runtime.session import START_OPTIONS, check_versions, set_up

RECORDS = 1_000
# The target lacks every tenth record, so that the differences are located too.
_RECORD = (
    "select 'rehearsal' as topic, partition, id as offset, timestamp '2026-01-01 00:00:00' as timestamp, "
    "cast(concat('key-', id % 100) as binary) as key, cast(concat('value-', id) as binary) as value, "
    "array(named_struct('key', 'h', 'value', cast('x' as binary))) as headers "
    "from range(0, {records}, 1, {tasks}), (select 0 as partition)"
)
_WINDOW = {"generation": 1, "topic": "rehearsal", "target_topic": "rehearsal", "partition": 0}
_OFFSETS = {f"{side}_{end}": offset for side in SIDES for end, offset in (("start", 0), ("end", RECORDS))}
# Nothing listens at a port that is reserved.
NOWHERE = {
    "kafka.bootstrap.servers": "127.0.0.1:1",
    "kafka.request.timeout.ms": "500",
    "kafka.default.api.timeout.ms": "1000",
}


class TableClusters(Clusters):
    """Two clusters whose records are those of a table."""

    def read(self, side: str, ranges: Sequence[SideRange], isolation_level: str | None = None) -> DataFrame | None:
        """Return the records of one side, whatever the ranges are."""
        frame = self.session.sql(_RECORD.format(records=RECORDS, tasks=1))
        return frame if side == "source" else frame.where("offset % 10 > 0")


def main() -> int:
    """Run every part once and return the exit code."""
    builder = SparkSession.builder.appName("kafka-migration rehearsal").config(map=dict(START_OPTIONS))
    session = set_up(builder.getOrCreate())
    try:
        check_versions(session)
        with tempfile.TemporaryDirectory() as folder:
            _compare(session, Path(folder))
        _make_clients(session)
    finally:
        session.stop()
    return 0


def _compare(session: SparkSession, folder: Path) -> None:
    """Compare the two sides by position and by key, and write and read a document."""
    clusters = TableClusters(session, dict.fromkeys(SIDES, NOWHERE), "read_committed", dict.fromkeys(SIDES, ()))
    window = {**_WINDOW, **_OFFSETS}
    plan = WindowPlan(window, *(requested_range(window, side) for side in SIDES))
    files = [DifferenceFile(session, (folder / name).as_uri()) for name in ("position.parquet", "key.parquet")]
    found = [PositionJob(clusters, files[0], 1 << 16, ()).run([plan]), KeyJob(clusters, files[1]).run([plan])]
    document = (folder / "result.json").as_uri()
    write_document(session, document, {"found": found})
    read_document(session, document)


def _make_clients(session: SparkSession) -> None:
    """Make the clients of the Kafka source and ask a cluster that does not exist."""
    window = SideRange("rehearsal", 0, 0, RECORDS)
    with suppress(Py4JJavaError):
        read_log_bounds(session._jvm, NOWHERE, [window.place], "read_committed")
    with suppress(Py4JJavaError, JobError):
        read_ranges(session, NOWHERE, [window], "read_committed")
