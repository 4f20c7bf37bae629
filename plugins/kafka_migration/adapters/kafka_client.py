"""Common parts of all calls to a Kafka cluster: the admin client, timeouts, and error translation."""

from __future__ import annotations

import contextlib
import logging
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from kafka_migration.adapters.kafka_retries import call_timeout_s, may_pass, outcomes, retried
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused, TransientError
from kafka_migration.core.kafka.cluster import IsolationLevel

T = TypeVar("T")
K = TypeVar("K")

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
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError._AUTHENTICATION,
}
# Brokers learn of a new topic one after the other. For this long, a call is repeated if a broker does not know it.
NEW_FOR_S = 60.0


class ClusterClient:
    """One cluster, reached with the librdkafka settings of an Airflow connection.

    `name` is its name in findings, for example `source (demo_source)`.
    """

    def __init__(self, name: str, config: Mapping[str, Any]) -> None:
        self.name = name
        self._config = dict(config)
        self._admin = AdminClient({**self._config, "logger": quiet_logger()})
        self._made_at: dict[str, float] = {}

    def _results(
        self,
        ask: Callable[[Sequence[K]], Mapping[K, Any]],
        subjects: Sequence[K],
        topic_of: Callable[[K], str] = lambda _: "",
    ) -> dict[K, Any]:
        """Return the result per object of a batched call, without objects that do not exist."""
        results = {}
        for subject, outcome in self._outcomes(ask, subjects, topic_of).items():
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

        try:
            return outcomes(ask, subjects, passes, self._learn_leaders)
        except KafkaException as error:
            raise self._translated(error) from error
        except TimeoutError as error:
            raise TransientError(f"{self.name} did not answer in time") from error

    def _call(self, call: Callable[[], T]) -> T:
        try:
            return retried(call, self._learn_leaders)
        except KafkaException as error:
            raise self._translated(error) from error
        except TimeoutError as error:
            raise TransientError(f"{self.name} did not answer in time") from error

    def _learn_leaders(self) -> None:
        """Fetch all topics again: until then, librdkafka uses the old leaders."""
        with contextlib.suppress(KafkaException):
            self._admin.list_topics(timeout=call_timeout_s())

    def _is_new(self, topic: str) -> bool:
        return topic in self._made_at and time.monotonic() < self._made_at[topic] + NEW_FOR_S

    def _translated(self, exception: KafkaException) -> Exception:
        """Convert a client error: a denial is a refusal, every other error may be temporary."""
        error = exception.args[0]
        if error.code() in _DENIED:
            return Refused(
                [
                    Finding(
                        Code.CONNECTION_INVALID,
                        self.name,
                        error.str(),
                        "a login that may describe, read and (on the target) create and write the topics",
                        "Correct the credentials in the Airflow connection, or grant the missing permission.",
                    )
                ]
            )
        return TransientError(f"{self.name}: {error.str()}")


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
        "logger": quiet_logger(),
    }


def quiet_logger() -> Any:
    """Return a logger that keeps librdkafka's connection messages out of task logs; errors are raised anyway."""
    logger = logging.getLogger("kafka_migration.librdkafka")
    logger.setLevel(logging.CRITICAL)
    return logger
