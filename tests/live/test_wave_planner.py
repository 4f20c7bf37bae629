"""Waves of a real cluster: real groups, a real transaction, and files that load."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.cli.main import main
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import CommittedOffset
from kafka_migration.core.kafka.offsets import TopicPartition as Partition
from kafka_migration.migration_file.loading import load_migrations
from sandbox.sandbox import Sandbox
from tests.waiting import wait_until

pytestmark = pytest.mark.live

TOPICS = ("orders", "payments", "refunds", "in", "out", "log", "spare")
PLANNED = ("waves", "--source", "waves_old", "--target", "waves_new", "-o", "json")


@pytest.fixture
def shop(brokers: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Topics with a prefix of their own, and the connections `waves_old` and `waves_new`."""
    prefix = f"waves-{uuid4().hex[:8]}."
    sides = {"old": brokers.state.source_bootstrap, "new": brokers.state.target_bootstrap}
    for side, servers in sides.items():
        connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": servers}}
        monkeypatch.setenv(f"AIRFLOW_CONN_WAVES_{side.upper()}", json.dumps(connection))
    source = ConfluentCluster("source", {"bootstrap.servers": sides["old"]})
    source.create_topics([NewTopic(prefix + topic, 2, 1, {}) for topic in TOPICS])
    for group, topics in {"billing": ("orders", "payments"), "refunds\n": ("payments", "refunds")}.items():
        source.alter_offsets(prefix + group, {Partition(prefix + topic, 0): CommittedOffset(0) for topic in topics})
    yield prefix
    source.delete_topics([prefix + topic for topic in TOPICS])


def write_in_transactions(servers: str, prefix: str, *topics: str) -> None:
    """Write to each topic in a transaction of its own, under one transactional id."""
    producer = Producer({"bootstrap.servers": servers, "transactional.id": f"{prefix}tx"})
    producer.init_transactions(30)
    for number, topic in enumerate(topics):
        producer.begin_transaction()
        for value in range(3 + number):
            producer.produce(prefix + topic, value=b"%d" % value, partition=number % 2)
        producer.commit_transaction(30)


def test_waves_of_real_groups_and_transactions(
    brokers: Sandbox, shop: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Topics that groups share are a wave, those of a transactional id another; what nobody reads is the last."""
    servers = brokers.state.source_bootstrap
    write_in_transactions(servers, shop, "in", "out")
    settings = {"bootstrap.servers": servers, "group.id": f"{shop}reader", "enable.auto.commit": False}
    with closing(Consumer(settings)) as reader:
        reader.subscribe([f"{shop}out"])
        wait_until(lambda: reader.poll(0.1) is None and len(reader.assignment()) == 2)
        options = ["--topic-pattern", f"{shop}.*", "--prefix", "shop", "--mirror-host", "mm", "--spark", "spark"]
        main([*PLANNED, "--write", str(tmp_path), *options])
        found = json.loads(capsys.readouterr().out)

    waves = [[topic.removeprefix(shop) for topic in wave["topics"]] for wave in found["waves"]]
    assert [["orders", "payments", "refunds"], ["in", "out"], ["log", "spare"]] == waves
    first, second, last = found["waves"]
    assert [f"{shop}billing", f"{shop}refunds\n"] == [group["group"] for group in first["groups"]]
    assert [(f"{shop}reader", True)] == [(group["group"], group["is_active"]) for group in second["groups"]]
    assert [f"{shop}tx"] == second["transactional_ids"]
    # Seven records and two markers, in one partition of each topic.
    assert (4, 9) == (second["partitions"], second["records_at_most"])
    assert last["is_read"] is False
    assert not [text for text in found["not_known"] if shop in text]
    assert ["shop-01", "shop-02", "shop-03"] == [each.name for each in load_migrations(tmp_path)]


def test_offsets_in_a_transaction_are_told(brokers: Sandbox, shop: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A transaction that commits a group's offsets shows so in the log, and not of which group."""
    servers = brokers.state.source_bootstrap
    producer = Producer({"bootstrap.servers": servers, "transactional.id": f"{shop}eos"})
    settings = {"bootstrap.servers": servers, "group.id": f"{shop}eos", "enable.auto.commit": False}
    with closing(Consumer(settings)) as reader:
        reader.subscribe([f"{shop}log"])
        wait_until(lambda: reader.poll(0.1) is None and len(reader.assignment()) == 2)
        producer.init_transactions(30)
        producer.begin_transaction()
        producer.produce(f"{shop}spare", value=b"1")
        offsets = [TopicPartition(f"{shop}log", 0, 0)]
        producer.send_offsets_to_transaction(offsets, reader.consumer_group_metadata(), 30)
        producer.commit_transaction(30)

    main([*PLANNED, "--topic-pattern", f"{shop}.*"])
    waves = {tuple(wave["topics"]): wave for wave in json.loads(capsys.readouterr().out)["waves"]}

    assert [f"{shop}eos"] == [group["group"] for group in waves[(f"{shop}log",)]["groups"]]
    (unread,) = (wave for wave in waves.values() if not wave["is_read"])
    assert f"{shop}spare" in unread["topics"]
    assert [f"{shop}eos"] == unread["transactional_ids_that_commit_offsets"]
