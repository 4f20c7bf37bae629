"""Rules of what Spark's Kafka source is asked to read."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from kafka_digest.reading.kafka_source import FORBIDDEN_OPTIONS, read_ranges, reader_options
from kafka_digest.reading.read_windows import SideRange
from kafka_digest.runtime.job_errors import JobError
from kafka_digest.runtime.session import FEW_PARTITIONS

RANGES = [SideRange("orders", 0, 3, 10), SideRange("orders", 1, 0, 7), SideRange("audit", 0, 5, 6)]


class Session:
    """A session whose Kafka source plans so many tasks, and remembers what it was asked for."""

    def __init__(self, tasks: int) -> None:
        self.tasks = tasks
        self.asked: dict[str, str] = {}
        self.settings = {"spark.sql.sources.useV1SourceList": "csv,kafka,text"}
        self.conf = SimpleNamespace(get=self.settings.get, set=self.settings.__setitem__)

    @property
    def read(self) -> Any:
        """The reader, whatever its format."""
        return SimpleNamespace(format=lambda name: self)

    def options(self, **asked: str) -> Session:
        """Take the reader's options."""
        self.asked = asked
        return self

    def load(self) -> Any:
        """Return a frame that knows its number of tasks."""
        rows = SimpleNamespace(getNumPartitions=lambda: self.tasks)
        return SimpleNamespace(_jdf=SimpleNamespace(queryExecution=lambda: SimpleNamespace(toRdd=lambda: rows)))


def test_every_reading_names_its_offsets() -> None:
    """Trap: each task looks up `earliest` and `latest` itself, so two reads would see two logs."""
    session = Session(tasks=3)
    read_ranges(session, {"kafka.bootstrap.servers": "b:9092"}, RANGES, "read_committed")

    assert {"orders": {"0": 3, "1": 0}, "audit": {"0": 5}} == json.loads(session.asked["startingOffsets"])
    assert {"orders": {"0": 10, "1": 7}, "audit": {"0": 6}} == json.loads(session.asked["endingOffsets"])
    assert {"orders": [0, 1], "audit": [0]} == json.loads(session.asked["assign"])


def test_lost_records_stop_the_reading() -> None:
    """Trap: with `failOnDataLoss` off, Spark would silently skip the rest of the range."""
    options = reader_options({"failOnDataLoss": "false"}, RANGES, "read_committed")

    assert ("true", "read_committed") == (options["failOnDataLoss"], options["kafka.isolation.level"])


def test_many_partitions_are_read_by_the_source_that_lets_go() -> None:
    """The newer source keeps fetched records of every partition of a task, so it reads only a few partitions."""
    session = Session(tasks=0)
    for partitions, sources in ((FEW_PARTITIONS + 1, "csv,kafka,text"), (FEW_PARTITIONS, "csv,text")) * 2:
        session.tasks = partitions
        ranges = [SideRange("orders", number, 0, 1) for number in range(partitions)]
        read_ranges(session, {}, ranges, "read_committed")

        assert {"spark.sql.sources.useV1SourceList": sources} == session.settings


@pytest.mark.parametrize("tasks", [2, 4])
def test_partition_that_spark_would_split_is_not_read(tasks: int) -> None:
    """Trap: ranks count rows of a task, so each task must read one Kafka partition, and all of its range."""
    with pytest.raises(JobError, match=rf"planned {tasks} tasks for 3 Kafka partitions"):
        read_ranges(Session(tasks), {}, RANGES, "read_committed")


@pytest.mark.parametrize("option", sorted(FORBIDDEN_OPTIONS))
def test_options_that_split_partitions_are_refused(option: str) -> None:
    """Trap: a reader's option may cut a partition over tasks, or read something else than the window."""
    with pytest.raises(JobError, match=rf"the clients file sets {option.upper()}"):
        reader_options({option.upper(): "1"}, RANGES, "read_committed")


def test_empty_ranges_are_not_read() -> None:
    """Empty ranges give no frame."""
    assert read_ranges(Session(0), {}, [SideRange("orders", 0, 4, 4)], "read_committed") is None
