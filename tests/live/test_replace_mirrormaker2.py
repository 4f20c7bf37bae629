"""The page about the replacement of a MirrorMaker 2: its commands, against real ones that copy."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kafka_migration.adapters.kafka.confluent_cluster import ConfluentCluster
from kafka_migration.cli.main import main
from kafka_migration.core.kafka.cluster import NewTopic
from sandbox.jars import kafka_home
from sandbox.parts import free_ports
from sandbox.sandbox import Sandbox
from tests.documents import all_blocks, joined_lines
from tests.live.groups import ends
from tests.live.old_mirrormaker2 import connect, connector, dedicated, mirror_file
from tests.live.stage import FILE, set_the_stage
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "replace-mirrormaker2.md"
TOPIC = "orders"
RECORDS = 40
TOOLS = {
    "kafka-get-offsets.sh": "org.apache.kafka.tools.GetOffsetShell",
    "kafka-topics.sh": "org.apache.kafka.tools.TopicCommand",
}


def commands() -> list[str]:
    """Return the commands of the page, in order; blocks inside of a list are indented."""
    text = "\n".join(line.removeprefix("    ") for line in PAGE.read_text().splitlines())
    return [line for fence, block in all_blocks(text) if fence == "sh" for line in joined_lines(block)]


PROCESS, STOP, SAVE, DELETE, PREFLIGHT, OFFSETS, PLAN, DELETE_TOPICS, PLAN_AGAIN = commands()


@dataclass
class Reader:
    """A person who follows the page with a migration of one topic."""

    brokers: Sandbox
    folder: Path
    capsys: pytest.CaptureFixture[str]
    table: Mapping[str, str] = field(default_factory=dict)

    @property
    def target(self) -> ConfluentCluster:
        """The cluster to which both copy."""
        return ConfluentCluster("target", {"bootstrap.servers": self.brokers.state.target_bootstrap})

    @property
    def copied(self) -> int:
        """How many records of the topic the target has."""
        if TOPIC not in self.target.topic_names():
            return 0
        return sum(ends({"bootstrap.servers": self.brokers.state.target_bootstrap}, TOPIC).values())

    def do(self, shown: str) -> str:
        """Run a command of the page in a shell; it must succeed."""
        for page, mine in self.table.items():
            shown = shown.replace(page, mine)
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(
            ["sh", "-ec", shown], cwd=self.folder, env={**os.environ, "PATH": path}, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ask(self, shown: str) -> tuple[int, str]:
        """Run a command of ours of the page; return its exit code and all that it printed."""
        code = main(shlex.split(shown)[1:])
        printed = self.capsys.readouterr()
        return code, printed.out + printed.err


@pytest.fixture
def reader(
    brokers: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Reader]:
    """The migration `shop` of the topic, which has records on the source; Kafka's scripts are on the PATH."""
    set_the_stage(brokers, tmp_path, monkeypatch)
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "shop.yaml").write_text(
        FILE.format(name="shop", topics=TOPIC, engine="mirrormaker2", mirror="")
    )
    (tmp_path / "bin").mkdir()
    for name, main_class in TOOLS.items():
        script = tmp_path / "bin" / name
        script.write_text(f"#!/bin/sh\nexec java -cp '{kafka_home()}/libs/*' {main_class} \"$@\"\n")
        script.chmod(0o755)
    made = Reader(brokers, tmp_path, capsys, {"new1.example:9092": brokers.state.target_bootstrap})
    source = ConfluentCluster("source", {"bootstrap.servers": brokers.state.source_bootstrap})
    source.create_topics([NewTopic(TOPIC, 1, 1, {})])
    produce(made, RECORDS)
    yield made
    for cluster in (source, made.target):
        cluster.delete_topics([TOPIC])


def produce(reader: Reader, count: int) -> None:
    producer = Producer({"bootstrap.servers": reader.brokers.state.source_bootstrap})
    for number in range(count):
        producer.produce(TOPIC, b"%d" % number)
    assert producer.flush(60) == 0


def test_process_is_stopped_and_its_copy_deleted(reader: Reader, tmp_path: Path) -> None:
    """A process is named by preflight until it has stopped; the run is refused until its copy is deleted."""
    state = reader.brokers.state
    # The name of the file has the folder in front, so that only this test's MirrorMaker is stopped.
    name = "connect-mirror-maker.properties"
    reader.table = {**reader.table, f"MirrorMaker {name}": f"MirrorMaker {tmp_path / name}"}
    with dedicated(tmp_path, mirror_file(state.source_bootstrap, state.target_bootstrap, TOPIC)) as old:
        wait_until(lambda: reader.copied == RECORDS, 120, "the old copy")
        told = reader.ask(PREFLIGHT)[1]
        assert "OTHER_MIRRORMAKER" in told, told

        reader.do(PROCESS)

        assert old.wait(60) in {0, 143}
        wait_until(lambda: "OTHER_MIRRORMAKER" not in reader.ask(PREFLIGHT)[1], 120, "no sign of the old MirrorMaker")
    assert f"{TOPIC}:0:{RECORDS}" in reader.do(OFFSETS)
    code, told = reader.ask(PLAN)
    assert (3, True) == (code, "TARGET_TOPIC_NOT_EMPTY" in told), told

    reader.do(DELETE_TOPICS)

    wait_until(lambda: TOPIC not in reader.target.topic_names(), 60, "the topic to be gone")
    code, told = reader.ask(PLAN_AGAIN)
    assert (0, True) == (code, f"{RECORDS} offsets" in told and "create: 1 partition" in told), told


def test_connector_is_stopped(reader: Reader, tmp_path: Path) -> None:
    """A stopped connector copies no more; its settings can be saved, and it can be deleted."""
    state, (port,) = reader.brokers.state, free_ports(1)
    reader.table = {**reader.table, "connect.example:8083": f"127.0.0.1:{port}"}
    settings = connector(state.source_bootstrap, state.target_bootstrap, TOPIC)
    with connect(tmp_path, port, state.target_bootstrap, settings):
        wait_until(lambda: reader.copied == RECORDS, 120, "the old copy")

        reader.do(STOP)

        status = f"curl -fsS http://127.0.0.1:{port}/connectors/old-to-new/status"
        wait_until(lambda: '"STOPPED"' in reader.do(status) and '"tasks":[]' in reader.do(status), 60, "its end")
        produce(reader, 1)
        assert f"{TOPIC}:0:{RECORDS}" in reader.do(OFFSETS)
        reader.do(SAVE)
        reader.do(DELETE)
        assert "MirrorSourceConnector" in (tmp_path / "old-to-new.json").read_text()
        assert "[]" == reader.do(f"curl -fsS http://127.0.0.1:{port}/connectors")
