"""Retries of calls to a cluster after temporary errors.

A leader moves, a coordinator loads its groups, a broker does not know a new topic yet: Kafka calls these errors
retriable, and librdkafka's admin calls return them. All attempts of a call share the timeout of one call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException

from kafka_migration.adapters.system.deadlines import at_most, time_left

T = TypeVar("T")
K = TypeVar("K")

CALL_TIMEOUT_S = 20.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 1.0
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
