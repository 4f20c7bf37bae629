"""The gap guard and the drain proof on real clusters, with a real MirrorMaker between them."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
from collections.abc import Callable

import pytest
from confluent_kafka import Producer

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.core.findings.errors import TransientError
from kafka_migration.core.kafka.cluster import NewTopic
from kafka_migration.core.kafka.offsets import TopicPartition
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.orchestration.operators.copying import (
    PlanOperator,
    PreflightOperator,
    ReserveOperator,
    StartMirrorOperator,
)
from kafka_migration.orchestration.task.failures import FailedForGood
from sandbox.environment import base_environment, java
from sandbox.jars import kafka_home
from tests.live.changed_basis import EDITS, findings_after_changes
from tests.live.stage import BEFORE_START, Stage
from tests.waiting import wait_until

pytestmark = pytest.mark.live

TRANSACTION_TIMEOUT_S = 30
# How long a broker of the sandbox may take to look for what its retention deletes.
RETENTION_TIMEOUT_S = 180
SMALL = 100


def numbered(first: int, count: int, size: int = 8) -> list[bytes]:
    """Return values that differ."""
    return [b"%08d" % number + b"." * (size - 8) for number in range(first, first + count)]


@pytest.mark.campaign
def test_real_retention_that_overtakes_the_copy_is_refused_with_its_range(new_stage: Callable[..., Stage]) -> None:
    """Records that the source's retention deleted before they were copied refuse the next run, with the exact range."""
    stage = new_stage()
    (topic,) = stage.topics
    stage.create(topic, segment_bytes="1000")
    stage.produce(topic, *numbered(0, 5))
    stage.sync()
    for first in range(5, 205, 20):
        stage.produce(topic, *numbered(first, 20))
    stage.configure(stage.source, topic, retention_ms="1000")
    wait_until(lambda: stage.source_offsets(topic)[0] > 5, RETENTION_TIMEOUT_S, "retention")
    stage.configure(stage.source, topic, retention_ms="-1")
    stage.do(PreflightOperator, ReserveOperator)
    log_start, _ = stage.source_offsets(topic)

    with pytest.raises(FailedForGood, match=rf"GAP · {topic}\[0\].*offsets 5–{log_start - 1:,} of .* before"):
        stage.do(PlanOperator)

    assert stage.run.process.status().generation == 1


def _transact(stage: Stage, topic: str, partition: int, values: list[bytes], *, commit: bool) -> None:
    producer = Producer({**stage.source, "transactional.id": f"{topic}-{partition}"})
    producer.init_transactions(TRANSACTION_TIMEOUT_S)
    producer.begin_transaction()
    for value in values:
        producer.produce(topic, value=value, partition=partition)
    # An abort drops what was not sent yet.
    producer.flush(TRANSACTION_TIMEOUT_S)
    (producer.commit_transaction if commit else producer.abort_transaction)(TRANSACTION_TIMEOUT_S)


def test_markers_holes_and_empty_partitions_are_proved_drained(new_stage: Callable[..., Stage]) -> None:
    """Trailing commit and abort markers, a partition of aborted records only, a purged one and a never written one.

    They are proved, the proved ends are certified, and the markers' deletion afterwards is no gap.
    """
    stage = new_stage()
    (topic,) = stage.topics
    stage.create(topic, partitions=5)
    _transact(stage, topic, 0, numbered(0, 10), commit=True)
    _transact(stage, topic, 1, numbered(0, 3), commit=True)
    _transact(stage, topic, 1, numbered(3, 3), commit=False)
    _transact(stage, topic, 2, numbered(0, 3), commit=False)
    stage.produce(topic, *numbered(0, 7), partition=3)
    stage.purge(topic, 3, 7)
    ends = {0: 11, 1: 8, 2: 4, 3: 7, 4: 0}
    wait_until(lambda: {p: stage.source_offsets(topic, p)[1] for p in ends} == ends, what="the markers")

    assert stage.sync()["outcome"] == "drained"
    certified = stage.run.ledger.read().last_stop
    stage.purge(topic, 0, 11)
    stage.do(*BEFORE_START)

    assert certified is not None
    assert {TopicPartition(topic, p): end for p, end in ends.items()} == certified.mirror_positions
    assert numbered(0, 10) + numbered(0, 3) == stage.copied_values(topic)


def test_offsets_after_an_open_transaction_are_told_and_copied_later(
    new_stage: Callable[..., Stage], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run ends at the last stable offset and says what it leaves; the run after the commit copies it.

    Between the runs, each change of what the copy depends on is refused with one finding, and undone.
    """
    stage = new_stage()
    (topic,) = stage.topics
    stage.create(topic)
    stage.produce(topic, *numbered(0, 11))
    producer = Producer({**stage.source, "transactional.id": topic})
    producer.init_transactions(TRANSACTION_TIMEOUT_S)
    producer.begin_transaction()
    producer.produce(topic, value=b"open", partition=0)
    assert producer.flush(TRANSACTION_TIMEOUT_S) == 0
    stage.produce(topic, *numbered(12, 21))

    assert stage.sync()["outcome"] == "drained"
    first = stage.run.ledger.read().last_stop
    found = [f["found"] for f in _told_at_the_stop(stage, 1)]
    changed = findings_after_changes(stage, monkeypatch)
    producer.commit_transaction(TRANSACTION_TIMEOUT_S)
    wait_until(lambda: stage.source_offsets(topic)[1] == 34, what="the marker")
    stage.sync()
    last = stage.run.ledger.read().last_stop

    assert {
        "exchanged": ["CLUSTER_CHANGED"],
        "same": ["CLUSTER_CHANGED"],
        **{setting: ["COPY_BASIS_CHANGED"] for setting in EDITS},
    } == {name: codes for name, codes in changed.items() if name != "removed"}
    # Preflight passes, and has warnings of this machine's Spark beside this one.
    assert "TOPICS_REMOVED" == changed["removed"][0]
    assert first is not None
    assert last is not None
    partition = TopicPartition(topic, 0)
    assert (11, {partition: (11, 33)}) == (first.mirror_positions[partition], first.held_back)
    assert f"22 offsets after an open transaction: {topic}[0] offsets 11–32, first record of 20" in found[0]
    assert (34, {}, []) == (last.mirror_positions[partition], last.held_back, _told_at_the_stop(stage, stage.runs - 1))
    assert [*numbered(0, 11), b"open", *numbered(12, 21)] == stage.copied_values(topic)


def _told_at_the_stop(stage: Stage, number: int) -> list[dict[str, str]]:
    """Return what the stop of a run says about open transactions."""
    (path,) = stage.folder.glob(f"evidence/{stage.name}/**/manual__{number}-*/**/*-stop-*.json")
    told: list[dict[str, str]] = json.loads(path.read_text())["open_transactions"]
    return told


@pytest.mark.campaign
def test_hole_that_compaction_left_is_proved_drained(new_stage: Callable[..., Stage]) -> None:
    """Offsets that compaction took away before the goal are nothing to copy."""
    stage = new_stage()
    (topic,) = stage.topics
    stage.create(
        topic,
        cleanup_policy="compact",
        min_cleanable_dirty_ratio="0.001",
        segment_ms="500",
        max_compaction_lag_ms="500",
    )
    for number in range(12):
        stage.produce(topic, b"%d" % number, key=b"same")
    _transact(stage, topic, 0, [], commit=True)
    partition = TopicPartition(topic, 0)

    def compacted() -> bool:
        # A new segment comes with a record only, and the newest is never compacted.
        stage.produce(topic, b"new", key=b"same")
        met = stage.source_cluster.probe({partition: 0}, "read_committed")
        return met[partition].offset > 10

    wait_until(compacted, RETENTION_TIMEOUT_S, "compaction")

    assert stage.sync()["outcome"] == "drained"
    assert stage.copied_values(topic)[-1] == b"new"


@pytest.mark.campaign
def test_source_topic_made_anew_is_refused(new_stage: Callable[..., Stage]) -> None:
    """A source topic that was deleted, made anew and filled beyond the old position is not the one that was copied."""
    stage = new_stage()
    (topic,) = stage.topics
    stage.create(topic)
    stage.produce(topic, *numbered(0, 5))
    stage.sync()
    stage.delete(topic)
    wait_until(lambda: not stage.source_cluster.describe_topics([topic]), what="the topic's end")
    stage.create(topic)
    stage.produce(topic, *numbered(100, 9))

    with pytest.raises(FailedForGood, match=rf"SOURCE_TOPIC_RECREATED · topic {topic}"):
        stage.do(*BEFORE_START)


def test_source_topic_that_is_created_again_ends_the_watch(new_stage: Callable[..., Stage]) -> None:
    """The watch ends at its next poll, the stop and the next run name the same topic, and the other one continues."""
    stage = new_stage("renewed", "other")
    renewed, other = stage.topics
    for topic in stage.topics:
        stage.create(topic)
        stage.produce(topic, *numbered(0, 5))
    stage.start()
    wait_until(lambda: len(stage.copied_values(renewed)) == 5, what="the first records")
    stage.delete(renewed)
    wait_until(lambda: not stage.source_cluster.topic_ids([renewed]), what="the topic's end")
    stage.create(renewed)
    stage.produce(renewed, *numbered(100, 9))

    event = stage.watch()
    with pytest.raises(FailedForGood):
        stage.complete(event)
    with pytest.raises(FailedForGood, match=rf"SOURCE_TOPIC_RECREATED · topic {renewed}"):
        stage.stop()
    stage.next_run()
    with pytest.raises(FailedForGood, match=rf"SOURCE_TOPIC_RECREATED · topic {renewed}"):
        stage.do(*BEFORE_START)
    stage.next_run()
    stage.write_file([other])
    stage.produce(other, *numbered(5, 5))

    assert [("SOURCE_TOPIC_RECREATED", f"topic {renewed}")] == [(f["code"], f["subject"]) for f in event["findings"]]
    assert stage.sync()["outcome"] == "drained"
    assert numbered(0, 10) == stage.copied_values(other)


@pytest.mark.campaign
def test_topic_taken_out_of_the_file_gets_no_further_record(new_stage: Callable[..., Stage]) -> None:
    """MirrorMaker starts from no stored configuration: what the file does not name any more is not copied."""
    stage = new_stage("kept", "dropped")
    kept, dropped = stage.topics
    for topic in stage.topics:
        stage.create(topic)
        stage.produce(topic, *numbered(0, 5))
    stage.sync()
    stage.write_file([kept])
    for topic in (kept, dropped):
        stage.produce(topic, *numbered(5, 200))

    stage.sync()

    assert numbered(0, 205) == stage.copied_values(kept)
    assert numbered(0, 5) == stage.copied_values(dropped)


@pytest.mark.campaign
@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
@pytest.mark.parametrize("cause", ["RECORD_TOO_LARGE", "RECORD_WITHOUT_KEY", "RECORD_TIME_REFUSED", "lowered"])
def test_record_that_cannot_be_copied_is_named(new_stage: Callable[..., Stage], engine: str, cause: str) -> None:
    """Both engines: one code for one cause, with the record's offset and MirrorMaker's words; others continue.

    The fourth cause is a limit of the target that was lowered after MirrorMaker's start: the broker refuses the record.
    """
    stage = new_stage("bad", "good", engine=engine)
    bad, good = stage.topics
    stage.create(bad, partitions=2)
    stage.create(good)
    for topic in stage.topics:
        stage.produce(topic, *numbered(0, 5), key=b"k")
    stage.do(*BEFORE_START)
    limit = {"max_message_bytes": "2000"}
    if cause != "lowered":
        stage.configure(stage.target, bad, **(limit if cause == "RECORD_TOO_LARGE" else {"cleanup_policy": "compact"}))
    value, key, time_ms = {
        "RECORD_WITHOUT_KEY": (b"x", None, 0),
        "RECORD_TIME_REFUSED": (b"x", b"k", -5),
    }.get(cause, (b"x" * 9000, b"k", 0))
    stage.start()
    if cause == "lowered":
        stage.configure(stage.target, bad, **limit)
    for number in range(3):
        stage.produce(bad, b"%d" % number, key=b"k", partition=1)
    producer = Producer(stage.source)
    producer.produce(bad, value=value, key=key, partition=1, timestamp=time_ms)
    assert producer.flush(TRANSACTION_TIMEOUT_S) == 0
    stage.do(PlanOperator)

    event = stage.watch()
    with pytest.raises(FailedForGood):
        stage.complete(event)
    stage.stop()
    stage.next_run()
    stage.write_file([good])
    stage.produce(good, *numbered(5, 5))

    (finding,) = event["findings"]
    code = "RECORD_TOO_LARGE" if cause == "lowered" else cause
    assert (code, f"{bad}[1]") == (finding["code"], finding["subject"])
    assert "the record at offset 3, " in finding["found"]
    assert re.search(r"says: \S*Exception: |splitting and retrying", finding["found"])
    if cause == "RECORD_TOO_LARGE":
        assert f"{9088:,} bytes when it is sent" in finding["found"]
        assert "The message is 9088 bytes" in finding["found"]
    assert stage.sync()["outcome"] == "drained"
    assert {*numbered(0, 10)} == set(stage.copied_values(good))


@pytest.mark.campaign
def test_dead_worker_ends_the_run_at_once_and_its_remedy_works(new_stage: Callable[..., Stage]) -> None:
    """MirrorMaker's worker ends although its process lives: the cause is named, and preflight names it and a command.

    The topic of positions is not compacted. After the command the same run is possible.
    """
    stage = new_stage()
    (topic,) = stage.topics
    offsets = InternalTopics.of(stage.name, 0).offsets
    target = ConfluentCluster("target", stage.target)
    stage.create(topic)
    stage.produce(topic, *numbered(0, 5))
    stage.do(*BEFORE_START)
    target.create_topics([NewTopic(offsets, 1, 1, {"cleanup.policy": "delete"})])
    stage.do(StartMirrorOperator)

    (finding,) = stage.watch()["findings"]
    stage.stop()
    stage.next_run()
    with pytest.raises(FailedForGood, match=f"MIRROR_TOPIC_UNFIT · topic {offsets} on the target") as refusal:
        stage.do(PreflightOperator)
    command = re.search(r"`kafka-configs\.sh (.*?)`", str(refusal.value))
    assert command is not None
    kafka_configs(stage, command[1])

    assert ("MIRROR_TOPIC_UNFIT", True) == (finding["code"], f"Topic '{offsets}' supplied via" in finding["found"])
    # A watch that waits for `stall_after` names the partitions without a task.
    assert "its worker has ended" in finding["found"]
    assert stage.sync()["outcome"] == "drained"
    assert numbered(0, 5) == stage.copied_values(topic)


def kafka_configs(stage: Stage, words: str) -> None:
    """Run Kafka's own tool with the words of a finding, its address replaced as the finding asks."""
    arguments = shlex.split(words.replace("<target>", stage.target["bootstrap.servers"]))
    libs = f"{kafka_home() / 'libs'}/*"
    environment = base_environment("tool")
    subprocess.run([java(environment), "-cp", libs, "kafka.admin.ConfigCommand", *arguments], check=True, timeout=120)


@pytest.mark.campaign
@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
def test_large_record_in_a_shared_batch_ends_the_run_and_loses_nothing(
    new_stage: Callable[..., Stage], engine: str
) -> None:
    """A batch that the target refuses is split for ever: the run ends, and the next one copies every record."""
    stage = new_stage(engine=engine, mirror='properties: {"producer.linger.ms": "500"}')
    (topic,) = stage.topics
    stage.create(topic)
    stage.produce(topic, *numbered(0, 5))
    stage.start()
    wait_until(lambda: len(stage.copied_values(topic)) == 5, what="the first records")
    stage.configure(stage.target, topic, max_message_bytes="3000")
    shared = [*numbered(5, 5, SMALL), b"x" * 4000, *numbered(10, 5, SMALL)]
    stage.produce(topic, *shared)
    stage.do(PlanOperator)

    event = stage.watch()
    with pytest.raises(FailedForGood):
        stage.complete(event)
    stage.stop()
    stage.next_run()
    stage.configure(stage.target, topic, max_message_bytes="1048588")
    stage.sync()

    (finding,) = event["findings"]
    assert ("RECORD_TOO_LARGE", f"{topic}[0]") == (finding["code"], finding["subject"])
    assert "the record at offset 10, " in finding["found"]
    assert {*numbered(0, 5), *shared} == set(stage.copied_values(topic))
    if engine == "mirrormaker2":
        assert [*numbered(0, 5), *shared] == list(dict.fromkeys(stage.copied_values(topic)))


@pytest.mark.campaign
def test_mirrormaker_that_is_killed_is_started_again(new_stage: Callable[..., Stage]) -> None:
    """A process that died while records are to be copied comes back as the next generation, and all is copied."""
    stage = new_stage()
    (topic,) = stage.topics
    stage.create(topic)
    stage.produce(topic, *numbered(0, 20))
    stage.do(*BEFORE_START)
    first = stage.do(StartMirrorOperator)

    os.kill(first["pid"], signal.SIGKILL)
    event = stage.watch()
    stage.complete(event)
    stage.stop()

    assert ("drained", 2) == (event["outcome"], event["generation"])
    assert numbered(0, 20) == list(dict.fromkeys(stage.copied_values(topic)))
    dead, living = stage.run.ledger.read().generations
    assert dead.stop is not None
    assert living.stop is not None
    assert (False, True) == (dead.stop.graceful, living.stop.graceful)


def planned(stage: Stage) -> bool:
    """Plan as Airflow does, which retries while a transaction is open; return whether there is a plan."""
    try:
        stage.do(PlanOperator)
    except TransientError:
        return False
    return True


@pytest.mark.campaign
def test_killed_exactly_once_makes_no_duplicate(new_stage: Callable[..., Stage]) -> None:
    """A killed MirrorMaker is certified when its open transaction has ended, and no record is there twice."""
    stage = new_stage(mirror="exactly_once: true")
    (topic,) = stage.topics
    stage.create(topic)
    stage.produce(topic, *numbered(0, 2000))
    stage.start()
    wait_until(lambda: len(stage.copied_values(topic)) >= 2000, what="the first records")
    stage.produce(topic, *numbered(2000, 50_000))
    os.kill(stage.run.process.status().pid or 0, signal.SIGKILL)
    wait_until(lambda: planned(stage), what="the end of the killed process's transaction")

    event = stage.watch()
    stage.complete(event)
    stage.stop()

    assert ("drained", 2) == (event["outcome"], event["generation"])
    assert numbered(0, 52_000) == stage.copied_values(topic)
