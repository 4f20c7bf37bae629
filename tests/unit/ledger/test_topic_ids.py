"""Rules of topic ids, which brokers before Kafka 2.8 do not give."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from confluent_kafka import Uuid

from kafka_migration.adapters.kafka.confluent_cluster import topic_id_of
from kafka_migration.core.kafka.cluster import TopicDescription
from kafka_migration.core.ledger.cutovers import CreatedTopic
from kafka_migration.core.ledger.ledger import Ledger
from kafka_migration.core.target.target_topics import recreated_findings


def test_id_of_zeros_is_none() -> None:
    """The client shows an id that was not given as zeros; that is no id, and every other is kept as it is."""
    assert "" == topic_id_of(SimpleNamespace(topic_id=Uuid(0, 0)))
    assert "AAAAAAAAAAEAAAAAAAAAAg" == topic_id_of(SimpleNamespace(topic_id=Uuid(1, 2)))


@pytest.mark.parametrize(
    ("present", "known", "is_another"), [("a", "a", False), ("a", "b", True), ("", "b", False), ("a", "", False)]
)
def test_only_two_known_ids_tell_topics_apart(present: str, known: str, is_another: bool) -> None:
    """An id that is not known is not another one: a cluster that is upgraded begins to give ids."""
    topic = TopicDescription("orders", present, 1, {})
    ledger = Ledger(topics={"orders": CreatedTopic(known, {})})

    assert is_another == topic.is_another_than(known)
    assert is_another == bool(recreated_findings({"orders": topic}, ledger))
    assert not topic.is_another_than(None)
