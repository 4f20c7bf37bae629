"""What a stranger gets of Kafka's logins from a Spark cluster: its RPC, its traffic, its disks and its process list.

Each search is made twice: in a validation as the task submits it to a protected cluster, which must give nothing, and
in one as version 0.1.0 submitted it to a cluster as Spark is by default, where the same search must find the login.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import struct
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kafka_migration.orchestration.operators.spark_submission import zip_package
from sandbox.environment import base_environment
from sandbox.parts import HOST, free_ports
from sandbox.processes import end_all
from sandbox.sandbox import Sandbox
from sandbox.spark import JOB
from tests.conftest import MIGRATION_TEXT
from tests.live.spark_cluster import ACCEPTED, EXECUTOR, SparkCluster, spark_cluster
from tests.live.test_validate_place import BIG, LIMIT, PARTITIONS, PROGRESS, clients_of, request_of, task_settings
from tests.live.validating_task import NAME
from tests.live.validation_scene import Clusters
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.live,
    pytest.mark.campaign,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root sees the traffic and becomes another user"),
]

ROOT = Path(__file__).parents[2]
CANARY = "canary-kafka-login-5d0e77aa"
NOBODY = 65534
ALL_PROTOCOLS = 3


@pytest.fixture(scope="module")
def clusters(brokers: Sandbox) -> Iterator[Clusters]:
    """Two clusters with a copy of some megabytes."""
    with Clusters.of(brokers) as made:
        made.create("big", PARTITIONS, PARTITIONS)
        for side in (made.source, made.target):
            side.send_all("big", dict.fromkeys(range(PARTITIONS), BIG))
        yield made


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users may enter, as they may enter `/tmp` and Spark's own folders."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        (folder / "tmp").mkdir()
        (folder / "tmp").chmod(0o1777)
        yield folder


@dataclass
class Found:
    """Where a stranger saw the canary, while the validation ran and after it."""

    rpc: set[str] = field(default_factory=set)
    disk: list[str] = field(default_factory=list)
    disk_after: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    wire: int = 0
    command_lines: set[str] = field(default_factory=set)


def place(folder: Path) -> dict[str, str]:
    """Return the environment that keeps all temporary files below the folder."""
    temporary = str(folder / "tmp")
    java = f"-Djava.io.tmpdir={temporary}"
    return {"TMPDIR": temporary, "SPARK_LOCAL_DIRS": temporary, "JAVA_TOOL_OPTIONS": java}


def ports_of() -> dict[str, str]:
    """Return settings that say where driver and executor listen."""
    names = ("spark.driver.port", "spark.driver.blockManager.port", "spark.blockManager.port")
    return dict(zip(names, map(str, free_ports(3)), strict=True))


@contextmanager
def running(command: Sequence[str], environment: dict[str, str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a validation and wait until it reads; whatever is left of it at the end is ended."""
    marker, log = secrets.token_hex(8), folder / "task.log"
    with log.open("w") as output:
        task = subprocess.Popen(
            command,
            env={**base_environment(marker), **environment, **place(folder)},
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            wait_until(lambda: PROGRESS.search(log.read_text()), 300, "the first line of progress")
            yield task
        finally:
            end_all(marker)
            task.wait()


def as_the_task_does(
    clusters: Clusters, spark: SparkCluster, ports: dict[str, str], folder: Path
) -> tuple[list[str], dict[str, str]]:
    """Return command and environment of a task whose connections to Kafka hold a login."""
    (folder / f"{NAME}.yaml").write_text(MIGRATION_TEXT + ACCEPTED)
    (folder / "request.json").write_text(json.dumps(request_of(["big"], max_bytes_per_s=LIMIT).to_document()))
    protected = SparkCluster(spark.master, spark.pages, {**spark.settings, **ports})
    settings = task_settings(clusters, protected, folder)
    # A login that nothing uses is refused in a connection, so the task adds it to what it reads there.
    login = {"sasl.mechanism": "PLAIN", "sasl.username": "somebody", "sasl.password": CANARY}
    (folder / "login.json").write_text(json.dumps({**login, "security.protocol": "PLAINTEXT"}))
    return [sys.executable, "-m", "tests.live.validating_task", str(folder)], settings


def as_it_was(
    clusters: Clusters, spark: SparkCluster, ports: dict[str, str], folder: Path
) -> tuple[list[str], dict[str, str]]:
    """Return command and environment of a job that gets its logins with `--files`."""
    request = request_of(["big"], max_bytes_per_s=LIMIT)
    clients = clients_of(clusters, request)
    secret = {"kafka.security.protocol": "PLAINTEXT", "kafka.sasl.jaas.config": f'x required password="{CANARY}";'}
    owned = folder / "owned"
    owned.mkdir(mode=0o700)
    (owned / "clients.json").touch(mode=0o600)
    (owned / "clients.json").write_text(json.dumps({side: {**own, **secret} for side, own in clients.items()}))
    (folder / "request.json").write_text(json.dumps(request.to_document()))
    settings = {**EXECUTOR, **ports, "spark.ui.enabled": "false"}
    command = [
        *(str(Path(sys.executable).parent / "spark-submit"), "--master", spark.master),
        *(word for name, value in settings.items() for word in ("--conf", f"{name}={value}")),
        *("--jars", ",".join(map(str, clusters.jars)), "--files", str(owned / "clients.json")),
        *("--py-files", str(zip_package(JOB.parent / "kafka_digest", folder)), str(JOB)),
        *("--request", str(folder / "request.json"), "--result", (folder / "result.json").as_uri()),
    ]
    return command, {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": HOST}


def search(command: Sequence[str], environment: dict[str, str], ports: dict[str, str], folder: Path) -> Found:
    """Run a validation and look everywhere, while it runs and when it has ended."""
    found = Found()
    numbers = [int(port) for port in ports.values()]
    with watching(found, numbers), running(command, environment, folder) as task:
        found.disk = as_nobody(folder)
        found.rpc = ask(numbers)
        assert task.wait(400) == 0, (folder / "task.log").read_text()[-4000:]
    found.disk_after = as_nobody(folder)
    found.left = holding(folder)
    return found


def ask(ports: Sequence[int]) -> set[str]:
    """Return under which names a session without Spark's secret gets the canary."""
    command = [sys.executable, "-m", "sandbox.spark_stranger", HOST, *map(str, ports)]
    # Never on a command line: those are searched as well.
    environment = {**os.environ, "SPARK_LOCAL_IP": HOST, "CANARY": CANARY}
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def as_nobody(folder: Path) -> list[str]:
    """Return the files below the folder in which another user reads the canary."""
    return holding(folder, user=NOBODY, group=NOBODY, extra_groups=[])


def holding(folder: Path, **user: object) -> list[str]:
    """Return the files below the folder that hold the canary."""
    command = ["grep", "-rlaF", "-f", "-", str(folder)]
    done = subprocess.run(command, input=CANARY, capture_output=True, text=True, check=False, **user)  # type: ignore[call-overload]
    found: list[str] = done.stdout.splitlines()
    return found


@contextmanager
def watching(found: Found, ports: Sequence[int]) -> Iterator[None]:
    """Note all command lines, and each packet with the canary to or from these ports."""
    is_done = threading.Event()
    threads = [
        threading.Thread(target=_read_wire, args=(found, frozenset(ports), is_done)),
        threading.Thread(target=_read_command_lines, args=(found, is_done)),
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_done.set()
        for thread in threads:
            thread.join()


def _read_wire(found: Found, ports: frozenset[int], is_done: threading.Event) -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(ALL_PROTOCOLS)) as wire:
        wire.bind(("lo", ALL_PROTOCOLS))
        wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
        wire.settimeout(0.2)
        while not is_done.is_set():
            try:
                packet = wire.recv(1 << 17)
            except TimeoutError:
                continue
            if CANARY.encode() in packet and packet[0] >> 4 == 4 and ports & set(_ports(packet)):
                found.wire += 1


def _ports(packet: bytes) -> tuple[int, int]:
    """Return the ports of a packet of TCP over IP version 4."""
    source, target = struct.unpack_from("!HH", packet, (packet[0] & 15) * 4)
    return source, target


def _read_command_lines(found: Found, is_done: threading.Event) -> None:
    while not is_done.wait(0.2):
        for process in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                found.command_lines.add(process.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
            except OSError:
                continue


def test_stranger_finds_nothing_on_a_protected_cluster(clusters: Clusters, folder: Path) -> None:
    """Neither RPC, traffic, disks nor process list give a login or Spark's secret, and nothing of them is left."""
    ports = ports_of()
    with spark_cluster(folder, more=place(folder)) as spark:
        found = search(*as_the_task_does(clusters, spark, ports, folder), ports, folder)
        secret = spark.settings["spark.authenticate.secret"]

    seen = "\n".join(found.command_lines)
    assert (set(), 0, [], [], []) == (found.rpc, found.wire, found.disk, found.disk_after, found.left)
    assert "validate_topics.py" in seen
    assert "CoarseGrainedExecutorBackend" in seen
    assert (False, False) == (CANARY in seen, secret in seen)


def test_stranger_finds_the_login_where_nothing_protects_it(clusters: Clusters, folder: Path) -> None:
    """The same search finds the login in RPC, traffic and workers' folders of a cluster as it is by default."""
    ports = ports_of()
    with spark_cluster(folder, is_protected=False, more=place(folder)) as spark:
        found = search(*as_it_was(clusters, spark, ports, folder), ports, folder)

    assert "file" in found.rpc
    assert found.wire > 0
    assert [path for path in found.disk if "/work/app-" in path]
    assert [path for path in found.disk_after if "/work/app-" in path]
