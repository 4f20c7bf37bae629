"""A person's own MirrorMaker 2, as the page about its replacement finds it: a process, or a connector in Connect."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sandbox.environment import base_environment, java
from sandbox.jars import kafka_home

ALIAS = "primary"
_IDENTITY = "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"
_BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"


def mirror_file(source: str, target: str, topic: str) -> str:
    """Return a `connect-mirror-maker.properties` that copies a topic under its name, without waiting for anything."""
    return f"""\
clusters = {ALIAS}, secondary
{ALIAS}.bootstrap.servers = {source}
secondary.bootstrap.servers = {target}
{ALIAS}->secondary.enabled = true
{ALIAS}->secondary.topics = {topic}
secondary->{ALIAS}.enabled = false
replication.policy.class = {_IDENTITY}
emit.heartbeats.enabled = false
emit.checkpoints.enabled = false
replication.factor = 1
offset-syncs.topic.replication.factor = 1
offset.storage.replication.factor = 1
status.storage.replication.factor = 1
config.storage.replication.factor = 1
tasks.max = 1
"""


def connector(source: str, target: str, topic: str) -> Mapping[str, str]:
    """Return the settings of a source connector that copies a topic under its name."""
    return {
        "name": "old-to-new",
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "old",
        "source.cluster.bootstrap.servers": source,
        "target.cluster.alias": "new",
        "target.cluster.bootstrap.servers": target,
        "topics": topic,
        "replication.policy.class": _IDENTITY,
        "replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "key.converter": _BYTES,
        "value.converter": _BYTES,
        "header.converter": _BYTES,
    }


@contextmanager
def dedicated(folder: Path, text: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run the dedicated MirrorMaker 2 with this file until it is stopped, at the latest until the block ends."""
    file = folder / "connect-mirror-maker.properties"
    file.write_text(text)
    with _process(folder, "org.apache.kafka.connect.mirror.MirrorMaker", str(file)) as process:
        yield process


@contextmanager
def connect(folder: Path, port: int, target: str, settings: Mapping[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker of Connect with one connector."""
    worker, file = folder / "worker.properties", folder / "connector.json"
    worker.write_text(
        f"bootstrap.servers={target}\nlisteners=http://127.0.0.1:{port}\n"
        f"key.converter={_BYTES}\nvalue.converter={_BYTES}\noffset.storage.file.filename={folder}/offsets\n"
    )
    file.write_text(json.dumps({"name": settings["name"], "config": settings}))
    with _process(folder, "org.apache.kafka.connect.cli.ConnectStandalone", str(worker), str(file)) as process:
        yield process


@contextmanager
def _process(folder: Path, main_class: str, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    environment = base_environment("old-mirrormaker")
    command = [java(environment), "-Xmx256m", "-cp", f"{kafka_home()}/libs/*", main_class, *arguments]
    with (folder / "old.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait(60)
