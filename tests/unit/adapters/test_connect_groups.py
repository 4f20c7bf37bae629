"""The addresses in what the workers of Kafka Connect tell their group."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException

from kafka_migration.adapters.kafka.kafka_client import may_pass
from kafka_migration.adapters.kafka.kafka_groups import rest_address

URL = b"http://w1:8083/"
TOLD = b"\x00\x0f" + URL + b"\xff" * 8


@pytest.mark.parametrize("version", [b"\x00\x00", b"\x00\x01", b"\x00\x02"])
def test_address_is_in_every_version(version: bytes) -> None:
    """Each version of Connect's protocol begins with the version and the address."""
    assert URL.decode() == rest_address("connect", version + TOLD)


@pytest.mark.parametrize(
    "metadata", [b"", b"\x00\x02", b"\x00\x02\x00\x00", b"\x00\x02\x00\x0fhttp", b"\x00\x02\xff\xff"]
)
def test_address_that_is_not_shown_is_asked_again(metadata: bytes) -> None:
    """While a group rebalances, its brokers show no address: that is no answer, and the question is repeated."""
    with pytest.raises(KafkaException) as error:
        rest_address("connect", metadata)

    assert may_pass(error.value.args[0])
