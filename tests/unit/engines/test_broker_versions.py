"""Rules of brokers that are too old for MirrorMaker."""

from __future__ import annotations

import pytest

from kafka_migration.engines.required_versions import PROTOCOL, old_broker_findings


@pytest.mark.parametrize(
    ("mirror", "protocol", "expected"),
    [
        ("4.0.0", "2.0-IV1", 1),
        ("4.2.1", "0.11.0-IV2", 1),
        ("4.0.0", "2.1-IV2", 0),
        ("4.0.0", "3.9-IV0", 0),
        ("3.9.1", "0.11.0-IV2", 0),
        ("", "2.0-IV1", 0),
        ("4.0.0", "", 0),
    ],
)
def test_kafka_4_needs_brokers_of_2_1(mirror: str, protocol: str, expected: int) -> None:
    """MirrorMaker of Kafka 4 refuses older brokers; brokers of Kafka 4 do not have the setting at all."""
    brokers = {1: {PROTOCOL: "3.9-IV0"}, 2: {PROTOCOL: protocol}, 3: {}}

    assert expected == len(list(old_broker_findings("source", brokers, mirror)))
