"""Questions to a cluster that is slow: put again while the refusal is one that passes, and only then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from sandbox.data import asking, topics
from sandbox.data.asking import asked
from sandbox.data.reading import partitions_of
from sandbox.data.topics import Topic, create_topics
from sandbox.errors import SandboxError

NOT_YET = KafkaException(KafkaError(KafkaError.NOT_LEADER_FOR_PARTITION))
NO_LEADERS = KafkaException(KafkaError(KafkaError._NOENT, "No leaders found"))
NEVER = KafkaException(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED, "not allowed"))


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask again without a pause."""
    monkeypatch.setattr(asking, "PAUSE_S", 0)


class Answers:
    """Gives one answer after the other; an exception is raised."""

    def __init__(self, *answers: object) -> None:
        self.left = list(answers)

    def __call__(self, *_: object, **__: object) -> Any:
        answer = self.left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize("refusal", [NOT_YET, NO_LEADERS, TimeoutError()])
def test_a_refusal_that_passes_is_not_the_answer(refusal: Exception) -> None:
    """A leader that is just being chosen, or a broker that is slow, is asked again."""
    assert 7 == asked(Answers(refusal, refusal, 7), "the end")


def test_a_refusal_that_stays_is_an_error_at_once() -> None:
    """What asking again cannot change is not asked again; the error says what was asked."""
    answers = Answers(NEVER, 7)

    with pytest.raises(SandboxError, match="the end: not allowed"):
        asked(answers, "the end")

    assert [7] == answers.left


def test_a_refusal_that_does_not_pass_in_time_is_an_error() -> None:
    """The time to ask is limited."""
    with pytest.raises(SandboxError, match="the end: "):
        asked(Answers(NOT_YET, NOT_YET), "the end", timeout_s=-1)


class YoungCluster:
    """An admin client: a topic is created at once, its partition has no leader at the first two questions.

    Like librdkafka it takes the topic for missing until it gets all topics again.
    """

    def __init__(self) -> None:
        self.refusals = 2
        self.has_all_topics = True

    def list_topics(self, **_: object) -> None:
        self.has_all_topics = True

    def create_topics(self, new: Iterable[Any], **_: object) -> dict[str, Future[None]]:
        return {topic.topic: done(None) for topic in new}

    def list_offsets(self, wanted: Mapping[TopicPartition, Any], **_: object) -> dict[TopicPartition, Future[Any]]:
        self.refusals -= 1
        answer = SimpleNamespace(offset=0) if self.refusals < 0 and self.has_all_topics else NO_LEADERS
        self.has_all_topics = False
        return {place: done(answer) for place in wanted}


def done(answer: object) -> Future[Any]:
    made: Future[Any] = Future()
    made.set_exception(answer) if isinstance(answer, Exception) else made.set_result(answer)
    return made


def test_a_created_topic_has_leaders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Creating a topic waits until its partitions have leaders, because brokers confirm the creation earlier."""
    young = YoungCluster()
    monkeypatch.setattr(topics, "admin", lambda _: young)

    create_topics("somewhere", iter([Topic("clicks", 2)]))

    assert -1 == young.refusals


def test_the_ends_of_a_topic_just_created_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """`NOT_LEADER_FOR_PARTITION` is no answer to the question for the ends of a topic."""
    monkeypatch.setattr(topics, "admin", lambda _: YoungCluster())

    assert {0: 0, 1: 0} == topics.topic_ends("somewhere", Topic("clicks", 2))


def test_the_partitions_of_a_topic_just_created_are_told() -> None:
    """A topic whose metadata say that there is no leader yet is asked for again."""
    unknown = SimpleNamespace(error=KafkaError(KafkaError.LEADER_NOT_AVAILABLE), partitions={})
    known = SimpleNamespace(error=None, partitions={1: None, 0: None})
    told = Answers(*(SimpleNamespace(topics={"clicks": found}) for found in (unknown, known)))
    consumer: Any = SimpleNamespace(list_topics=told)

    assert [0, 1] == partitions_of(consumer, "clicks")
