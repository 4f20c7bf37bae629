"""Rules of noticing that a cluster is silent while the validation reads."""

from __future__ import annotations

import sys
import threading
from datetime import UTC, datetime, timedelta

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError

from kafka_digest.reading.kafka_silence import GIVE_UP_AFTER, Silence, asking
from kafka_digest.runtime.job_errors import JobError, naming

BEGIN = datetime(2026, 1, 1, 20, 14, 3, tzinfo=UTC)
TARGET = "target cluster (new:9092)"


class World:
    """A clock that is set by hand, and how often the reading was to be given up."""

    def __init__(self) -> None:
        self.time = BEGIN
        self.given_up = 0
        self.silence = Silence(self._give_up, lambda: self.time)
        self.silence.heard(TARGET)

    def _give_up(self) -> None:
        self.given_up += 1

    def miss_for(self, seconds: int, every: int = 15) -> None:
        """Let so many seconds pass without an answer."""
        for _ in range(seconds // every):
            self.time += timedelta(seconds=every)
            self.silence.missed(TARGET, "TimeoutException: no answer")


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A cluster that has just answered."""
    monkeypatch.setattr(sys, "argv", ["/x/validate_topics.py"])
    return World()


def told(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return capsys.readouterr().err.splitlines()


def test_first_miss_is_told_with_cluster_address_and_time(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """The first question without an answer is a line: which cluster, its address, since when, and how long it lasts."""
    world.miss_for(15)

    assert told(capsys) == [
        "validate_topics: the target cluster (new:9092) has not answered since 20:14:03 UTC: "
        "TimeoutException: no answer; the job gives up at 20:19:03 UTC"
    ]


def test_it_is_told_once_a_minute(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """A silence of four minutes is four lines, and none before the limit gives up."""
    world.miss_for(240)

    assert (4, 0) == (len(told(capsys)), world.given_up)


def test_it_is_given_up_at_the_limit_and_again(world: World) -> None:
    """From the limit on the reading is stopped, each time that the cluster is asked in vain."""
    world.miss_for(int(GIVE_UP_AFTER.total_seconds()))
    assert 1 == world.given_up

    world.miss_for(30)
    assert 3 == world.given_up


def test_answer_ends_a_silence(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    """An answer is reported once, and the cluster has the whole time again."""
    world.miss_for(285)
    told(capsys)
    world.silence.heard(TARGET)
    world.silence.heard(TARGET)

    assert told(capsys) == ["validate_topics: the target cluster (new:9092) answers again"]
    assert "" == world.silence.reason()
    world.miss_for(285)
    assert 0 == world.given_up


def test_reason_names_all_that_are_silent(world: World) -> None:
    """The failure names the silent cluster, not the one that answers."""
    world.silence.heard("source cluster (old:9092)")
    world.miss_for(15)

    assert "the target cluster (new:9092) has not answered since 20:14:03 UTC" == world.silence.reason()


def test_clusters_are_asked_until_the_end(world: World) -> None:
    """Questions continue despite failures until the block ends, and none follows."""
    asked, is_enough = list[None](), threading.Event()

    def ask() -> None:
        asked.append(None)
        if len(asked) == 3:
            is_enough.set()
        raise OSError("no answer")

    with asking(TARGET, ask, world.silence, every_s=0.001):
        assert is_enough.wait(30)

    assert "" != world.silence.reason()
    assert not any(thread.name == "silence" for thread in threading.enumerate())


def test_end_of_spark_is_no_silence(world: World) -> None:
    """The end of Spark's own process is not reported as a silent cluster."""
    is_asked = threading.Event()

    def ask() -> None:
        is_asked.set()
        raise Py4JNetworkError("the JVM is gone")

    with asking(TARGET, ask, world.silence, every_s=0.001):
        assert is_asked.wait(30)

    assert "" == world.silence.reason()


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("TimeoutException: Cannot fetch record for offset 7 in 120000 milliseconds", "CLUSTER_UNREACHABLE"),
        ("DisconnectException: null", "CLUSTER_UNREACHABLE"),
        ("OffsetOutOfRangeException: Fetch position is out of range", "RECORDS_DELETED_MEANWHILE"),
        ("IllegalStateException: … some data may have been lost because …", "RECORDS_DELETED_MEANWHILE"),
        ("Py4JNetworkError: Answer from Java side is empty", "SPARK_FAILED"),
        ("ArithmeticException: long overflow", "RECORD_UNREADABLE"),
        ("KafkaException: Record batch for partition a-0 at offset 3 is invalid, cause: …", "RECORD_UNREADABLE"),
        ("SaslAuthenticationException: Authentication failed", "SPARK_FAILED"),
    ],
)
def test_errors_have_codes(message: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Java's message decides on the code of the task; an unknown message is a failure of Spark."""
    monkeypatch.setattr("kafka_digest.runtime.job_errors.root_cause", lambda error: message)
    with pytest.raises(JobError) as raised, naming("reading"):
        raise Py4JError(message)

    assert code == raised.value.code
