"""Rules of what is compared by key as a whole, and of what the job refuses to believe."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kafka_digest.keys.compare import Unit
from kafka_digest.keys.key_job import _rounds, _topics
from kafka_digest.keys.key_tasks import DIFFERING, PLACE, TOTAL
from kafka_digest.position.blocks import Comparison
from kafka_digest.position.pieces import Measured
from kafka_digest.position.position_job import _entry
from kafka_digest.reading.kafka_source import reader_options
from kafka_digest.reading.read_windows import SideRange, WindowPlan
from kafka_digest.runtime.job_errors import JobError, _last_of_traceback
from kafka_digest.runtime.rate_limit import limited_options, reading_at_most
from kafka_digest.validate import _check_request
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.validation_contract import (
    KEY_DIGEST,
    POSITION_DIGEST,
    PartitionResult,
    TopicResult,
)
from tests.documents import blocks

MANUAL = Path(__file__).parents[3] / "docs" / "reference" / "spark-jobs.md"
EXAMPLE = json.loads(blocks(MANUAL.read_text(), "json")[1])


def plan(topic: str, partition: int, generation: int = 1, unreadable: str | None = None) -> WindowPlan:
    """Return the plan of a window of ten records that the target has in this partition only if it is 0."""
    window = Window(generation, topic, f"new.{topic}", partition, 0, 10, 0, 0 if partition else 20)
    target = SideRange(f"new.{topic}", partition, 0, window.target_end)
    return WindowPlan(window.to_document(), SideRange(topic, partition, 0, 10, unreadable), target)


def row(kind: int, side: int = 0, partition: int = 0, records: int = 10, **more: int) -> dict[str, int]:
    """Return a row of a comparison."""
    place = {"kind": kind, "side": side, "partition": partition, "first_offset": 0, "last_offset": 9}
    return {**place, "records": records, "key_value_bytes": 100, "digest": 7, "bucket": 3, "untimed": 0, **more}


def unit() -> Unit:
    """Return what is compared of one topic with two source partitions."""
    return _topics([plan("orders", 0), plan("orders", 1)])[0].unit


def test_all_windows_of_a_topic_and_generation_are_compared_together() -> None:
    """Each topic once, with the ranges of either side."""
    topics = _topics([plan("orders", 0), plan("audit", 0), plan("orders", 1), plan("orders", 0, generation=2)])

    assert [("orders", 1), ("audit", 1), ("orders", 2)] == [
        (t.unit.window["topic"], t.unit.window["generation"]) for t in topics
    ]
    assert ([0, 1], [0, 1]) == tuple(
        [r.partition for r in topics[0].unit.ranges[side]] for side in ("source", "target")
    )


def test_two_generations_of_a_topic_are_read_one_after_the_other() -> None:
    """Spark's Kafka source takes one range of a partition; different topics share a reading."""
    topics = _topics([plan("orders", 0), plan("audit", 0), plan("orders", 0, generation=2)])

    assert [[0, 1], [2]] == [[unit.number for unit in together] for together in _rounds(topics)]


def test_topic_of_which_a_part_cannot_be_read_is_not_equal() -> None:
    """Nothing was found to differ, because nothing was compared."""
    (topic,) = _topics([plan("orders", 0), plan("orders", 1, unreadable="a transaction is open")])

    assert (False, False) == (topic.is_comparable, topic.equal)
    assert [False, False] == [entry["equal"] for entry in topic.entries()]


def test_entries_of_both_jobs_are_read() -> None:
    """The entry of a window, by key or by position, and that of a topic have every field that the package reads."""
    (topic,) = _topics([plan("orders", 0)])
    by_position = _entry(Measured(plan("orders", 0), (), (), Comparison(0, 0, None)), None)
    documents = [{**entry, "differences": None} for entry in (by_position, *topic.entries())]
    entries = [PartitionResult.from_document(document) for document in documents]

    assert [Window(1, "orders", "new.orders", 0, 0, 10, 0, 20)] * 2 == [entry.window for entry in entries]
    assert ["0000000000000000", None] == [entry.source_digest for entry in entries]
    assert "new.orders" == TopicResult.from_document(topic.document(None)).target_topic


def test_buckets_that_differ_and_totals_are_noted() -> None:
    """Totals of several reducers add up, and a bucket that differs makes the topic differ."""
    found = unit()
    for each in (row(PLACE, records=10), row(PLACE, partition=1), row(TOTAL, records=12), row(TOTAL, records=8)):
        found.note(each)
    found.note(row(DIFFERING))
    found.check_counts()

    assert ([20, 14], {3}) == (found.totals["source"], found.buckets)


def test_records_that_were_read_and_not_digested_stop_the_job() -> None:
    """What was read and what the buckets hold must be the same number."""
    found = unit()
    found.note(row(PLACE, records=10))
    found.note(row(TOTAL, records=9))

    with pytest.raises(JobError, match="source orders: 10 records were read, 9 digested"):
        found.check_counts()


def test_partition_that_was_read_in_two_pieces_stops_the_job() -> None:
    """Trap: the order of a key's records is known only where one task reads its partition in one piece."""
    found = unit()
    found.note(row(PLACE))

    with pytest.raises(JobError, match=r"source orders\[0\] was not read in one piece"):
        found.note(row(PLACE))


@pytest.mark.parametrize("digest", [POSITION_DIGEST, KEY_DIGEST])
def test_request_of_the_manual_is_one(digest: str) -> None:
    """The manual's example of a request by hand is accepted, with either digest."""
    _check_request({**EXAMPLE, "digest": digest})


def test_limit_is_a_number() -> None:
    """An invalid limit is refused before a cluster is asked for it."""
    _check_request({**EXAMPLE, "max_bytes_per_s": 1_000_000})

    with pytest.raises(JobError, match="max_bytes_per_s is '1 MB'; expected a whole number or null"):
        _check_request({**EXAMPLE, "max_bytes_per_s": "1 MB"})


def test_limit_needs_a_client_id() -> None:
    """A quota is put on a client id; without one on either side nothing is set and nothing read."""
    clients = {"source": {"kafka.client.id": "mine"}, "target": {}}

    with pytest.raises(JobError, match=r"needs kafka.client.id in the clients file; missing for target"):
        reading_at_most(None, clients, 1_000_000).__enter__()
    with reading_at_most(None, clients, None):
        assert {} == limited_options(None)


@pytest.mark.parametrize(("max_bytes_per_s", "expected"), [(200_000, 200_000), (1 << 30, 16 << 20)])
def test_limited_fetches_are_a_second_of_the_quota(max_bytes_per_s: int, expected: int) -> None:
    """Larger fetches would hold the other readers up for longer than their consumers wait."""
    client = {**limited_options(max_bytes_per_s), "kafka.bootstrap.servers": "a:1"}
    options = reader_options(client, [SideRange("orders", 0, 0, 1)], "read_committed")

    assert str(expected) == options["kafka.max.partition.fetch.bytes"]
    assert int(options["kafkaConsumer.pollTimeoutMs"]) > 120_000


def test_topics_that_share_a_target_topic_are_refused() -> None:
    """Compared by key, a topic is one with its target topic; anything else would mix two topics up."""
    request = {**EXAMPLE, "digest": KEY_DIGEST}
    (window,) = request["windows"]
    for other in ({**window, "topic": "audit"}, {**window, "target_topic": "audit"}):
        with pytest.raises(JobError, match="one separate target topic per topic; not so"):
            _check_request({**request, "windows": [window, other]})


def test_missing_module_of_a_worker_is_named() -> None:
    """Of a Python worker's traceback the person sees what was wrong, and what the workers need."""
    text = "Please see:\nTraceback (most recent call last):\n  File x\nModuleNotFoundError: No module named 'numpy'"

    assert _last_of_traceback(text).startswith("ModuleNotFoundError: No module named 'numpy' (Spark's Python workers")
    assert "ValueError: no" == _last_of_traceback("Traceback\n  raise ValueError\nValueError: no")


def test_end_of_a_log_is_not_waited_for() -> None:
    """Regression: each partition took a second, because requests waited for a fetch at the end of the log."""
    options = reader_options({}, [SideRange("orders", 0, 0, 1)], "read_committed")

    assert int(options["kafka.fetch.max.wait.ms"]) <= 10
