"""Topics that a run creates take what the source holds."""

from __future__ import annotations

import errno
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.adapters.store import local_files
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Refused
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.orchestration.task.failures import FailedForNow
from sandbox.sandbox import Sandbox
from tests.live.stage import BEFORE_START, Stage, set_the_stage

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


def test_topics_whose_creation_was_not_recorded_are_adopted(
    brokers: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Regression: after a full evidence disk the created topics were foreign, and their retention was not restored."""
    set_the_stage(brokers, tmp_path, monkeypatch)
    topics = ["unrecorded-compacted", "unrecorded-plain"]
    stage = Stage(brokers, "unrecorded", tmp_path, topics)
    stage.create(topics[0], 3, cleanup_policy="compact,delete", max_message_bytes="2000000", segment_ms="0700000")
    stage.create(topics[1], 1, retention_ms="86400000", compression_type="zstd")
    real = local_files._write_flushed

    def full(file: Any, text: str) -> None:
        if '"topics-created"' in text:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(file, text)

    try:
        with monkeypatch.context() as patched:
            patched.setattr(local_files, "_write_flushed", full)
            with pytest.raises(FailedForNow, match="EVIDENCE_NOT_WRITABLE"):
                stage.do(*BEFORE_START)
        lost = stage.run.ledger.read()
        stage.next_run()
        stage.do(*BEFORE_START)
        warned = [finding["code"] for finding in stage.run.evidence.require(Kind.PREFLIGHT)["warnings"]]
        found = stage.run.ledger.read()
        described = stage.run.describe("target")
    finally:
        stage.end()

    assert (set(topics), {}) == (set(lost.announced), lost.topics)
    assert {name: description.topic_id for name, description in described.items()} == {
        name: created.topic_id for name, created in found.topics.items()
    }
    assert {"retention.ms": "86400000", "retention.bytes": None} == dict(found.topics[topics[1]].frozen_configs)
    assert ({}, False) == (found.announced, "TOPIC_CONFIG_DIFFERS" in warned)
