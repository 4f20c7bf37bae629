"""The real start and end of logs, read with Kafka's admin client in Spark's JVM."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from py4j.protocol import Py4JJavaError

from kafka_digest.reading.read_windows import MAX_TIMESTAMP_MS, LogBounds
from kafka_digest.runtime.admin import admin_client
from kafka_digest.runtime.job_errors import is_caused_by

_ANSWER_MS = 10_000


def read_log_bounds(
    jvm: Any, client: Mapping[str, str], partitions: Collection[tuple[str, int]], isolation_level: str
) -> dict[tuple[str, int], LogBounds]:
    """Return the bounds of each partition; partitions that do not exist are left out.

    Raises `Py4JJavaError` if the cluster does not answer.
    """
    if not partitions:
        return {}
    with admin_client(jvm, client) as admin:
        existing = _existing(admin, partitions)
        return _bounds(jvm, admin, existing, isolation_level) if existing else {}


def _existing(admin: Any, partitions: Collection[tuple[str, int]]) -> list[tuple[str, int]]:
    counts = {topic: len(found) for topic, found in _described(admin, {topic for topic, _ in partitions}).items()}
    return sorted((topic, number) for topic, number in partitions if number < counts[topic])


def _described(admin: Any, topics: Collection[str]) -> dict[str, Any]:
    """Return the partitions of each topic."""
    futures = admin.describeTopics(sorted(topics)).topicNameValues()
    return {topic: _partitions(futures.get(topic)) for topic in topics}


def _partitions(future: Any) -> Any:
    """Return the partitions of a topic, empty if it does not exist."""
    try:
        return future.get().partitions()
    except Py4JJavaError as error:
        if is_caused_by(error, "UnknownTopicOrPartitionException"):
            return ()
        raise


def _bounds(
    jvm: Any, admin: Any, partitions: list[tuple[str, int]], isolation_level: str
) -> dict[tuple[str, int], LogBounds]:
    spec = jvm.org.apache.kafka.clients.admin.OffsetSpec
    keys = {place: jvm.org.apache.kafka.common.TopicPartition(*place) for place in partitions}
    starts = _offsets(jvm, admin, keys, spec.earliest(), "read_uncommitted")
    ends = _offsets(jvm, admin, keys, spec.latest(), "read_uncommitted")
    readable = (
        ends if isolation_level == "read_uncommitted" else _offsets(jvm, admin, keys, spec.latest(), isolation_level)
    )
    beyond = _beyond_time(jvm, admin, keys)
    return {place: LogBounds(starts[place], ends[place], readable[place], beyond.get(place)) for place in partitions}


def _beyond_time(jvm: Any, admin: Any, keys: Mapping[tuple[str, int], Any]) -> dict[tuple[str, int], int]:
    """Return the first offset of each partition that has a record with a timestamp beyond Spark's range.

    A broker that cannot search by time, as for records of the oldest format, leaves the answer out.
    """
    spec = jvm.org.apache.kafka.clients.admin.OffsetSpec.forTimestamp(MAX_TIMESTAMP_MS + 1)
    answer = admin.listOffsets(_wanted(jvm, keys.values(), spec))
    found = {place: _offset(answer, key) for place, key in keys.items()}
    return {place: offset for place, offset in found.items() if offset >= 0}


def _offset(answer: Any, key: Any) -> int:
    """Return the offset of a partition, -1 if there is none or the broker cannot tell."""
    try:
        return int(answer.partitionResult(key).get().offset())
    except Py4JJavaError:
        return -1


def _offsets(
    jvm: Any, admin: Any, keys: Mapping[tuple[str, int], Any], spec: Any, isolation_level: str
) -> dict[tuple[str, int], int]:
    level = getattr(jvm.org.apache.kafka.common.IsolationLevel, isolation_level.upper())
    options = jvm.org.apache.kafka.clients.admin.ListOffsetsOptions(level)
    answer = admin.listOffsets(_wanted(jvm, keys.values(), spec), options).all().get()
    return {place: answer.get(key).offset() for place, key in keys.items()}


def _wanted(jvm: Any, partitions: Iterable[Any], spec: Any) -> Any:
    """Return the same offset to ask for of each `TopicPartition`."""
    wanted = jvm.java.util.HashMap()
    for partition in partitions:
        wanted.put(partition, spec)
    return wanted


def partition_per_leader(admin: Any, topics: Collection[str]) -> list[tuple[str, int]]:
    """Return one partition of each broker that leads any of these topics."""
    found: dict[int, tuple[str, int]] = {}
    for topic, partitions in _described(admin, topics).items():
        for partition in partitions:
            if partition.leader() is not None:
                found.setdefault(partition.leader().id(), (topic, partition.partition()))
    return list(found.values())


def ask_leaders(jvm: Any, admin: Any, partitions: Collection[tuple[str, int]]) -> None:
    """Send a small request to the leaders of these partitions. Raises `Py4JJavaError` if one does not answer."""
    kafka = jvm.org.apache.kafka
    keys = (kafka.common.TopicPartition(*place) for place in partitions)
    options = kafka.clients.admin.ListOffsetsOptions()
    options.timeoutMs(_ANSWER_MS)
    admin.listOffsets(_wanted(jvm, keys, kafka.clients.admin.OffsetSpec.earliest()), options).all().get()
