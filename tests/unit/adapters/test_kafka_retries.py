"""Every call retries temporary errors until the time of one call is over."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka import TopicPartition as ClientPartition

from kafka_migration.adapters.kafka import confluent_cluster as kafka
from kafka_migration.adapters.kafka import kafka_client
from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.adapters.kafka.kafka_client import CALL_TIMEOUT_S
from kafka_migration.adapters.system import deadlines as patience
from kafka_migration.adapters.system.deadlines import at_most
from kafka_migration.core.findings.errors import Refused, TransientError
from kafka_migration.core.kafka.cluster import ClusterFacts, NewTopic
from kafka_migration.core.kafka.offsets import CommittedOffset, TopicPartition
from tests.unit.partitions import P0

PASSING = [
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NOT_CONTROLLER,
]


class Clock:
    """A time that passes only by waiting."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        """Return the time."""
        return self.now_s

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock for all of the adapter."""
    made = Clock()
    for module in (kafka, kafka_client, patience):
        monkeypatch.setattr(module, "time", made)
    return made


def done(value: Any) -> Future[Any]:
    """Return an answered request."""
    future: Future[Any] = Future()
    if isinstance(value, KafkaException):
        future.set_exception(value)
    else:
        future.set_result(value)
    return future


class ScriptedAdmin:
    """An admin client of a cluster with one topic and one group; its next answers are errors, as many as are named."""

    def __init__(self) -> None:
        self.errors: list[int] = []
        self.asked: list[str] = []
        self.settings: list[tuple[str, int]] = []
        self.is_answering_metadata = True

    def _answer(self, name: str, value: Any) -> Any:
        self.asked.append(name)
        return KafkaException(KafkaError(self.errors.pop(0))) if self.errors else value

    def _batch(self, name: str, keys: Iterable[Any], value: Any) -> dict[Any, Future[Any]]:
        return {key: done(self._answer(name, value)) for key in keys}

    def poll(self, timeout_s: float) -> int:
        """Report no error."""
        return 0

    def list_topics(self, timeout: float) -> Any:
        """Return the topic, which has a leader; asked between two attempts, it never fails."""
        orders = SimpleNamespace(partitions={0: SimpleNamespace(leader=1)})
        metadata = SimpleNamespace(topics={"orders": orders})
        answer = metadata if self.is_answering_metadata else self._answer("list_topics", metadata)
        if isinstance(answer, KafkaException):
            raise answer
        return answer

    def list_groups(self, timeout: float, group: str | None = None) -> list[Any]:
        """Return none."""
        return []

    def describe_cluster(self, request_timeout: float) -> Any:
        """Return one broker."""
        node = SimpleNamespace(host="broker-1", port=9092)
        return done(self._answer("describe_cluster", SimpleNamespace(cluster_id="c", nodes=[node])))

    def describe_topics(self, topics: Any, request_timeout: float) -> Any:
        """Return the topic."""
        described = SimpleNamespace(topic_id="id", partitions=[SimpleNamespace(replicas=[1])])
        return self._batch("describe_topics", topics.topic_names, described)

    def describe_configs(self, resources: Any, request_timeout: float) -> Any:
        """Return one setting; the broker may not know the newest value yet."""
        value, source = self.settings.pop(0) if self.settings else ("5", 5)
        entries = {"retention.ms": SimpleNamespace(value=value, source=source)}
        return self._batch("describe_configs", resources, entries)

    def list_offsets(self, wanted: Any, isolation_level: Any, request_timeout: float) -> Any:
        """Return 7 of each."""
        return self._batch("list_offsets", wanted, SimpleNamespace(offset=7))

    def create_topics(self, topics: Any, operation_timeout: float, request_timeout: float, validate_only: bool) -> Any:
        """Create."""
        return self._batch("create_topics", [topic.topic for topic in topics], None)

    def create_partitions(self, partitions: Any, operation_timeout: float, request_timeout: float) -> Any:
        """Grow."""
        return self._batch("create_partitions", [each.topic for each in partitions], None)

    def delete_topics(self, topics: Any, operation_timeout: float) -> Any:
        """Delete."""
        return self._batch("delete_topics", topics, None)

    def incremental_alter_configs(self, resources: Any, request_timeout: float) -> Any:
        """Change."""
        return self._batch("incremental_alter_configs", resources, None)

    def list_consumer_groups(self, request_timeout: float) -> Any:
        """Return the group, or what one broker says instead."""
        listing = SimpleNamespace(group_id="g", state=SimpleNamespace(name="EMPTY"), type=None)
        answer = self._answer("list_consumer_groups", listing)
        is_error = isinstance(answer, KafkaException)
        return done(SimpleNamespace(errors=[answer.args[0]] if is_error else [], valid=[] if is_error else [answer]))

    def describe_consumer_groups(self, groups: Any, request_timeout: float) -> Any:
        """Return it as empty; only where it is asked about by itself may it fail."""
        described = SimpleNamespace(members=[], state=SimpleNamespace(name="EMPTY"))
        return self._batch("describe_consumer_groups", groups, described)

    def _offsets(self, name: str, requests: Any) -> Any:
        found = ClientPartition("orders", 0, 3)
        answer = self._answer(name, SimpleNamespace(error=None))
        error = answer.args[0] if isinstance(answer, KafkaException) else None
        each = SimpleNamespace(topic=found.topic, partition=0, offset=3, metadata="", error=error)
        return {request.group_id: done(SimpleNamespace(topic_partitions=[each])) for request in requests}

    def list_consumer_group_offsets(self, requests: Any, require_stable: bool, request_timeout: float) -> Any:
        """Return 3, or an error of the partition."""
        return self._offsets("list_consumer_group_offsets", requests)

    def alter_consumer_group_offsets(self, requests: Any, request_timeout: float) -> Any:
        """Write, or say why a partition was not written."""
        return self._offsets("alter_consumer_group_offsets", requests)

    def delete_consumer_groups(self, groups: Any, request_timeout: float) -> Any:
        """Delete."""
        return self._batch("delete_consumer_groups", groups, None)


@pytest.fixture
def admin() -> ScriptedAdmin:
    """The client of the cluster."""
    return ScriptedAdmin()


@pytest.fixture
def cluster(clock: Clock, admin: ScriptedAdmin) -> ConfluentCluster:
    """A cluster whose client follows a script."""
    made = ConfluentCluster("old (a:1)", {"bootstrap.servers": "127.0.0.1:1"})
    made._admin = admin
    return made


Call = Callable[[ConfluentCluster], Any]
COMMITTED = {P0: CommittedOffset(3)}
# The call of the client, what asks for it, and what comes of it.
CALLS: dict[str, tuple[Call, Any]] = {
    "describe_cluster": (lambda c: c.facts(), ClusterFacts("c", 1, ("broker-1:9092",))),
    "list_topics": (lambda c: c.partition_counts(), {"orders": 1}),
    "describe_topics": (lambda c: list(c.describe_topics(["orders"])), ["orders"]),
    "describe_configs": (lambda c: c.effective_configs(["orders"], "retention.ms"), {"orders": {"retention.ms": "5"}}),
    "list_offsets": (lambda c: c.log_end_offsets([P0], "read_committed"), {P0: 7}),
    "create_topics": (lambda c: c.create_topics([NewTopic("orders", 1, 1, {})]), None),
    "create_partitions": (lambda c: c.create_partitions({"orders": 1}), None),
    "delete_topics": (lambda c: c.delete_topics(["orders"]), None),
    "incremental_alter_configs": (lambda c: c.alter_configs({"orders": {"retention.ms": "5"}}), None),
    "list_consumer_groups": (lambda c: [each.group for each in c.list_groups()], ["g"]),
    "describe_consumer_groups": (lambda c: list(c.describe_groups(["g"])), ["g"]),
    "list_consumer_group_offsets": (lambda c: c.committed_offsets("g"), COMMITTED),
    "alter_consumer_group_offsets": (lambda c: c.alter_offsets("g", COMMITTED), None),
    "delete_consumer_groups": (lambda c: c.delete_group("g"), None),
}


@pytest.fixture(params=CALLS)
def call(
    request: pytest.FixtureRequest, admin: ScriptedAdmin, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, Call, Any]:
    """Each call that the cluster makes of its client."""
    name: str = request.param
    # Of its two calls the first is another one of this table.
    monkeypatch.setattr(ConfluentCluster, "_is_unknown", lambda self, group: False)
    admin.is_answering_metadata = name != "list_topics"
    return name, *CALLS[name]


def test_call_is_made_again(cluster: ConfluentCluster, admin: ScriptedAdmin, call: tuple[str, Call, Any]) -> None:
    """The caller does not see a temporary error that occurs three times in a row."""
    name, ask, expected = call
    for error in PASSING:
        admin.errors, admin.asked = [error] * 3, []

        assert expected == ask(cluster)
        # Between two attempts all topics are asked for, and while that is what fails, it counts as well.
        assert len([each for each in admin.asked if each == name]) >= 4
        assert [] == admin.errors


def test_attempts_end(
    cluster: ConfluentCluster, admin: ScriptedAdmin, clock: Clock, call: tuple[str, Call, Any]
) -> None:
    """An error that remains is a `TransientError`, within the time that one call may take."""
    _, ask, _ = call
    admin.errors = [KafkaError.NOT_COORDINATOR] * 1000

    with pytest.raises(TransientError, match=r"old \(a:1\): "):
        ask(cluster)
    assert CALL_TIMEOUT_S / 2 < clock.now_s < CALL_TIMEOUT_S
    assert admin.errors


def test_attempts_keep_to_the_time_of_a_poll(cluster: ConfluentCluster, admin: ScriptedAdmin, clock: Clock) -> None:
    """If calls share less time, all attempts end within it."""
    admin.errors = [KafkaError.NOT_LEADER_FOR_PARTITION] * 1000
    with at_most(5), pytest.raises(TransientError):
        cluster.log_end_offsets([P0], "read_committed")

    assert clock.now_s < 5


def test_only_what_failed_is_asked_again(cluster: ConfluentCluster, admin: ScriptedAdmin) -> None:
    """Only the failed parts of a batch are requested again."""
    admin.errors = [KafkaError.NOT_LEADER_FOR_PARTITION]
    both = [P0, TopicPartition("orders", 1)]

    assert dict.fromkeys(both, 7) == cluster.log_end_offsets(both, "read_committed")
    assert ["list_offsets"] * 3 == admin.asked


@pytest.mark.parametrize(
    ("error", "name", "refusal"),
    [
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, "list_offsets", "authorization failed"),
        (KafkaError.REBALANCE_IN_PROGRESS, "alter_consumer_group_offsets", "GROUP_ACTIVE"),
        (KafkaError.POLICY_VIOLATION, "create_topics", "TOPIC_NOT_CREATED .*did not create the topic orders"),
        (KafkaError.POLICY_VIOLATION, "create_partitions", "did not add partitions to the topic orders .*a partition"),
        (KafkaError.POLICY_VIOLATION, "incremental_alter_configs", "did not change the configuration of the topic"),
    ],
    ids=["a missing right", "a group with members", "a topic", "a partition", "a setting"],
)
def test_permanent_error_is_not_retried(
    cluster: ConfluentCluster, admin: ScriptedAdmin, clock: Clock, error: int, name: str, refusal: str
) -> None:
    """An error that time does not remove is refused at once."""
    admin.errors = [error]
    with pytest.raises(Refused, match=refusal):
        CALLS[name][0](cluster)

    assert (0, name) == (clock.now_s, admin.asked[-1])
    assert 1 == admin.asked.count(name)


@pytest.mark.parametrize("value", ["5", None])
def test_changed_setting_is_waited_for(cluster: ConfluentCluster, admin: ScriptedAdmin, value: str | None) -> None:
    """The controller accepts a change before the broker that is asked shows it."""
    own = 1
    admin.settings = [("7", own), ("7", own)]
    cluster.alter_configs({"orders": {"retention.ms": value}})

    assert {"orders": {"retention.ms": "5"}} == cluster.effective_configs(["orders"], "retention.ms")


def test_wait_for_a_changed_setting_ends(cluster: ConfluentCluster, admin: ScriptedAdmin, clock: Clock) -> None:
    """A value that the broker writes in another way holds up a run for the time of one call at most."""
    admin.settings = [("05", 1)] * 1000
    cluster.alter_configs({"orders": {"retention.ms": "5"}})

    assert CALL_TIMEOUT_S / 2 < clock.now_s < CALL_TIMEOUT_S


UNKNOWN = [KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC, KafkaError._NOENT]


@pytest.mark.parametrize("error", UNKNOWN)
def test_topic_that_was_just_made_is_waited_for(cluster: ConfluentCluster, admin: ScriptedAdmin, error: int) -> None:
    """Brokers learn of a new topic at different times; the client that created it waits for all of them."""
    cluster.create_topics([NewTopic("orders", 1, 1, {})])
    admin.errors = [error] * 3

    assert {P0: 7} == cluster.log_end_offsets([P0], "read_committed")
    admin.errors = [error] * 3
    assert ["orders"] == list(cluster.describe_topics(["orders"]))


@pytest.mark.parametrize("error", UNKNOWN)
def test_topic_of_others_may_be_missing(
    cluster: ConfluentCluster, admin: ScriptedAdmin, clock: Clock, error: int
) -> None:
    """A topic that this client did not make, or deleted, or made long ago is missing without waiting."""

    def is_missing_at_once() -> bool:
        admin.errors, before = [error], clock.now_s
        return {} == cluster.describe_topics(["orders"]) and before == clock.now_s

    assert is_missing_at_once()
    cluster.create_topics([NewTopic("orders", 1, 1, {})])
    cluster.delete_topics(["orders"])
    assert is_missing_at_once()
    cluster.create_topics([NewTopic("orders", 1, 1, {})])
    clock.now_s += kafka_client.NEW_FOR_S
    assert is_missing_at_once()


def test_creation_whose_answer_was_lost_is_done(cluster: ConfluentCluster, admin: ScriptedAdmin) -> None:
    """A topic that was made by an attempt without an answer is there at the next."""
    admin.errors = [KafkaError.REQUEST_TIMED_OUT, KafkaError.TOPIC_ALREADY_EXISTS]

    cluster.create_topics([NewTopic("orders", 1, 1, {})])


def test_transaction_that_hangs_is_named(
    cluster: ConfluentCluster, admin: ScriptedAdmin, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Offsets that a transaction is about to commit are waited for as long as a call may take; then it is named."""
    monkeypatch.setattr(ConfluentCluster, "_is_unknown", lambda self, group: False)
    admin.errors = [KafkaError.UNSTABLE_OFFSET_COMMIT] * 1000

    with pytest.raises(TransientError, match="offsets of group 'g' are pending in an open transaction"):
        cluster.committed_offsets("g", [P0])
    assert clock.now_s < CALL_TIMEOUT_S
