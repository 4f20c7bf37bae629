"""Common parts of all calls to a Kafka cluster: the admin client, timeouts, retries, and error translation.

A leader moves, a coordinator loads its groups, a broker does not know a new topic yet: Kafka calls these errors
retriable, and librdkafka's admin calls return them. All attempts of a call share the timeout of one call.
"""

from __future__ import annotations

import contextlib
import logging
import time
import uuid
from _thread import start_new_thread
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from datetime import UTC, datetime
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from kafka_migration.adapters.kafka.listeners import attempt_of
from kafka_migration.adapters.system.collector import without_collections
from kafka_migration.adapters.system.deadlines import at_most, time_left
from kafka_migration.core.connections.listener import lacks_token, refusal
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import IsolationLevel

T = TypeVar("T")
K = TypeVar("K")

CALL_TIMEOUT_S = 20.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 1.0
# librdkafka 2.16 asks three times which broker is the coordinator of a group. If none is yet, as on a cluster without
# its topic of groups, the request then waits without a word until it times out: after 0.3 s with its usual pauses,
# after 6 s with these. To give a request up earlier is no cure: a late answer to it ends the process (see `__del__`).
COORDINATOR_PAUSES = {"retry.backoff.ms": 2000, "retry.backoff.max.ms": 6000}
_PASSING = {
    # The partition's leader is another broker, or is not elected yet.
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.REPLICA_NOT_AVAILABLE,
    KafkaError.OFFSET_NOT_AVAILABLE,
    KafkaError.KAFKA_STORAGE_ERROR,
    # The group's coordinator is another broker, or still loads the group.
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.UNSTABLE_OFFSET_COMMIT,
    KafkaError.NOT_CONTROLLER,
    KafkaError.REQUEST_TIMED_OUT,
    KafkaError.NETWORK_EXCEPTION,
    KafkaError.THROTTLING_QUOTA_EXCEEDED,
    KafkaError._TRANSPORT,
}


def call_timeout_s() -> float:
    """Return the timeout of a call; it is shorter if a poll must end earlier."""
    return time_left(CALL_TIMEOUT_S)


def may_pass(error: KafkaError) -> bool:
    """Whether the same request may succeed in a moment."""
    return bool(error.retriable()) or error.code() in _PASSING


def retried(call: Callable[[], T], prepare: Callable[[], object]) -> T:
    """Return the result of a call; after a temporary error the call is repeated, each time after `prepare`.

    Raises the last `KafkaException` when the timeout of a call is reached.
    """
    limit_s = call_timeout_s()
    patience = RetryPauses(limit_s)
    with at_most(limit_s):
        while True:
            try:
                return call()
            except KafkaException as error:
                if not may_pass(error.args[0]) or not patience.waits():
                    raise
            prepare()


def outcomes(
    ask: Callable[[Sequence[K]], Mapping[K, Any]],
    subjects: Sequence[K],
    passes: Callable[[K, KafkaError], bool],
    prepare: Callable[[], object],
) -> dict[K, Any]:
    """Return per subject the result of a batched call, or the remaining `KafkaException`.

    `ask` returns futures. Only subjects whose error `passes` are requested again, after `prepare`. Raises
    `TimeoutError` if there is no answer at all.
    """
    found: dict[K, Any] = {}
    pending = list(subjects)
    limit_s = call_timeout_s()
    patience = RetryPauses(limit_s)
    with at_most(limit_s):
        while True:
            found |= {subject: _outcome(future) for subject, future in ask(pending).items()}
            pending = [each for each in pending if _has_failed(found.get(each)) and passes(each, found[each].args[0])]
            if not pending or not patience.waits():
                return found
            prepare()


def _has_failed(outcome: Any) -> bool:
    return isinstance(outcome, KafkaException)


def _outcome(future: Any) -> Any:
    try:
        return future.result(call_timeout_s())
    except KafkaException as error:
        return error


class RetryPauses:
    """The pauses between the attempts of one call, with a common time limit."""

    def __init__(self, limit_s: float) -> None:
        self._deadline = time.monotonic() + limit_s
        self._pause_s = FIRST_PAUSE_S

    def waits(self) -> bool:
        """Wait before the next attempt; return `False` immediately if there is no time left for it."""
        if time.monotonic() + self._pause_s >= self._deadline:
            return False
        time.sleep(self._pause_s)
        self._pause_s = min(2 * self._pause_s, LONGEST_PAUSE_S)
        return True


# _NOENT is librdkafka's "no leaders found": no partition of the request exists, or none has a leader now.
_ABSENT = {
    KafkaError.GROUP_ID_NOT_FOUND,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._NOENT,
}
_DENIED = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
}
# While no broker answers, the listeners are asked again after this time.
LOOK_EVERY_S = 3.0
_POLL_S = 0.1
# Brokers learn of a new topic one after the other. For this long, a call is repeated if a broker does not know it.
NEW_FOR_S = 60.0


class ClusterClient:
    """One cluster, reached with the librdkafka settings of an Airflow connection.

    `name` is its name in findings, for example `source (demo_source)`.
    """

    def __init__(self, name: str, config: Mapping[str, Any]) -> None:
        self.name = name
        self._config = dict(config)
        self._errors = ReportedErrors(config.get("error_cb"))
        own = {"logger": quiet_logger(), "error_cb": self._errors}
        self._admin = AdminClient({**COORDINATOR_PAUSES, **self._config, **own})
        self._made_at: dict[str, float] = {}

    def __del__(self) -> None:
        """Destroy librdkafka's client in another thread, because the destruction may never end.

        librdkafka 2.16 miscounts requests to a coordinator if the connection breaks (its pull request 5397).
        """
        last = [self.__dict__.pop("_admin", None)]
        # A process that is ending starts no thread.
        with contextlib.suppress(RuntimeError):
            start_new_thread(last.clear, ())

    def _results(
        self,
        ask: Callable[[Sequence[K]], Mapping[K, Any]],
        subjects: Sequence[K],
        topic_of: Callable[[K], str] = lambda _: "",
    ) -> dict[K, Any]:
        """Return the result per object of a batched call, without objects that do not exist."""
        return self._present(self._outcomes(ask, subjects, topic_of))

    def _present(self, outcomes: Mapping[K, Any]) -> dict[K, Any]:
        """Return the results without objects that do not exist; raises the first other error."""
        results = {}
        for subject, outcome in outcomes.items():
            if not isinstance(outcome, KafkaException):
                results[subject] = outcome
            elif outcome.args[0].code() not in _ABSENT:
                raise self._translated(outcome) from outcome
        return results

    def _outcomes(
        self,
        ask: Callable[[Sequence[K]], Mapping[K, Any]],
        subjects: Sequence[K],
        topic_of: Callable[[K], str] = lambda _: "",
    ) -> dict[K, Any]:
        """Return the result, or the `KafkaException`, per object of a batched call.

        `topic_of` returns the topic of an object; if this client has just created it, it must exist.
        """

        def passes(subject: K, error: KafkaError) -> bool:
            return may_pass(error) or (error.code() in _ABSENT and self._is_new(topic_of(subject)))

        with self._translating():
            found = outcomes(ask, subjects, passes, self._learn_leaders)
        if any(not isinstance(outcome, KafkaException) for outcome in found.values()):
            self._errors.forget()
        return found

    def _call(self, call: Callable[[], T]) -> T:
        with self._translating():
            answer = retried(call, self._learn_leaders)
        self._errors.forget()
        return answer

    @contextlib.contextmanager
    def _translating(self) -> Iterator[None]:
        try:
            yield
        except KafkaException as error:
            raise self._translated(error) from error
        except TimeoutError as error:
            raise self._without_answer("did not answer in time") from error

    def _described_cluster(self, **options: Any) -> Any:
        """Return the client's description of the cluster; a refusal of the connection is raised at once."""
        return self._call(
            lambda: self._answer(self._admin.describe_cluster(request_timeout=call_timeout_s(), **options))
        )

    def _answer(self, asked: Future[T]) -> T:
        """Return the answer to a request; raises `Refused` as soon as it is known why no broker will give one."""
        deadline, next_look = time.monotonic() + call_timeout_s(), 0.0
        while not asked.done() and time.monotonic() < deadline:
            wait([asked], _POLL_S)
            self._admin.poll(0)
            if (self._errors.are_all_down or self._errors.lack_token) and time.monotonic() >= next_look:
                self._require_no_refusal()
                next_look = time.monotonic() + LOOK_EVERY_S
        return asked.result(0)

    def _require_no_refusal(self) -> None:
        """Raise `Refused` if the listeners or the client show why the cluster refuses this connection."""
        attempt = attempt_of(self._config, self._errors.texts, are_all_down=self._errors.are_all_down)
        if found := refusal(self.name, attempt, datetime.now(UTC)):
            raise Refused([found])

    def _without_answer(self, what: str) -> Exception:
        """Return the error for a call without an answer: a refusal if its reason is known, else a temporary one."""
        self._admin.poll(0)
        try:
            self._require_no_refusal()
        except Refused as refused:
            return refused
        reported = f" ({self._errors.texts[-1]})" if self._errors.texts else ""
        return TransientError(f"{self.name} {what}{reported}")

    def _learn_leaders(self) -> None:
        """Fetch all topics again: until then, librdkafka uses the old leaders."""
        with contextlib.suppress(KafkaException):
            self._all_topics()

    def _all_topics(self) -> Any:
        """Return the client's metadata of every topic that it may describe."""
        with without_collections():
            return self._admin.list_topics(timeout=call_timeout_s())

    def _is_new(self, topic: str) -> bool:
        return topic in self._made_at and time.monotonic() < self._made_at[topic] + NEW_FOR_S

    def _translated(self, exception: KafkaException) -> Exception:
        """Convert a client error: a denial is a refusal, every other error may be temporary."""
        error = exception.args[0]
        if error.code() in _DENIED:
            return Refused(
                [
                    Finding(
                        Code.RIGHT_MISSING,
                        self.name,
                        error.str(),
                        "a user with the rights that a migration needs",
                        "Grant the missing right to the user of this cluster's Airflow connection. Then run the "
                        "command again, or clear the task with its downstream tasks.",
                        happened=f"The cluster {self.name} denied a request: {error.str()}.",
                        matters="The request had no effect, and the task or command that sent it stopped.",
                    )
                ]
            )
        if error.code() in {KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._ALL_BROKERS_DOWN}:
            return self._without_answer(f"did not answer: {error.str()}")
        return TransientError(f"{self.name}: {error.str()}")


class ReportedErrors:
    """The latest errors that librdkafka reports about its connections, oldest first, and whether any broker is up.

    It is a callback `error_cb`; `then` is that of the connection, which is called as well.
    """

    def __init__(self, then: Callable[[KafkaError], object] | None = None) -> None:
        self._then = then
        self._texts: deque[str] = deque(maxlen=64)
        self.are_all_down = False

    def __call__(self, error: KafkaError) -> None:
        """Remember an error."""
        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            self.are_all_down = True
        else:
            self._texts.append(error.str())
        if self._then is not None:
            self._then(error)

    @property
    def lack_token(self) -> bool:
        """Whether the client got no OAuth token; without one it connects to no broker."""
        return any(map(lacks_token, self._texts))

    @property
    def texts(self) -> tuple[str, ...]:
        """The errors in librdkafka's words, which name the listener."""
        return tuple(self._texts)

    def forget(self) -> None:
        """Forget all errors, because a broker has answered."""
        self._texts.clear()
        self.are_all_down = False


def chunks(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Yield the items in chunks of this size, in order; the last one may be smaller."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def reader_settings(config: Mapping[str, Any], isolation: IsolationLevel) -> dict[str, Any]:
    """Return the settings of a consumer without a shared group that commits nothing and reports partition ends."""
    return {
        **config,
        "group.id": f"kafka-migration-reader-{uuid.uuid4()}",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        "isolation.level": isolation,
        # The greatest possible: librdkafka closes the connection instead of receiving a larger batch, again and again.
        "receive.message.max.bytes": 2**31 - 1,
        "logger": quiet_logger(),
    }


def quiet_logger() -> Any:
    """Return a logger that keeps librdkafka's connection messages out of task logs; errors are raised anyway."""
    logger = logging.getLogger("kafka_migration.librdkafka")
    logger.setLevel(logging.CRITICAL)
    return logger
