"""Rules of the MirrorMaker 2 engine: what is rendered, and how its topics are read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.core.engine import LaunchFacts
from kafka_migration.core.host import MirrorLaunch
from kafka_migration.core.migration import Migration
from kafka_migration.core.offsets import TopicPartition
from kafka_migration.engines.mirrormaker2 import MirrorMaker2
from kafka_migration.engines.mirrormaker2_topics import (
    assigned_partitions,
    failed_tasks,
    stale_topics,
    stored_positions,
)
from kafka_migration.engines.properties import render_properties
from tests.contract.fake_cluster import FakeCluster

pytestmark = pytest.mark.unit

GOLDEN = Path(__file__).parent / "golden"
PLAIN = {"bootstrap.servers": "a:1,b:2"}
LOGIN = {"bootstrap.servers": "a:1", "sasl.mechanism": "PLAIN", "sasl.jaas.config": 'x password="canary";'}


def launch(migration: Migration, source: dict[str, str] = PLAIN) -> MirrorLaunch:
    return engine(migration).launch(3, LaunchFacts(source, {"bootstrap.servers": "c:3"}, max_message_bytes=2048))


def engine(migration: Migration) -> MirrorMaker2:
    return MirrorMaker2(migration, FakeCluster("old"), FakeCluster("new"))


def test_rendered_properties_are_the_safe_profile(migration: Migration):
    """The rendered file is, line by line, the one that was tried."""
    assert (GOLDEN / "mm2.properties").read_text() == launch(migration).files["mm2.properties"]


def test_target_worker_only(migration: Migration):
    """`--clusters` names the target alone, so that nothing is ever written to the source."""
    assert ("--clusters", "shop-target") == launch(migration).arguments[1:]


def test_request_never_exceeds_the_smallest_topic_limit(migration: Migration):
    """A producer that may send more than a topic takes would split and retry for ever."""
    text = launch(migration).files["mm2.properties"]

    assert "shop-target.producer.max.request.size = 2048\n" in text
    assert "shop-target.producer.batch.size = 2048\n" in text


def test_secrets_travel_as_files_and_are_referred_to(migration: Migration):
    """A login is a file of its own; the properties, which MirrorMaker stores in a topic, only refer to it."""
    launched = launch(migration, LOGIN)
    properties = launched.files["mm2.properties"]

    assert LOGIN["sasl.jaas.config"] == launched.files["secrets/shop-source.sasl.jaas.config"]
    assert "canary" not in properties
    assert "${dir:@GENERATION_DIR@/secrets:shop-source.sasl.jaas.config}" in properties
    assert "config.providers.dir.param.allowed.paths = @GENERATION_DIR@/secrets\n" in properties
    assert not any("canary" in option for option in (*launched.java_options, *launched.arguments))


def test_without_secrets_no_provider_is_allowed(migration: Migration):
    """With nothing to look up, no configuration may read a file."""
    assert "-Dorg.apache.kafka.automatic.config.providers=none" in launch(migration).java_options


def test_topic_names_are_exact(migration: Migration):
    """A dot in a topic's name is a dot, not any character."""
    dotted = replace(migration, topics=("a.b", "c"))

    assert "shop-source->shop-target.topics = a\\\\.b,c\n" in launch(dotted).files["mm2.properties"]


def test_stored_positions_are_last_copied_plus_one():
    """Only rows of the source connector, this source and the migration's topics count; reset rows do not."""
    rows = [
        (b'["MirrorSourceConnector",{"cluster":"shop-source","partition":1,"topic":"orders"}]', b'{"offset":41}'),
        (b'["MirrorSourceConnector",{"cluster":"shop-source","partition":0,"topic":"orders"}]', None),
        (b'["MirrorSourceConnector",{"cluster":"other","partition":0,"topic":"orders"}]', b'{"offset":7}'),
        (b'["MirrorSourceConnector",{"cluster":"shop-source","partition":0,"topic":"foreign"}]', b'{"offset":7}'),
        (b'["MirrorCheckpointConnector",{"partition":0,"topic":"orders","group":"g"}]', b'{"offset":0}'),
        (b'["MirrorHeartbeatConnector",{"sourceClusterAlias":"a","targetClusterAlias":"b"}]', b'{"offset":0}'),
        (None, b"x"),
    ]

    assert {TopicPartition("orders", 1): 42} == stored_positions(rows, "shop-source", ("orders", "audit"))


def test_failed_tasks_are_named_with_their_causes():
    """Connectors and tasks in state FAILED are named, with the first line and the last cause of the trace."""
    trace = "ConnectException: Unrecoverable\\n\\tat x\\nCaused by: A\\n\\tat y\\nCaused by: RecordTooLarge"
    rows = [
        (b"status-connector-MirrorSourceConnector", b'{"state":"RUNNING"}'),
        (b"status-task-MirrorSourceConnector-0", b'{"state":"RUNNING"}'),
        (b"status-task-MirrorSourceConnector-1", f'{{"state":"FAILED","trace":"{trace}"}}'.encode()),
        (b"status-topic-orders:connector-MirrorSourceConnector", b'{"topic":{}}'),
        (b"status-task-MirrorSourceConnector-2", None),
    ]

    assert ["ConnectException: Unrecoverable … Caused by: RecordTooLarge"] == [t.causes for t in failed_tasks(rows)]


def test_assigned_partitions_are_those_of_all_tasks():
    """Every copy task names its partitions; a topic's name may hold dashes, and before any task nothing is known."""
    rows = [
        (b"connector-MirrorSourceConnector", b'{"properties":{"topics":"a"}}'),
        (b"task-MirrorSourceConnector-0", b'{"properties":{"task.assigned.partitions":"a-0,b-c-12"}}'),
        (b"task-MirrorSourceConnector-1", b'{"properties":{"task.assigned.partitions":"a-1"}}'),
        (b"task-MirrorCheckpointConnector-0", b'{"properties":{"task.assigned.groups":"g"}}'),
        (b"task-MirrorSourceConnector-2", None),
    ]
    expected = {TopicPartition("a", 0), TopicPartition("b-c", 12), TopicPartition("a", 1)}

    assert expected == assigned_partitions(rows)
    assert assigned_partitions(rows[:1]) is None


def test_graceful_is_told_by_the_last_log_line(migration: Migration):
    """Exit code 143 follows both ends; only the orderly one logs its end."""
    assert engine(migration).is_graceful("a\n[2026] INFO Kafka MirrorMaker stopped. (o.a.k)\n")
    assert not engine(migration).is_graceful("a\n[2026] INFO Kafka MirrorMaker stopping (o.a.k)\n")


def test_stale_topics_are_those_of_earlier_generations():
    """Configuration and status topics of earlier generations go; the offsets topic and strangers stay."""
    topics = [
        "mm2-configs.shop-source.g2.internal",
        "mm2-status.shop-source.g3.internal",
        "mm2-status.shop-source.g12.internal",
        "mm2-offsets.shop-source.internal",
        "mm2-configs.other-source.g1.internal",
        "orders",
    ]

    assert ("mm2-configs.shop-source.g2.internal",) == stale_topics("shop", 3, topics)


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("a=b:c", "k = a=b:c\n"),
        (" led by a blank", "k = \\ led by a blank\n"),
        ("back\\slash", "k = back\\\\slash\n"),
        ("two\nlines", "k = two\\nlines\n"),
        ("é€𝄞", "k = \\u00e9\\u20ac\\ud834\\udd1e\n"),
    ],
)
def test_property_values_survive(value: str, line: str):
    """Every value is written so that Java reads back what it was."""
    assert line == render_properties({"k": value})
