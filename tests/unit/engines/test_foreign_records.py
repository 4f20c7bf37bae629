"""Records that MirrorMaker did not write, in the topics that it keeps its own things in."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Migration
from kafka_migration.engines.foreign_rows import MAX_WARNINGS
from kafka_migration.engines.mirrormaker2 import MirrorMaker2
from kafka_migration.engines.mirrormaker2_topics import (
    InternalTopics,
    Row,
    assigned_partitions,
    copied_topics,
    differences,
    failed_tasks,
    stored_positions,
)
from tests.contract.fake_cluster import FakeCluster
from tests.contract.logging_mirror import ended

Decode = Callable[[Iterable[Row]], object]

POSITION_KEY = b'["MirrorSourceConnector",{"cluster":"shop-source","partition":1,"topic":"orders"}]'
KEYS = (
    POSITION_KEY,
    b"status-task-MirrorSourceConnector-1",
    b"connector-MirrorSourceConnector",
    b"task-MirrorSourceConnector-0",
)
DECODERS: tuple[Decode, ...] = (
    lambda rows: stored_positions(rows, "shop-source", ("orders",)),
    failed_tasks,
    assigned_partitions,
    lambda rows: copied_topics(rows, ("orders",)),
    lambda rows: differences(rows, {"tasks.max": "2"}),
)
WORDS = [
    "MirrorSourceConnector",
    "shop-source",
    "orders",
    "FAILED",
    "orders-0,orders-1",
    "orders-x",
    "-",
    "-" + "9" * 5000,
]
NUMBERS = [-1, 2**63, 10**40, 1.5, float("nan")]
PIECES = st.sampled_from([*WORDS, *NUMBERS, True, None])
NAMES = st.sampled_from(
    ["cluster", "partition", "topic", "offset", "state", "trace", "properties", "task.assigned.partitions", "tasks.max"]
)
DOCUMENTS = st.recursive(
    PIECES | st.text(max_size=5) | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=3), inner, max_size=4),
    max_leaves=8,
)
TEXTS = st.binary(max_size=20) | DOCUMENTS.map(lambda document: json.dumps(document).encode())
DEEP = b"[" * 30_000 + b"]" * 30_000


@example(POSITION_KEY, b"{}")
@example(POSITION_KEY, b"5")
@example(POSITION_KEY, DEEP)
@example(POSITION_KEY, b'{"offset":"7"}')
@example(POSITION_KEY, b'{"offset":NaN}')
@example(POSITION_KEY, b'{"offset":1e999}')
@example(DEEP, b"{}")
@example(b"", b"")
@example(b"{}", b"{}")
@example(b"5", b"{}")
@example(b'["MirrorSourceConnector"]', b"{}")
@example(b'["MirrorSourceConnector",5]', b"{}")
@example(b'["MirrorSourceConnector",{"cluster":"shop-source"}]', b'{"offset":1}')
@example(b'["MirrorSourceConnector",{"cluster":"shop-source","topic":{},"partition":0}]', b'{"offset":1}')
@example(b"\xff", b"\xff")
@example(KEYS[1], b'{"state":["FAILED"]}')
@example(KEYS[1], b'{"state":"FAILED","trace":5}')
@example(KEYS[1], b"null")
@example(KEYS[2], b'{"properties":[1]}')
@example(KEYS[2], b'{"properties":{"tasks.max":5}}')
@example(KEYS[3], b'{"properties":{"task.assigned.partitions":"orders"}}')
@example(KEYS[3], b'{"properties":{"task.assigned.partitions":7}}')
@given(st.sampled_from(KEYS) | TEXTS, TEXTS | st.none())
def test_no_record_breaks_the_reading(key: bytes, value: bytes | None) -> None:
    """Each decoder passes over any foreign record, and still finds the records of MirrorMaker."""
    good = (POSITION_KEY.replace(b'partition":1', b'partition":7'), b'{"offset":41}')

    for decode in DECODERS:
        decode([(key, value)])
    assert 42 == stored_positions([(key, value), good], "shop-source", ("orders",))[TopicPartition("orders", 7)]


def test_topics_of_another_mirrormaker() -> None:
    """A position of any source and connector names its topic; other rows, and resets, do not."""
    rows = [
        (b'["east->west.MirrorSourceConnector",{"cluster":"east","partition":0,"topic":"orders"}]', b'{"offset":4}'),
        (b'["MirrorCheckpointConnector",{"partition":0,"topic":"audit","group":"g"}]', b'{"offset":0}'),
        (b'["MirrorSourceConnector",{"cluster":"east","partition":0,"topic":"users"}]', None),
        (b'["MirrorSourceConnector",{"cluster":"east","partition":0,"topic":"others"}]', b'{"offset":4}'),
        (b'["MirrorSourceConnector",{"topic":["audit"]}]', b"{}"),
    ]

    assert {"orders"} == copied_topics(rows, ("orders", "audit", "users"))


@pytest.mark.parametrize("offset", ["-5", '"7"', "true", "9223372036854775808", "1.0", "[]", "null"])
def test_position_that_kafka_cannot_have_is_none(offset: str) -> None:
    """A stored offset of another type, or out of Kafka's range, is no position, and its key is reported."""
    reported: list[bytes | None] = []
    row = (POSITION_KEY, f'{{"offset":{offset}}}'.encode())

    assert {} == stored_positions([row], "shop-source", ("orders",), reported.append)
    assert [POSITION_KEY] == reported


def test_foreign_record_is_warned_of_once(migration: Migration, caplog: pytest.LogCaptureFixture) -> None:
    """The topic and the key of a foreign record are in one warning, however often the topic is read."""
    engine = MirrorMaker2(migration, FakeCluster(), target := FakeCluster())
    topics = InternalTopics.of("shop", 1)
    for topic, key, value in (
        (topics.offsets, POSITION_KEY.replace(b"shop-source", migration.source.alias.encode()), b"{}"),
        (topics.status, KEYS[1], b"[]"),
        (topics.configs, KEYS[3], b'{"properties":7}'),
    ):
        target.create_topics([NewTopic(topic, 1, 1, {})])
        target.produce(topic, 0, (key, value))

    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert {} == engine.stored_positions(("orders",))
            assert ((), None, ()) == (
                (health := engine.health(1, ended(""))).failed,
                health.assigned,
                health.differences,
            )
    told = [record.getMessage() for record in caplog.records]
    assert [topics.offsets, topics.status, topics.configs] == [text.split()[1] for text in told]
    assert "status-task-MirrorSourceConnector-1" in told[1]


def test_many_foreign_records_are_a_few_lines(migration: Migration, caplog: pytest.LogCaptureFixture) -> None:
    """A topic full of foreign records does not fill the log; keys are cut."""
    engine = MirrorMaker2(migration, FakeCluster(), target := FakeCluster())
    topic = InternalTopics.of("shop", 0).offsets
    target.create_topics([NewTopic(topic, 1, 1, {})])
    target.produce(topic, 0, *((f"{number} ".encode() * 10_000, b"x") for number in range(100)))

    with caplog.at_level(logging.WARNING):
        engine.stored_positions(("orders",))
    assert MAX_WARNINGS == len(caplog.records)
    assert all(len(record.getMessage()) < 500 for record in caplog.records)
