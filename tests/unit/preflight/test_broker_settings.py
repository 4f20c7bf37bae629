"""Rules of the settings of the target's brokers."""

from __future__ import annotations

import pytest

from kafka_migration.preflight.clusters.target_checks import auto_create_warnings, topic_defaults


def test_strictest_broker_counts() -> None:
    """If brokers differ, a new topic may get the setting that limits most."""
    brokers = {
        1: {"message.max.bytes": "9", "min.insync.replicas": "1", "log.cleanup.policy": "delete"},
        2: {"message.max.bytes": "8", "min.insync.replicas": "2", "log.cleanup.policy": "compact,delete"},
        3: {"log.message.timestamp.after.max.ms": "7"},
    }
    expected = {
        "max.message.bytes": "8",
        "min.insync.replicas": "2",
        "cleanup.policy": "compact,delete",
        "message.timestamp.after.max.ms": "7",
    }

    assert expected == topic_defaults(brokers)


def test_unknown_settings_are_no_defaults() -> None:
    """What no broker shows, or shows as no number, is missing and not zero."""
    assert {} == topic_defaults({})
    assert {} == topic_defaults({1: {"message.max.bytes": "many"}})


@pytest.mark.parametrize(
    ("brokers", "expected"),
    [
        ({}, []),
        ({1: {}}, []),
        ({1: {"auto.create.topics.enable": "false"}}, []),
        ({1: {"auto.create.topics.enable": "false"}, 2: {"auto.create.topics.enable": "true"}}, ["1 of 2 brokers"]),
    ],
)
def test_created_topics_are_warned_of(brokers: dict[int, dict[str, str]], expected: list[str]) -> None:
    """One broker that creates topics is enough for a warning; an unknown setting is none."""
    found = [finding.found for finding in auto_create_warnings(brokers)]

    assert [f"auto.create.topics.enable true on {words}" for words in expected] == found
