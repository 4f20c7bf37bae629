"""Rules of the time that a poll gives to all its calls together."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any

import pytest

from kafka_migration.adapters.host.mirrorctl_host import ScriptMirrorHost
from kafka_migration.adapters.kafka import broker_tables as kafka_tables
from kafka_migration.adapters.kafka import kafka_client, kafka_records
from kafka_migration.adapters.kafka.broker_tables import TableReader
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.adapters.kafka.kafka_client import CALL_TIMEOUT_S
from kafka_migration.adapters.system import deadlines as patience
from kafka_migration.adapters.system.deadlines import SHORTEST_S, at_most, time_left
from kafka_migration.core.findings.errors import TransientError
from tests.unit.adapters.test_broker_tables import P0, OnePartitionConsumer
from tests.unit.adapters.test_kafka_retries import Clock
from tests.unit.mirror.host.test_lost_replies import LAUNCH, LOST, ScriptedTransport, reply


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the limits, and of what reads until one."""
    made = Clock()
    for module in (patience, kafka_client, kafka_tables, kafka_records):
        monkeypatch.setattr(module, "time", made)
    return made


def test_calls_share_the_time_of_their_block(clock: Clock) -> None:
    """Each call gets its usual time or the time that earlier calls left; outside the block no call is limited."""
    with at_most(25):
        first = time_left(20)
        clock.now_s += 18
        second = time_left(20)

    assert (20, 7, 20) == (first, second, time_left(20))


def test_outer_limit_holds_within_an_inner_one(clock: Clock) -> None:
    """An inner block can only make the time shorter."""
    with at_most(10), at_most(60):
        assert time_left(90) == 10
    with at_most(60), at_most(10):
        assert time_left(90) == 10


def test_call_at_the_end_still_gets_a_moment(clock: Clock) -> None:
    """A cluster that answers at once is asked even when another has used the time up."""
    with at_most(10):
        clock.now_s += 30
        assert time_left(20) == SHORTEST_S


def test_reading_call_to_the_host_is_cut_with_its_repetition(clock: Clock) -> None:
    """A renewal whose connection broke is sent again within the same limit."""
    transport = ScriptedTransport(LOST, reply())
    with at_most(12):
        ScriptMirrorHost("shop", transport).renew("me", 1)

    assert [12, 12] == transport.timeouts_s


def test_acting_call_to_the_host_keeps_its_time(clock: Clock) -> None:
    """What starts a process is not cut: whether it happened would not be known."""
    transport = ScriptedTransport(reply(state="running", generation=1))
    with at_most(12):
        ScriptMirrorHost("shop", transport).start("me", 1, LAUNCH)

    assert transport.timeouts_s == [90]


class SilentAdmin:
    """An admin client whose cluster never answers; notes the time that each request was given."""

    def __init__(self) -> None:
        self.asked_s: list[float] = []

    def describe_cluster(self, request_timeout: float) -> Any:
        """Return a future that is never done."""
        self.asked_s.append(request_timeout)
        return Future()

    def poll(self, timeout_s: float) -> int:
        """Return at once, without an event."""
        return 0


def test_calls_to_a_cluster_are_cut(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client gives up a silent cluster when the time of the poll is over, and so does the wait for its answer."""
    cluster = ConfluentCluster("target (new_kafka, b:9092)", {"bootstrap.servers": "127.0.0.1:1"})
    cluster._admin = admin = SilentAdmin()
    monkeypatch.setattr(kafka_client, "wait", lambda _, timeout_s: clock.sleep(timeout_s))
    with at_most(7), pytest.raises(TransientError, match="b:9092"):
        cluster.facts()
    ended_s = clock.now_s
    with pytest.raises(TransientError):
        cluster.facts()

    assert [7, CALL_TIMEOUT_S] == admin.asked_s
    assert [7, CALL_TIMEOUT_S] == [pytest.approx(s, abs=1) for s in (ended_s, clock.now_s - ended_s)]


def test_table_that_is_cut_short_is_read_on(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A large table that needs more than one poll is read from where the last poll ended."""

    class Slow(OnePartitionConsumer):
        def consume(self, records: int, timeout_s: float) -> Any:
            """Return one record every three seconds."""
            clock.now_s += 3
            found: list[Any] = super().consume(records, timeout_s)[:1]
            self._next = min(self._next, found[0].offset() + 1) if found else self._next
            return found

    monkeypatch.setattr(kafka_tables, "Consumer", Slow)
    reader = TableReader({})
    with at_most(5), pytest.raises(TimeoutError):
        reader.read(P0.topic, "", {P0: 3}, lambda: {P0: 0})
    with at_most(5):
        table = reader.read(P0.topic, "", {P0: 3}, lambda: {P0: 0})

    assert ({b"a": b"1", b"b": b"2", b"c": b"3"}, 1) == (table, Slow.beginnings)
