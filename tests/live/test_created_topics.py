"""Topics that a run creates take what the source holds."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kafka_migration.adapters.kafka import ConfluentCluster
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.cluster import NewTopic
from sandbox.sandbox import Sandbox
from tests.live.stage import Stage, set_the_stage

pytestmark = [pytest.mark.live, pytest.mark.campaign]

TOPIC = "limited"
TWO_DAYS_MS = 2 * 24 * 3_600_000


def test_records_older_than_the_limit_of_their_topic_are_copied(
    brokers: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: the target refused records that the source took before its topic had a limit of timestamps."""
    set_the_stage(brokers, tmp_path, monkeypatch)
    stage = Stage(brokers, TOPIC, tmp_path, [TOPIC])
    stage.create(TOPIC)
    producer = Producer(stage.source)
    producer.produce(TOPIC, value=b"old", partition=0, timestamp=int(time.time() * 1000) - TWO_DAYS_MS)
    assert producer.flush(60) == 0
    stage.configure(stage.source, TOPIC, message_timestamp_difference_max_ms="3600000", message_format_version="2.4")
    try:
        outcome = stage.sync()["outcome"]
    finally:
        stage.end()

    assert "drained" == outcome
    assert [b"old"] == stage.copied_values(TOPIC)


@pytest.mark.parametrize("setting", ["message.timestamp.difference.max.ms", "message.format.version"])
def test_a_setting_that_kafka_4_lost_is_named(tmp_path: Path, setting: str) -> None:
    """A broker of Kafka 4 creates no topic with it; the refusal names topic and setting."""
    with Sandbox(tmp_path / "sandbox", airflow=False, versions={"target": "4.2.0"}) as running:
        target = ConfluentCluster("target", {"bootstrap.servers": running.state.target_bootstrap})
        with pytest.raises(Refused) as error:
            target.create_topics([NewTopic(TOPIC, 1, 1, {setting: "1"})])

    (finding,) = error.value.findings
    assert (Code.TOPIC_NOT_CREATED, True) == (finding.code, setting in finding.found)
    assert TOPIC in finding.subject
