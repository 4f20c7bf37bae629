"""Asking a cluster again while its answer is one that passes: the one place of sandbox and live tests that retries."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import KafkaError, KafkaException

from sandbox.errors import SandboxError

TIMEOUT_S = 120.0
PAUSE_S = 0.2
# What a broker answers about a topic, a leader or a coordinator that is just coming to be, and what a client says of a
# broker that is slow or starts. A loaded machine makes these last; the same question is answered in a moment.
PASSING = frozenset(
    {
        *(KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE, KafkaError.NOT_LEADER_FOR_PARTITION),
        *(KafkaError.UNKNOWN_LEADER_EPOCH, KafkaError.FENCED_LEADER_EPOCH, KafkaError.KAFKA_STORAGE_ERROR),
        *(KafkaError.COORDINATOR_LOAD_IN_PROGRESS, KafkaError.COORDINATOR_NOT_AVAILABLE, KafkaError.NOT_COORDINATOR),
        *(KafkaError.REQUEST_TIMED_OUT, KafkaError.NETWORK_EXCEPTION, KafkaError.NOT_CONTROLLER),
        *(KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._WAIT_COORD, KafkaError._ALL_BROKERS_DOWN),
        # librdkafka's own words for a new topic that the broker it asked has not heard of yet; _NOENT is "no leaders".
        *(KafkaError._NOENT, KafkaError._UNKNOWN_TOPIC, KafkaError._UNKNOWN_PARTITION),
    }
)
Answer = TypeVar("Answer")


def asked(question: Callable[[], Answer], what: str, timeout_s: float = TIMEOUT_S) -> Answer:
    """Return the answer to a question that may be put again, as soon as there is one.

    Raises:
        SandboxError: the answer is an error that does not pass, or has not passed within the time.
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
