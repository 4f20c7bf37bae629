"""Faults on real parts: the first finding names the cause, and the run succeeds after its remedy, taken literally."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

import pytest
from airflow.sdk import BaseOperator
from confluent_kafka import Producer

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.cli.main import main
from kafka_migration.engines.mirrormaker2_topics import InternalTopics
from kafka_migration.migration_file.loading import MAX_FILE_BYTES
from kafka_migration.orchestration.operators.copying import PreflightOperator, ReserveOperator
from kafka_migration.orchestration.task.failures import FailedForGood
from sandbox.jars import kafka_home
from sandbox.sandbox import Sandbox
from sandbox.security.kdc import USER
from tests.live.stage import BEFORE_START, Stage, connect_by, set_the_stage
from tests.small_disk import small_disk
from tests.waiting import wait_until

pytestmark = pytest.mark.live

FLUSH_S = 60
# Kafka's scripts, which the jars do not have.
TOOLS = {
    "kafka-acls.sh": "kafka.admin.AclCommand",
    "kafka-consumer-groups.sh": "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
}


def refused(stage: Stage, *operators: type[BaseOperator]) -> list[str]:
    """Return the findings of the task that is refused, as its log shows them."""
    with pytest.raises(FailedForGood) as failed:
        stage.do(*operators)
    return str(failed.value).splitlines()


def first_finding(stage: Stage, *operators: type[BaseOperator]) -> str:
    """Return the first finding of the task that is refused, and end the run."""
    first = refused(stage, *operators)[0]
    stage.next_run()
    return first


def edit(stage: Stage, old: str, new: str) -> None:
    """Replace a part of the migration file."""
    file = stage.folder / "migrations" / f"{stage.name}.yaml"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """Run a command of ours; return its exit code and its first finding, in one line."""
    capsys.readouterr()
    code = main(words)
    first, *rest = capsys.readouterr().err.splitlines() or [""]
    return code, " ".join((first, *map(str.strip, takewhile(lambda line: line.startswith("  "), rest))))


def values(first: int, count: int = 5) -> list[bytes]:
    """Return values that differ."""
    return [b"%d" % number for number in range(first, first + count)]


def test_file_that_cannot_work(new_stage: Callable[..., Stage], capsys: pytest.CaptureFixture[str]) -> None:
    """Each mistake is the first finding of `check` or `plan`; with the values that the findings ask for the run works.

    So does a run after the ledger was restored, of which an entry was lost.
    """
    stage = new_stage()
    (topic,) = stage.topics
    skipped = f"{topic}.replica"
    for name in (topic, skipped):
        stage.create(name)
        stage.produce(name, *values(0))
    assert (0, "") == told(capsys, "check", stage.name)

    edit(stage, "version: 1", f"version: 1\n#{'x' * MAX_FILE_BYTES}\n")
    code, large = told(capsys, "check", stage.name)
    stage.write_file()
    edit(stage, "tasks: 1", "tasks: 0777")
    octal = told(capsys, "check", stage.name)
    edit(stage, "tasks: 0777", "tasks: 1")
    edit(stage, "lease: 3m", "lease: 2s")
    lease = told(capsys, "check", stage.name)
    least = re.search(r"mirror\.lease is '2s'\. .*Write at least (\w+): twice watch\.poll_interval", lease[1])
    assert least is not None, lease
    edit(stage, "lease: 2s", f"lease: {least[1]}")
    edit(stage, f"topics: [{topic}]", f"topics: [{topic}, {skipped}]")
    never = told(capsys, "plan", stage.name)
    edit(stage, "engine: mirrormaker2", "engine: mirrormaker1")
    planned = told(capsys, "plan", stage.name)

    assert (3, True) == (code, "MIGRATION_FILE_INVALID" in large and "the most that" in large), large
    assert (3, True) == (octal[0], "tasks is 0777, which YAML reads as the number 511" in octal[1]), octal
    assert (3, True) == (never[0], never[1].startswith("TOPIC_NEVER_COPIED · ")), never
    assert "Before the first run, set mirror.engine to mirrormaker1" in never[1]
    assert (0, "") == planned
    assert stage.sync()["outcome"] == "drained"
    assert [values(0)] * 2 == [stage.copied_values(name) for name in (topic, skipped)]
    require_ledger(stage)


def require_ledger(stage: Stage) -> None:
    """Lose the newest entry of the ledger; no run starts until the folder is restored."""
    (ledger,) = stage.folder.glob(f"evidence/**/{stage.name}/**/ledger")
    backup = shutil.copytree(ledger, stage.folder / "backup")
    max(path for path in ledger.iterdir() if path.suffix == ".json").unlink()

    finding = first_finding(stage, PreflightOperator)
    shutil.copytree(backup, ledger, dirs_exist_ok=True)

    assert finding.startswith("LEDGER_BROKEN · "), finding
    assert "restore the whole folder from a backup" in finding
    assert "trigger a new run" not in finding
    stage.do(*BEFORE_START)


@pytest.mark.campaign
def test_host_that_is_away_or_read_only(new_stage: Callable[..., Stage], capfd: pytest.CaptureFixture[str]) -> None:
    """A stopped sshd and a read-only disk are one finding each, without a traceback, and the run works after them."""
    stage = new_stage()
    (topic,) = stage.topics
    stage.create(topic)
    stage.produce(topic, *values(0))
    with small_disk(stage.host_folder, "300m"):
        try:
            stage.sandbox.kill("sshd")
            (away,) = refused(stage, PreflightOperator)
            stage.sandbox.restart("sshd")
            with read_only(stage.host_folder):
                (unwritten, *_) = refused(stage, PreflightOperator, ReserveOperator)
            stage.next_run()

            assert away.startswith("SSH_UNREACHABLE · "), away
            assert ("Connection refused" in away, "Errno" in away, "sshd runs on the host" in away) == (
                True,
                False,
                True,
            )
            assert unwritten.startswith("HOST_REFUSED · "), unwritten
            assert "Read-only file system" in unwritten
            assert "Traceback" not in "".join(capfd.readouterr())
            assert stage.sync()["outcome"] == "drained"
        finally:
            stage.end()
    assert values(0) == stage.copied_values(topic)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let a disk refuse writing for the time of the block."""
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", str(folder)], check=True)


@pytest.fixture
def tools(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that has Kafka's scripts."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, main_class in TOOLS.items():
        script = folder / name
        script.write_text(f"#!/bin/sh\nexec java -cp '{kafka_home()}/libs/*' {main_class} \"$@\"\n")
        script.chmod(0o755)
    (tmp_path / "admin.properties").write_text("")
    return {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}


@pytest.mark.campaign
def test_lost_positions_of_mirrormaker_1(new_stage: Callable[..., Stage], tools: dict[str, str]) -> None:
    """Lost positions of all partitions are one finding; its commands restore them, and nothing is copied twice."""
    stage = new_stage(engine="mirrormaker1")
    (topic,) = stage.topics
    stage.create(topic, partitions=3)
    for partition in range(3):
        stage.produce(topic, *values(10 * partition), partition=partition)
    stage.sync()
    group = f"kafka-migration-mirror-{stage.name}"
    source = stage.source["bootstrap.servers"]
    shell(tools, stage.folder, f"kafka-consumer-groups.sh --bootstrap-server {source} --delete --group {group}")
    stage.produce(topic, b"later")

    finding = first_finding(stage, *BEFORE_START)
    assert finding.startswith(f"POSITION_MISSING · {topic}[0], {topic}[1], {topic}[2]: "), finding
    commands = finding.partition("trigger the run again: ")[2].split("; ")
    assert len(commands) == 3
    for command in commands:
        shell(tools, stage.folder, command.replace("<source>", source))

    assert stage.sync()["outcome"] == "drained"
    # Without a key, MirrorMaker 1 puts records into any partition.
    assert sorted([*values(0), b"later", *values(10), *values(20)]) == sorted(filter(None, stage.copied_values(topic)))


def shell(environment: dict[str, str], folder: Path, command: str) -> None:
    """Run a command as a person would; it must succeed."""
    done = subprocess.run(["sh", "-ec", command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"


@pytest.mark.campaign
def test_truncated_source_and_lost_positions_of_mirrormaker_2(new_stage: Callable[..., Stage]) -> None:
    """A source that lost its newest records is not called a new topic; other topics continue, and it is copied again.

    So is a topic whose positions were deleted: one finding for all its partitions, and a copy under another name.
    """
    stage = new_stage("cut", "whole")
    cut, whole = stage.topics
    stage.create(cut)
    stage.create(whole, partitions=3)
    stage.produce(cut, *values(0))
    stage.produce(cut, *values(5))
    for partition in range(3):
        stage.produce(whole, *values(10 * partition), partition=partition)
    stage.sync()
    lose_the_last_batch(stage, cut)
    stage.produce(cut, *values(50, 9))

    truncated = first_finding(stage, *BEFORE_START)
    stage.write_file([whole])
    again = copied_again(stage, cut)
    stage.produce(whole, b"later")
    continued = stage.sync()["outcome"]
    target = ConfluentCluster("target", stage.target)
    offsets = InternalTopics.of(stage.name, 0).offsets
    target.delete_topics([offsets])
    wait_until(lambda: offsets not in target.topic_names(), 60, "the end of the topic of positions")
    missing = first_finding(stage, *BEFORE_START)
    (stage.folder / "migrations" / f"{stage.name}.yaml").unlink()
    whole_again = copied_again(stage, whole)

    assert truncated.startswith(f"SOURCE_TRUNCATED · {cut}[0]: "), truncated
    assert [*values(0), *values(50, 9)] == again
    assert "drained" == continued
    assert missing.startswith(f"POSITION_MISSING · {whole}[0], {whole}[1], {whole}[2]: "), missing
    assert [*values(0), b"later", *values(10), *values(20)] == whole_again


def copied_again(stage: Stage, topic: str) -> list[bytes | None]:
    """Copy a topic by a second migration into a second topic; return what is there."""
    other = Stage(stage.sandbox, f"{topic}-again", stage.folder, [topic], mirror="topic_names: {naming: prefixed}")
    try:
        assert other.sync()["outcome"] == "drained"
        return other.copied_values(f"{other.name}-source.{topic}")
    finally:
        other.end()


def lose_the_last_batch(stage: Stage, topic: str) -> None:
    """Truncate the source's log by its last batch, as the leader of an unclean election does."""
    ended = stage.source_offsets(topic)[1]
    stage.sandbox.kill("source")
    broker = stage.sandbox.state.pids["source"]
    wait_until(lambda: broker not in stage.sandbox.pids_alive(), 60, "the end of the broker")
    (folder,) = Path(stage.sandbox.state.mirror_home).parent.glob(f"source/**/{topic}-0")
    (log,) = folder.glob("*.log")
    raw = log.read_bytes()
    size = 12 + int.from_bytes(raw[8:12])
    log.write_bytes(raw[:size])
    stage.sandbox.restart("source")
    assert stage.source_offsets(topic)[1] < ended


@pytest.fixture
def secured_stage(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Stage]:
    """A migration whose logins have no right on clusters with an authorizer."""
    with Sandbox(tmp_path_factory.mktemp("secured"), airflow=False, secured=True) as sandbox:
        set_the_stage(sandbox, tmp_path, monkeypatch)
        connect_by("scram-sha-512", sandbox, monkeypatch)
        yield Stage(sandbox, "granted", tmp_path, ["granted"])


@pytest.mark.campaign
def test_rights_that_are_missing(
    secured_stage: Stage, tools: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    """All missing rights of a cluster are one finding, and its commands grant what the run needs."""
    stage = secured_stage
    stage.create("granted")
    stage.produce("granted", *values(0))
    stage.params["mode"] = "rehearse"
    first, *others = refused(stage, PreflightOperator)
    stage.next_run()
    findings = [line for line in (first, *others) if line.startswith("RIGHT_MISSING")]
    blind = told(capsys, "plan", stage.name)
    for finding, side in zip(findings, (stage.source, stage.target), strict=True):
        for command in finding.partition("then trigger the run again: ")[2].split("; "):
            assert f"User:{USER}" in command
            shell({**tools, "BOOTSTRAP": side["bootstrap.servers"]}, stage.folder, command)

    assert first.startswith("RIGHT_MISSING"), first
    assert (3, "RIGHT_MISSING") == (blind[0], blind[1].partition(" ")[0]), blind
    wait_until(lambda: told(capsys, "plan", stage.name)[0] == 0, 60, "the rights")
    stage.params["mode"] = "sync"
    assert stage.sync()["outcome"] == "drained"


def compressed(stage: Stage, topic: str, count: int, size: int) -> None:
    """Produce one small batch that is `count * size` bytes large once a consumer has read it."""
    total = 2 * count * size
    config = {"compression.type": "gzip", "linger.ms": 1000, "batch.size": total, "message.max.bytes": total}
    producer = Producer({**stage.source, **config, "queue.buffering.max.kbytes": total // 1000})
    for number in range(count):
        producer.produce(topic, b"%08d" % number + b"." * (size - 8), partition=0)
    assert producer.flush(FLUSH_S) == 0


@pytest.mark.campaign
@pytest.mark.parametrize("engine", ["mirrormaker2", "mirrormaker1"])
def test_heap_that_is_too_small(new_stage: Callable[..., Stage], engine: str) -> None:
    """A heap that cannot hold what one request brings is named with its size, and a raised one is enough."""
    stage = new_stage(engine=engine, mirror="restarts: 0")
    (topic,) = stage.topics
    stage.create(topic)
    compressed(stage, topic, 150, 1_000_000)
    edit(stage, "heap_mb: 256", "heap_mb: 128")
    stage.start()

    event = stage.watch()
    with pytest.raises(FailedForGood):
        stage.complete(event)
    stage.stop()
    stage.next_run()
    edit(stage, "heap_mb: 128", "heap_mb: 1024")

    (finding,) = event["findings"]
    assert "MIRROR_OUT_OF_MEMORY" == finding["code"], finding
    assert "says: java.lang.OutOfMemoryError: Java heap space" in finding["found"]
    assert "Raise mirror.heap_mb in the migration file, which is 128 now" in finding["remedy"]
    assert stage.sync()["outcome"] == "drained"
    assert 150 == len(set(stage.copied_values(topic)))
