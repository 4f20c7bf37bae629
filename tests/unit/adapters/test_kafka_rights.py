"""Rights that brokers do not report are unknown, not missing."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AclOperation

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import THE_CLUSTER, Operation, Resource

TOPIC, GROUP = Resource("topic", "orders"), Resource("group", "app-", is_prefix=True)
READ = [AclOperation.READ, AclOperation.DESCRIBE, AclOperation.ALL]


class Reporting:
    """An admin client whose brokers report the same operations, or the same error, for everything."""

    def __init__(self, reported: list[AclOperation] | int | None) -> None:
        self.reported = reported
        self.asked: list[str] = []

    def _answers(self, names: list[str]) -> dict[str, Future[Any]]:
        self.asked += names
        answers: dict[str, Future[Any]] = {name: Future() for name in names}
        for future in answers.values():
            if isinstance(self.reported, int):
                future.set_exception(KafkaException(KafkaError(self.reported)))
            else:
                future.set_result(SimpleNamespace(authorized_operations=self.reported))
        return answers

    def describe_topics(self, topics: Any, **_: Any) -> dict[str, Future[Any]]:
        """Return the operations on topics."""
        return self._answers(list(topics.topic_names))

    def describe_consumer_groups(self, groups: list[str], **_: Any) -> dict[str, Future[Any]]:
        """Return the operations on groups."""
        return self._answers(groups)

    def describe_cluster(self, **_: Any) -> Future[Any]:
        """Return the operations on the cluster."""
        return self._answers(["cluster"])["cluster"]

    def poll(self, timeout_s: float) -> int:
        """Report no error."""
        return 0


def granted(reported: list[AclOperation] | int | None) -> dict[Resource, set[Operation]]:
    """Return what a cluster grants whose brokers report this."""
    cluster = ConfluentCluster("old", {"bootstrap.servers": "127.0.0.1:1"})
    cluster._admin = Reporting(reported)
    resources = [TOPIC, GROUP, *([] if isinstance(reported, int) else [THE_CLUSTER])]
    return {resource: set(operations) for resource, operations in cluster.granted(resources).items()}


def test_reported_operations_are_returned() -> None:
    """Each resource has its operations; one that only Kafka's own tools know is left out."""
    expected = {Operation.READ, Operation.DESCRIBE}

    assert dict.fromkeys([TOPIC, GROUP, THE_CLUSTER], expected) == granted(READ)


@pytest.mark.parametrize("reported", [None, []])
def test_operations_that_are_not_reported_are_unknown(reported: list[AclOperation] | None) -> None:
    """Brokers that do not report operations, as some services do, refuse no run by that."""
    assert {} == granted(reported)


def test_denied_topic_may_still_be_creatable() -> None:
    """A denied description says that everything that includes Describe is missing, but nothing about Create."""
    assert {Operation.CREATE} == granted(KafkaError.TOPIC_AUTHORIZATION_FAILED)[TOPIC]


def test_missing_topic_is_unknown() -> None:
    """A topic that does not exist has no rights to report."""
    assert {} == granted(KafkaError.UNKNOWN_TOPIC_OR_PART)


def test_groups_are_asked_about_again_if_a_new_cluster_did_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: the first question about a group makes a new cluster create a topic, and the run was refused."""
    group = Resource("group", "app")
    answers: list[object] = [TransientError("no answer"), {group: frozenset()}]

    def granted(*_: object) -> object:
        answer = answers.pop(0)
        if isinstance(answer, TransientError):
            raise answer
        return answer

    cluster = ConfluentCluster("target", {"bootstrap.servers": "127.0.0.1:1"})
    monkeypatch.setattr(cluster, "_granted", lambda named, _: granted() if named else {})

    assert {group: frozenset()} == cluster.granted([group])
