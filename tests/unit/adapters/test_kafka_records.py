"""Rules of the readers that look at the first record of many partitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from confluent_kafka import TIMESTAMP_CREATE_TIME, TIMESTAMP_NOT_AVAILABLE, KafkaError, Message, Producer

from kafka_migration.adapters.kafka import kafka_records
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.cluster import Probe
from kafka_migration.core.kafka.offsets import TopicPartition

TOPICS = 100
# A topic of librdkafka's own small broker has this many.
PARTITIONS = 4
ALL = [TopicPartition(f"t{topic}", number) for topic in range(TOPICS) for number in range(PARTITIONS)]


@dataclass
class Met:
    """A record that is the first of its partition."""

    at: TopicPartition

    def topic(self) -> str:
        """Return its topic."""
        return self.at.topic

    def partition(self) -> int:
        """Return its partition's number."""
        return self.at.partition

    def offset(self) -> int:
        """Return the offset of every one."""
        return 7

    def error(self) -> None:
        """Return none."""


class SlowCluster(ConfluentCluster):
    """A cluster whose polls take six seconds and return one partition's record; silent partitions return none."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *silent: TopicPartition) -> None:
        super().__init__("slow", {"bootstrap.servers": "127.0.0.1:9"})
        self.silent = silent
        now = itertools.count(0.0, 6.0)
        monkeypatch.setattr(kafka_records, "time", SimpleNamespace(monotonic=lambda: next(now)))

    def _reader(self, start, isolation, settings=None):  # type: ignore[no-untyped-def]
        self._unread = iter([p for p in start if p not in self.silent])
        return self

    def poll(self, timeout_s: float) -> Met | None:
        """Return the next record."""
        following = next(self._unread, None)
        return following and Met(following)

    def pause(self, partitions: object) -> None:
        """Pause nothing: each partition comes once."""


class ThrottledCluster(SlowCluster):
    """A cluster that throttles: between two answers, some polls say so and return nothing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, polls: int) -> None:
        super().__init__(monkeypatch)
        self._turns = itertools.cycle([True, *[False] * polls])

    def _reader(self, start, isolation, settings=None):  # type: ignore[no-untyped-def]
        self._throttle_cb = settings["throttle_cb"]
        return super()._reader(start, isolation)  # type: ignore[no-untyped-call]

    def poll(self, timeout_s: float) -> Met | None:
        """Return the next record in its turn."""
        if next(self._turns):
            return super().poll(timeout_s)
        self._throttle_cb(None)
        return None


@pytest.fixture
def broker() -> Iterator[str]:
    """The address of the small broker that librdkafka brings for tests."""
    producer = Producer({"bootstrap.servers": "none", "test.mock.num.brokers": 1, "log_level": 0})
    (only,) = producer.list_topics(timeout=30).brokers.values()
    for partition in ALL:
        for value in (b"1", b"2"):
            producer.produce(partition.topic, value, partition=partition.partition)
    assert producer.flush(60) == 0
    yield f"{only.host}:{only.port}"
    # It lives as long as the client that began it.
    del producer


def test_every_one_of_many_partitions_is_met(broker: str) -> None:
    """More partitions than are read at once all answer: with the record asked for, or with their end."""
    cluster = ConfluentCluster("broker", {"bootstrap.servers": broker})
    start = {partition: 1 + number % 2 for number, partition in enumerate(ALL)}

    assert len(ALL) > kafka_records.PARTITIONS_AT_ONCE
    assert {p: Probe(offset, offset == 2) for p, offset in start.items()} == cluster.probe(start, "read_committed")


def test_each_answer_gives_the_others_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long all of them take together: only a silence ends the look."""
    cluster = SlowCluster(monkeypatch)

    assert set(ALL) == set(cluster.probe(dict.fromkeys(ALL, 0), "read_committed"))


def test_partition_that_stays_silent_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a silence nothing more is asked, so one time-out bounds it, whatever the number of partitions."""
    last = sorted(ALL)[-1]
    cluster = SlowCluster(monkeypatch, last)

    assert set(ALL) - {last} == set(cluster.probe(dict.fromkeys(ALL, 0), "read_committed"))

    monkeypatch.setattr(kafka_records, "PARTITIONS_AT_ONCE", 2)
    first, second, *later = sorted(ALL)
    cluster.silent = (second,)
    assert {first} == set(cluster.probe(dict.fromkeys((first, second, *later), 0), "read_committed"))


@pytest.mark.parametrize(("polls", "met"), [(5, 3), (15, 1)])
def test_throttled_client_waits_longer(monkeypatch: pytest.MonkeyPatch, polls: int, met: int) -> None:
    """A quota delays answers by more than a probe's usual time; after a minute the others are missing nevertheless."""
    some = sorted(ALL)[:3]

    assert set(some[:met]) == set(ThrottledCluster(monkeypatch, polls).probe(dict.fromkeys(some, 0), "read_committed"))


def test_error_that_may_pass_is_read_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A leader that moves while records are looked for ends nothing; any other error does."""
    codes = iter([KafkaError.NOT_LEADER_FOR_PARTITION])
    monkeypatch.setattr(Met, "error", lambda self: (code := next(codes, None)) and KafkaError(code))
    cluster = SlowCluster(monkeypatch)
    now = itertools.count(0.0, 0.1)
    monkeypatch.setattr(kafka_records, "time", SimpleNamespace(monotonic=lambda: next(now)))
    # The first partition's turn was the error's.
    assert set(sorted(ALL)[1:50]) == set(cluster.probe(dict.fromkeys(sorted(ALL)[:50], 0), "read_committed"))

    monkeypatch.setattr(Met, "error", lambda self: KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
    with pytest.raises(Refused):
        SlowCluster(monkeypatch).probe({sorted(ALL)[0]: 0}, "read_committed")


@pytest.mark.parametrize(
    ("said", "timestamp_ms"),
    [((TIMESTAMP_NOT_AVAILABLE, 0), -1), ((TIMESTAMP_CREATE_TIME, -1), -1), ((TIMESTAMP_CREATE_TIME, 0), 0)],
)
def test_record_of_message_format_0_has_no_timestamp(said: tuple[int, int], timestamp_ms: int) -> None:
    """Its timestamp is not the beginning of 1970, which the client says; a record with that one has it."""
    message = Message(topic="t", partition=0, offset=3, key=b"k", value=b"v", timestamp=said)

    assert timestamp_ms == kafka_records._print_of(message).timestamp_ms == kafka_records._shape(message).timestamp_ms
