"""Rules of the client that all calls to a cluster share."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event

import pytest

from kafka_migration.adapters.kafka import kafka_client
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster


@dataclass
class SlowToDestroy:
    """Stands for librdkafka's client; the test decides when its destruction ends."""

    allowed: Event
    ended: Event

    def __del__(self) -> None:
        """Wait, as librdkafka does for its threads."""
        self.allowed.wait(60)
        self.ended.set()


def test_nothing_waits_for_the_destruction_of_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """The deletion of a cluster object returns at once; another thread destroys the client."""
    allowed, ended = Event(), Event()
    monkeypatch.setattr(kafka_client, "AdminClient", lambda _: SlowToDestroy(allowed, ended))
    cluster = ConfluentCluster("source", {"bootstrap.servers": "127.0.0.1:1"})

    del cluster
    ended_early = ended.is_set()
    allowed.set()

    assert not ended_early
    assert ended.wait(60)
