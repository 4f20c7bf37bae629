"""Where the validation runs: by hand, on a standalone Spark cluster, held to a limit, and killed."""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.ledger.generations import Window
from kafka_migration.core.validation.difference_kinds import DifferenceKind
from kafka_migration.core.validation.judging import judge_topics
from kafka_migration.core.validation.validation_contract import (
    KEY_DIGEST,
    POSITION_DIGEST,
    ValidationRequest,
    ValidationResult,
)
from sandbox.environment import base_environment
from sandbox.kafka import SHORT_LIVED
from sandbox.processes import belonging, end_all
from sandbox.sandbox import Sandbox
from tests.conftest import MIGRATION_TEXT
from tests.live.quotas import config_command
from tests.live.spark_cluster import ACCEPTED, SparkCluster, spark_cluster
from tests.live.validating_task import NAME
from tests.live.validation_scene import START_MS, Clusters, Sent, Side, plain, submit
from tests.waiting import wait_until

pytestmark = pytest.mark.live

ROOT = Path(__file__).parents[2]
RECORDS = plain(1000)
DAMAGED = [*RECORDS[:500], replace(RECORDS[500], value=b"?"), *RECORDS[501:]]
# Read at so many bytes a second, it takes about a minute for both sides.
BIG, LIMIT = [Sent(b"k", b"v" * 1000, timestamp_ms=START_MS + n) for n in range(3000)], 200_000
PARTITIONS = 2
# The JVM's second compiler would use most of the processor time of so small a job.
BY_HAND = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "PYSPARK_PYTHON": sys.executable,
    "JAVA_TOOL_OPTIONS": " ".join(SHORT_LIVED),
}
PROGRESS = re.compile(r"validate_topics: ([\d,]+) of at most ([\d,]+) records read")


@pytest.fixture(scope="module")
def clusters(brokers: Sandbox) -> Iterator[Clusters]:
    """Two clusters with a small copy, a damaged one, and one of some megabytes."""
    with Clusters.of(brokers) as made:
        for topic, ours, theirs in (("orders", RECORDS, RECORDS), ("bad", RECORDS, DAMAGED), ("big", BIG, BIG)):
            made.create(topic, PARTITIONS, PARTITIONS)
            made.source.send_all(topic, dict.fromkeys(range(PARTITIONS), ours))
            made.target.send_all(topic, dict.fromkeys(range(PARTITIONS), theirs))
        yield made


@pytest.fixture(scope="module")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    """A standalone cluster."""
    with spark_cluster(tmp_path_factory.mktemp("spark")) as cluster:
        yield cluster


def request_of(topics: Sequence[str], **more: object) -> ValidationRequest:
    """Ask for all of these topics."""
    counts = {"orders": len(RECORDS), "bad": len(RECORDS), "big": len(BIG)}
    windows = [Window(1, t, t, p, 0, counts[t], 0, counts[t]) for t in topics for p in range(PARTITIONS)]
    return ValidationRequest(NAME, "run", 1024, "read_committed", tuple(windows), **more)  # type: ignore[arg-type]


def clients_of(clusters: Clusters, request: ValidationRequest) -> dict[str, dict[str, str]]:
    """Return the reader options with the client id of the request."""
    return {side: {**options, "kafka.client.id": request.client_id} for side, options in clusters.clients.items()}


def verdicts(path: Path) -> dict[str, Verdict]:
    """Return the verdict on each topic of a result."""
    result = ValidationResult.from_document(json.loads(path.read_text()))
    return {topic.topic: topic.verdict for topic in judge_topics(result)}


def documented(language: str) -> list[str]:
    """Return the blocks of this language in the chapter on running the job by hand."""
    page = (ROOT / "docs" / "reference" / "spark-jobs.md").read_text()
    chapter = page.partition("## By hand")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", chapter, re.DOTALL)


def test_documented_command_validates(clusters: Clusters, tmp_path: Path) -> None:
    """The commands and documents of the page on validation are whole; only addresses and jars are of this place."""
    (commands,), (clients, request) = documented("sh"), documented("json")
    for example, side in (("old1", clusters.source), ("new1", clusters.target)):
        clients = clients.replace(f"{example}.example:9092", side.bootstrap)
    (tmp_path / "clients.json").write_text(clients)
    (tmp_path / "request.json").write_text(request)
    shutil.copytree(ROOT / "spark_jobs", tmp_path / "spark_jobs")
    jars = ",".join(str(jar) for jar in clusters.jars)
    commands = re.sub(r"--packages \S+", f"--jars {jars}", commands)
    ended = subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=tmp_path,
        env={**base_environment("by-hand"), **BY_HAND},
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    assert {"orders": Verdict.PASS} == verdicts(tmp_path / "result.json")


@pytest.mark.campaign
@pytest.mark.parametrize("digest", [POSITION_DIGEST, KEY_DIGEST])
def test_standalone_cluster_validates(clusters: Clusters, spark: SparkCluster, tmp_path: Path, digest: str) -> None:
    """Executors that are processes of their own find what the driver alone would: PASS, and the damage in its place."""
    request = request_of(["orders", "bad"], digest=digest)
    ended, path = submit(
        clusters,
        tmp_path,
        request.to_document(),
        clients_of(clusters, request),
        spark.master,
        spark.conf,
    )

    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    assert {"orders": Verdict.PASS, "bad": Verdict.FAIL} == verdicts(path)
    assert (tmp_path / "result.differences.parquet").is_dir()
    assert f'"{DifferenceKind.ALTERED}": ' in path.read_text()
    wait_until(lambda: not spark.active, what="the end of the application")


@pytest.mark.campaign
def test_killed_task_stops_the_application(clusters: Clusters, spark: SparkCluster, tmp_path: Path) -> None:
    """A task that is told to end as Airflow does it leaves no application at the master, and no process."""
    log = tmp_path / "task.log"
    with running_task(clusters, spark, tmp_path, log) as (task, marker):
        wait_until(lambda: PROGRESS.search(log.read_text()), 240, "the first line of progress in the task's log")
        assert spark.active
        task.send_signal(signal.SIGTERM)
        assert task.wait(60) != 0

        assert "spark-submit ended with code -9" in log.read_text()
        wait_until(lambda: not spark.active, what="the end of the application")
        wait_until(lambda: not belonging(marker), what="the end of the driver")
        wait_until(lambda: spark.state()["coresused"] == 0, what="the end of the executor")


@contextmanager
def running_task(
    clusters: Clusters, spark: SparkCluster, folder: Path, log: Path
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """Start a task that validates for minutes; all its processes bear the marker, and are gone at the end."""
    (folder / f"{NAME}.yaml").write_text(MIGRATION_TEXT + ACCEPTED)
    (folder / "request.json").write_text(json.dumps(request_of(["big"], max_bytes_per_s=LIMIT // 2).to_document()))
    marker = secrets.token_hex(8)
    with log.open("w") as output:
        task = subprocess.Popen(
            [sys.executable, "-m", "tests.live.validating_task", str(folder)],
            env={**base_environment(marker), **task_settings(clusters, spark, folder)},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield task, marker
        finally:
            end_all(marker)
            task.wait()


def task_settings(clusters: Clusters, spark: SparkCluster, folder: Path) -> dict[str, str]:
    """Return Airflow's settings and connections of a task that validates on the cluster."""
    connections = {
        "OLD_KAFKA": {"conn_type": "kafka", "extra": {"bootstrap.servers": clusters.source.bootstrap}},
        "NEW_KAFKA": {"conn_type": "kafka", "extra": {"bootstrap.servers": clusters.target.bootstrap}},
        "SPARK": {"conn_type": "spark", "host": spark.master, "extra": {"deploy-mode": "client", **spark.settings}},
    }
    return {
        **{f"AIRFLOW_CONN_{name}": json.dumps(value) for name, value in connections.items()},
        "AIRFLOW_HOME": str(folder / "airflow"),
        "AIRFLOW__KAFKA_MIGRATION__EVIDENCE_ROOT": str(folder / "evidence"),
        "AIRFLOW__KAFKA_MIGRATION__SPARK_JARS": ",".join(str(jar) for jar in clusters.jars),
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "plugins"))),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }


@pytest.mark.campaign
def test_limit_holds_while_reading_only(clusters: Clusters, spark: SparkCluster, tmp_path: Path) -> None:
    """The quota is on both clusters while the job reads, and gone afterwards; the log tells how far it is meanwhile.

    The job that was killed above left another quota there.
    """
    request = request_of(["big"], max_bytes_per_s=LIMIT)
    clients = clients_of(clusters, request)
    sides = (clusters.source, clusters.target)
    with ThreadPoolExecutor() as pool:
        job = pool.submit(submit, clusters, tmp_path, request.to_document(), clients, spark.master, spark.conf)
        wait_until(lambda: all(quota(s, request.client_id) == LIMIT for s in sides), 200, "the quotas")
        assert not job.done()
        ended, path = job.result()

    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    assert {"big": Verdict.PASS} == verdicts(path)
    assert [None, None] == [quota(side, request.client_id) for side in sides]
    told = [tuple(int(n.replace(",", "")) for n in found) for found in PROGRESS.findall(ended.stdout)]
    assert len(told) >= 2
    assert sorted(set(told)) == told
    assert {2 * PARTITIONS * len(BIG)} == {offsets for _, offsets in told}


def quota(side: Side, client_id: str) -> float | None:
    """Return the quota of a client id, as Kafka's own tool reads it."""
    answer = config_command(side.bootstrap, "--describe", "--entity-type", "clients")
    found = re.search(rf"'{re.escape(client_id)}' are .*consumer_byte_rate=([\d.]+)", answer)
    return float(found[1]) if found else None


@pytest.mark.campaign
def test_limit_that_a_broker_refuses_is_one_line(clusters: Clusters, tmp_path: Path) -> None:
    """Where a quota cannot be set nothing is read, and one line says what was refused."""
    request = request_of(["orders"], max_bytes_per_s=-1)
    ended, path = submit(clusters, tmp_path, request.to_document(), clients_of(clusters, request))

    assert (ended.returncode, path.exists()) == (1, False)
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("validate_topics: ")]
    assert "setting a quota of -1 bytes/s for client id kafka-migration-validation-shop.limited on the source" in line
    assert "Traceback" not in ended.stdout + ended.stderr
