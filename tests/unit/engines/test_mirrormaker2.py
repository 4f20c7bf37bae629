"""Rules of the MirrorMaker 2 engine: what is rendered, and how its topics are read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.core.migration.settings import Migration, TopicNames
from kafka_migration.core.mirror.engine import LaunchFacts
from kafka_migration.core.mirror.host import MirrorLaunch
from kafka_migration.engines.launching import render_properties
from kafka_migration.engines.mirrormaker2 import MirrorMaker2, stored_configuration
from kafka_migration.engines.mirrormaker2_topics import (
    assigned_partitions,
    differences,
    failed_tasks,
    stale_topics,
    stored_positions,
)
from tests.contract.fake_cluster import FakeCluster
from tests.contract.logging_mirror import ended

GOLDEN = Path(__file__).parent / "golden"
PLAIN = {"bootstrap.servers": "a:1,b:2"}
LOGIN = {"bootstrap.servers": "a:1", "sasl.mechanism": "PLAIN", "sasl.jaas.config": 'x password="canary";'}


def launch(migration: Migration, source: dict[str, str] = PLAIN) -> MirrorLaunch:
    return engine(migration).launch(3, LaunchFacts(source, {"bootstrap.servers": "c:3"}, 2048, partitions=6))


def engine(migration: Migration) -> MirrorMaker2:
    return MirrorMaker2(migration, FakeCluster("old"), FakeCluster("new"))


def test_rendered_properties_are_the_safe_profile(migration: Migration) -> None:
    """The rendered file is, line by line, the tested one; no request exceeds the smallest topic limit, 2048."""
    assert (GOLDEN / "mm2.properties").read_text() == launch(migration).files["mm2.properties"]


def test_target_worker_only(migration: Migration) -> None:
    """`--clusters` names the target alone, so that nothing is ever written to the source."""
    assert ("--clusters", "shop-target") == launch(migration).arguments[1:]


def test_secrets_travel_as_files_and_are_referred_to(migration: Migration) -> None:
    """A login is a file of its own; the properties, which MirrorMaker stores in a topic, only refer to it."""
    launched = launch(migration, LOGIN)
    properties = launched.files["mm2.properties"]

    assert LOGIN["sasl.jaas.config"] == launched.files["secrets/shop-source.sasl.jaas.config"]
    assert "canary" not in properties
    assert "${dir:@GENERATION_DIR@/secrets:shop-source.sasl.jaas.config}" in properties
    assert "config.providers.dir.param.allowed.paths = @GENERATION_DIR@/secrets\n" in properties
    assert not any("canary" in option for option in (*launched.java_options, *launched.arguments))


def test_without_secrets_no_provider_is_allowed(migration: Migration) -> None:
    """With nothing to look up, no configuration may read a file."""
    assert "-Dorg.apache.kafka.automatic.config.providers=none" in launch(migration).java_options


def test_topic_names_are_exact(migration: Migration) -> None:
    """A dot in a topic's name is a dot, not any character."""
    dotted = replace(migration, topics=("a.b", "c"))

    assert "shop-source->shop-target.topics = a\\\\.b,c\n" in launch(dotted).files["mm2.properties"]


def with_mirror(migration: Migration, **settings: object) -> Migration:
    return replace(migration, mirror=replace(migration.mirror, **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("names", "policy"),
    [
        (TopicNames(), "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"),
        (TopicNames("prefixed"), "org.apache.kafka.connect.mirror.DefaultReplicationPolicy"),
        (TopicNames("custom", "com.example.Policy", "copy.{topic}"), "com.example.Policy"),
    ],
)
def test_replication_policy_follows_the_topic_names(migration: Migration, names: TopicNames, policy: str) -> None:
    """Names are kept, prefixed, or made by the user's own class."""
    text = launch(with_mirror(migration, topic_names=names)).files["mm2.properties"]

    assert f"replication.policy.class = {policy}\n" in text


def test_exactly_once_is_set_where_it_is_read(migration: Migration) -> None:
    """The worker's keys belong to the target; the port that comes with it is open to this host alone."""
    added = set(launch(with_mirror(migration, exactly_once=True)).files["mm2.properties"].splitlines())

    assert {
        "shop-target.exactly.once.source.support = enabled",
        "dedicated.mode.enable.internal.rest = true",
        "listeners = http://127.0.0.1:0",
        "shop-target.producer.transaction.timeout.ms = 30000",
    } == added - set(launch(migration).files["mm2.properties"].splitlines())


def test_tuning_is_added_to_the_client_of_its_cluster(migration: Migration) -> None:
    """The reader is the source's consumer, the writer the target's producer."""
    properties = {"consumer.fetch.min.bytes": "9", "producer.linger.ms": "7", "producer.batch.size": "99"}
    text = launch(with_mirror(migration, properties=properties)).files["mm2.properties"]

    assert "shop-source.consumer.fetch.min.bytes = 9\n" in text
    assert "shop-target.producer.linger.ms = 7\n" in text
    assert "shop-target.producer.batch.size = 99\n" in text


@pytest.mark.parametrize("size", ["consumer.max.partition.fetch.bytes", "consumer.receive.buffer.bytes"])
def test_size_of_the_file_replaces_that_of_the_profile(migration: Migration, size: str) -> None:
    """A setting of the profile that a file tunes is rendered once, with the value of the file."""
    text = launch(with_mirror(migration, properties={size: "77777"})).files["mm2.properties"]

    assert [f"shop-source.{size} = 77777"] == [line for line in text.splitlines() if size in line]


def test_order_needs_idempotence_with_several_requests_in_flight(migration: Migration) -> None:
    """With more than one request in flight only an idempotent producer keeps the order, with at most 5."""
    lines = launch(migration).files["mm2.properties"].splitlines()
    producer = dict(line.removeprefix("shop-target.producer.").split(" = ") for line in lines if ".producer." in line)

    assert ("true", "all") == (producer["enable.idempotence"], producer["acks"])
    assert int(producer["max.in.flight.requests.per.connection"]) <= 5


def test_split_batches_are_an_alarm_and_positions_are_trusted(migration: Migration) -> None:
    """A split batch raises an alarm, but MirrorMaker 2 stores only acknowledged offsets, so nothing is set back."""
    line = "WARN … splitting and retrying (3 attempts left)"

    assert "splitting and retrying" in launch(migration).alarms
    assert not engine(migration).ending(replace(ended(line), alarm=line)).distrusts_positions
    with pytest.raises(ValueError, match="never set back"):
        engine(migration).rewind({TopicPartition("orders", 0): 1})


def configuration(key: str, stored: dict[str, str]) -> tuple[bytes, bytes]:
    sizes = {"target.producer.batch.size": "16384", "target.producer.max.request.size": "1048588"}
    return key.encode(), json.dumps({"properties": {**sizes, **stored}}).encode()


def test_stored_configuration_has_the_names_of_a_connector(migration: Migration) -> None:
    """Flow, clients and worker settings are stored under other names; logins and addresses are left out."""
    tuned = with_mirror(migration, properties={"consumer.fetch.min.bytes": "9"}, exactly_once=True)
    stored = stored_configuration(tuned, 3)

    assert {
        "source.cluster.alias": "shop-source",
        "topics": "orders,audit",
        "source.consumer.isolation.level": "read_committed",
        "source.consumer.fetch.min.bytes": "9",
        "target.producer.acks": "all",
        "target.cluster.config.storage.topic": "mm2-configs.shop-source.g3.internal",
        "target.cluster.exactly.once.source.support": "enabled",
        "tasks.max": "2",
    }.items() <= stored.items()
    assert not {"listeners", "clusters", "offset.storage.replication.factor"} & set(stored)
    assert not [key for key in stored if "->" in key or "bootstrap" in key or "sasl" in key]


def test_differences_name_the_key_and_both_values(migration: Migration) -> None:
    """Connector and tasks are compared with the rendered configuration; other settings are ignored."""
    expected = stored_configuration(migration, 3)
    changed = {**expected, "topics": "orders", "source.cluster.sasl.jaas.config": "canary"}
    lacking = {key: value for key, value in expected.items() if key != "offset-syncs.topic.location"}
    rows = [
        configuration("connector-MirrorSourceConnector", changed),
        configuration("task-MirrorSourceConnector-0", lacking),
        configuration("connector-MirrorCheckpointConnector", {}),
        (b"commit-MirrorSourceConnector", b'{"tasks":2}'),
    ]

    assert (
        "connector-MirrorSourceConnector: topics is orders, rendered as orders,audit",
        "task-MirrorSourceConnector-0: offset-syncs.topic.location is not set, rendered as target",
    ) == differences(rows, expected)


def test_limits_of_the_producer_are_kept(migration: Migration) -> None:
    """A batch must fit into a request; sizes that are missing are no limits."""
    expected = stored_configuration(migration, 3)
    rows = [
        configuration("task-MirrorSourceConnector-0", {**expected, "target.producer.batch.size": "2000000"}),
        configuration("task-MirrorSourceConnector-1", {**expected, "target.producer.max.request.size": ""}),
    ]

    assert [True, True] == ["target.producer.batch.size" in found for found in differences(rows, expected)]


def test_what_is_not_stored_yet_does_not_differ(migration: Migration) -> None:
    """Before the connector is there, and when all is as rendered, there is nothing to say."""
    expected = stored_configuration(migration, 3)

    assert () == differences([], expected)
    assert () == differences([configuration("connector-MirrorSourceConnector", expected)], expected)


def test_stored_positions_are_last_copied_plus_one() -> None:
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


def test_failed_tasks_are_named_with_their_causes() -> None:
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


def test_assigned_partitions_are_those_of_all_tasks() -> None:
    """Every copy task names its partitions; a topic's name may hold dashes, and before any task there are none."""
    rows = [
        (b"connector-MirrorSourceConnector", b'{"properties":{"topics":"a"}}'),
        (b"task-MirrorSourceConnector-0", b'{"properties":{"task.assigned.partitions":"a-0,b-c-12"}}'),
        (b"task-MirrorSourceConnector-1", b'{"properties":{"task.assigned.partitions":"a-1"}}'),
        (b"task-MirrorCheckpointConnector-0", b'{"properties":{"task.assigned.groups":"g"}}'),
        (b"task-MirrorSourceConnector-2", None),
    ]
    expected = [[TopicPartition("a", 0), TopicPartition("b-c", 12)], [TopicPartition("a", 1)]]

    assert expected == assigned_partitions(rows)
    assert [] == assigned_partitions(rows[:1])


def test_graceful_is_told_by_the_last_log_line(migration: Migration) -> None:
    """Exit code 143 follows both ends; only the orderly one logs its end."""
    assert engine(migration).ending(ended("a\n[2026] INFO Kafka MirrorMaker stopped. (o.a.k)\n")).is_clean
    assert not engine(migration).ending(ended("a\n[2026] INFO Kafka MirrorMaker stopping (o.a.k)\n")).is_clean


def test_stale_topics_are_those_of_earlier_generations() -> None:
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
def test_property_values_survive(value: str, line: str) -> None:
    """Every value is written so that Java reads back what it was."""
    assert line == render_properties({"k": value})
