"""Retries requests to a cluster while the error is transient; the only retries of the sandbox and the live tests."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import KafkaError, KafkaException

from sandbox.errors import SandboxError

TIMEOUT_S = 120.0
PAUSE_S = 0.2
# The errors for a topic, leader or coordinator that is being created, and for a broker that is slow or starting. They
# last longer on a loaded machine.
PASSING = frozenset(
    {
        *(KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION),
        *(KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError.FENCED_LEADER_EPOCH, KafkaError.KAFKA_STORAGE_ERROR),
        *(KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.NOT_COORDINATOR),
        *(KafkaError.REQUEST_TIMED_OUT, KafkaError.NETWORK_EXCEPTION, KafkaError.NOT_CONTROLLER),
        *(KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._WAIT_COORD, KafkaError._ALL_BROKERS_DOWN),
        # librdkafka's own errors for a new topic that the requested broker does not know yet; _NOENT is "no leaders".
        *(KafkaError._NOENT, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION),
    }
)
Answer = TypeVar("Answer")


def asked(question: Callable[[], Answer], what: str, timeout_s: float = TIMEOUT_S) -> Answer:
    """Return the answer to a repeatable request as soon as there is one.

    Raises:
        SandboxError: the error is not transient, or lasts too long.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return question()
        except (KafkaException, TimeoutError) as error:
            refusal = error.args[0] if isinstance(error, KafkaException) else KafkaError(KafkaError._TIMED_OUT)
            if refusal.code() not in PASSING or time.monotonic() > deadline:
                raise SandboxError(f"{what}: {refusal.str()}") from error
            time.sleep(PAUSE_S)
