"""A cutover's measured times without producers and consumers, beside the logs of a producer and a consumer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from threading import Event

import pytest
from confluent_kafka import Consumer, Producer

from tests.live.conftest import LiveWorld
from tests.live.groups import commit, committed, decide, ends, wait_for_question, writing
from tests.live.migrations import LiveMigration
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

log_of_tests = logging.getLogger(__name__)

AGREES_WITHIN = timedelta(seconds=2)
EVERY_S = 0.1


class LoggingProducer:
    """Sends a record at each call, and keeps the time at which the cluster has confirmed the last one."""

    def __init__(self, side: dict[str, str], topic: str) -> None:
        self._producer = Producer(side)
        self._topic = topic
        self.confirmed_at: list[datetime] = []

    def send(self) -> None:
        """Send one record, and wait until it is confirmed."""
        self._producer.produce(self._topic, key=b"k", value=b"%d" % len(self.confirmed_at))
        assert self._producer.flush(60) == 0
        self.confirmed_at.append(datetime.now(UTC))


@contextmanager
def reading(side: dict[str, str], group: str, topic: str, may_read: Event) -> Iterator[list[datetime]]:
    """Let a group read and commit record by record once it may; yield the times, and leave the group at the end."""
    reader = Consumer({**side, "group.id": group, "auto.offset.reset": "earliest", "enable.auto.commit": False})
    reader.subscribe([topic])
    read_at: list[datetime] = []

    def read() -> None:
        if not may_read.is_set() or (message := reader.poll(0.1)) is None or message.error():
            return
        while message is not None and message.error() is None:
            reader.commit(message=message, asynchronous=False)
            read_at.append(datetime.now(UTC))
            message = reader.poll(0.5)

    with writing(read):
        yield read_at
    reader.close()


def ask_often(condition: Callable[[], object], what: str) -> datetime:
    """Return the moment at which a condition came true."""
    wait_until(condition, 600, what, EVERY_S)
    return datetime.now(UTC)


def test_measured_times_are_those_of_the_clients(live: LiveWorld) -> None:
    """Producers: from the last record to the confirmed cutover. Consumers: from the last record read to their offsets.

    The group reads its last records only when everything else waits for it.
    """
    migration = live.migration("still", nightly="  drain_groups: 5m", fence_quiet="5s")
    group, side = f"{migration.name}-group", migration.source
    migration.produce(200)
    # A group without committed offsets is not waited for.
    commit(side, group, migration.name, {0: 1, 1: 1})
    assert "success" == migration.run()["state"]

    producer, may_read = LoggingProducer(side, migration.name), Event()
    with reading(side, group, migration.name, may_read) as read_at:
        with writing(producer.send):
            run_id = migration.trigger("cutover")
            wait_until(lambda: live.api.asked_at(migration.dag_id, run_id, "stop_producers"), 600, "the announcement")
        last_sent_at = producer.confirmed_at[-1]
        migration.wait_for_task(run_id, "drain_groups", ["deferred"])
        may_read.set()
        total = sum(ends(side, migration.name).values())
        wait_until(lambda: sum(committed(side, group, migration.name).values()) == total, 300, "the group at the end")
    last_read_at = read_at[-1]
    wait_for_question(migration, run_id)
    decide(live.api, migration, run_id, "Approve")
    may_consume_at = ask_often(lambda: committed(migration.target, group, migration.name), "the offsets on the target")
    may_produce_at = ask_often(lambda: migration.ledger_entries("cut-over"), "the cutover in the ledger")
    assert "success" == migration.finished(run_id).state

    assert_agrees(migration, run_id, "producers", last_sent_at, may_produce_at)
    assert_agrees(migration, run_id, "consumers", last_read_at, may_consume_at)


def assert_agrees(migration: LiveMigration, run_id: str, clients: str, began_at: datetime, ended_at: datetime) -> None:
    measured = migration.document(run_id)["stood_still"][clients]
    began, ended = (datetime.fromisoformat(measured[each]) for each in ("began_at", "ended_at"))
    log_of_tests.info("%s: began %s, ended %s after their own log", clients, began - began_at, ended - ended_at)
    assert abs(began - began_at) <= AGREES_WITHIN, (clients, began, began_at)
    assert abs(ended - ended_at) <= AGREES_WITHIN, (clients, ended, ended_at)
