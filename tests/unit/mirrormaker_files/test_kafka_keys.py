"""The table of Kafka's configuration keys."""

from __future__ import annotations

import pytest

from kafka_migration.kafka_tables.kafka_keys import kafka_keys
from kafka_migration.mirrormaker_files.model.lint_finding import minor

pytestmark = pytest.mark.unit


# From Kafka's improvement proposals and its upgrade notes, not from the table.
@pytest.mark.parametrize(
    ("role", "name", "first", "last"),
    [
        ("mirror_source", "topics", "2.4", "4.3"),
        ("mirror_source", "topics.blacklist", "2.4", "3.9"),
        ("mirror_source", "topics.exclude", "2.7", "4.3"),
        ("mirror_checkpoint", "groups.exclude", "2.7", "4.3"),
        ("mirror_checkpoint", "sync.group.offsets.enabled", "2.7", "4.3"),
        ("mirror_source", "offset-syncs.topic.location", "3.0", "4.3"),
        ("mirror_source", "use.incremental.alter.configs", "3.5", "3.9"),
        ("mirror_source", "add.source.alias.to.metrics", "3.5", "3.9"),
        ("mirror_source", "heartbeats.replication.enabled", "4.0", "4.3"),
        ("connect_worker", "exactly.once.source.support", "3.3", "4.3"),
        ("mirror_maker", "dedicated.mode.enable.internal.rest", "3.5", "4.3"),
        ("connect_source", "topic.creation.groups", "2.6", "4.3"),
        ("connect_source", "exactly.once.support", "3.3", "4.3"),
        ("connect_source", "transaction.boundary.interval.ms", "3.3", "4.3"),
        ("connect_source", "offsets.storage.topic", "3.3", "4.3"),
        ("mirror_source", "tasks.max.enforce", "3.8", "4.3"),
        ("consumer", "group.protocol", "3.7", "4.3"),
        ("producer", "acks", "2.4", "4.3"),
    ],
)
def test_keys_have_the_versions_that_kafka_announced(role: str, name: str, first: str, last: str) -> None:
    """A key's first and last version are those of Kafka's announcements."""
    key = kafka_keys().get(role, name)

    assert key is not None
    assert (minor(key.versions[0]), minor(key.versions[-1])) == (first, last)


def test_defaults_change_with_versions() -> None:
    """The table has a default for each version that changed it."""
    linger = kafka_keys().get("producer", "linger.ms")

    assert linger is not None
    assert dict(linger.defaults) == {"2.4.1": "0", "4.0.2": "5"}


def test_similar_names_are_found_in_upper_and_lower_case() -> None:
    """The nearest name is one of the given roles."""
    assert kafka_keys().nearest("Replication.Factor", ["mirror_source"]) == "replication.factor"
    assert kafka_keys().nearest("acks", ["mirror_source"]) is None
