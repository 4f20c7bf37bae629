"""What the validation says, and when it ends, if a cluster goes away, comes back or deletes what is being read."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from kafka_migration.core.validation.validation_contract import ValidationResult
from sandbox.sandbox import Sandbox
from tests.live.test_validate_place import BIG, LIMIT, PARTITIONS, clients_of, quota, request_of
from tests.live.validation_scene import Clusters, Side, submit
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

TARGET = "target"
# What the manual promises, and what starting and ending Spark takes beside it.
GIVEN_UP_S, SPARK_S = 300 + 120, 120


@pytest.fixture
def brokers(tmp_path: Path) -> Iterator[Sandbox]:
    """Two clusters of one broker each, which a test may break."""
    with Sandbox(tmp_path / "sandbox", airflow=False) as running:
        yield running


@pytest.fixture
def clusters(brokers: Sandbox) -> Clusters:
    """The clusters, with a copy that takes minutes to read at the limit."""
    state = brokers.state
    made = Clusters(Side(state.source_bootstrap), Side(state.target_bootstrap), state.spark_jars)
    made.create("big", PARTITIONS, PARTITIONS)
    for side in (made.source, made.target):
        side.send_all("big", dict.fromkeys(range(PARTITIONS), BIG))
    return made


Ended = tuple[CompletedProcess[str], Path]


@contextmanager
def reading(clusters: Clusters, folder: Path, limit: int | None = LIMIT // 2) -> Iterator[Future[Ended]]:
    """Start the job with a limit and go on when it reads."""
    request = request_of(["big"], max_bytes_per_s=limit)
    clients = clients_of(clusters, request)
    (folder / "job").mkdir()
    with ThreadPoolExecutor() as pool:
        job = pool.submit(submit, clusters, folder / "job", request.to_document(), clients, timeout_s=GIVEN_UP_S + 600)
        if limit:
            wait_until(lambda: job.done() or quota(clusters.target, request.client_id) == limit, 200, "the quota")
        yield job


def told(ended: CompletedProcess[str]) -> list[str]:
    """Return the job's own lines; a traceback is none of them and must not be there."""
    assert "Traceback" not in ended.stdout + ended.stderr
    return [line for line in (ended.stdout + ended.stderr).splitlines() if line.startswith("validate_topics: ")]


def test_silent_target_is_told_of_and_given_up(brokers: Sandbox, clusters: Clusters, tmp_path: Path) -> None:
    """A target that stops in the middle of a limited reading is named each minute and given up after five."""
    with reading(clusters, tmp_path) as job:
        brokers.kill(TARGET, signal.SIGSTOP)
        try:
            ended, result = job.result(GIVEN_UP_S + SPARK_S)
        finally:
            brokers.kill(TARGET, signal.SIGCONT)
    lines = told(ended)
    address = re.escape(clusters.target.bootstrap)
    silent = [line for line in lines if re.search(rf"the target cluster \({address}\) has not answered since", line)]

    assert (1, False) == (ended.returncode, result.exists())
    assert 4 <= len(silent) <= 8
    assert re.match(rf"validate_topics: CLUSTER_UNREACHABLE: the target cluster \({address}\) has not", lines[-1])


def test_target_that_comes_back_costs_time_only(brokers: Sandbox, clusters: Clusters, tmp_path: Path) -> None:
    """A target that is restarted while it is read is told of, twice, and the result is there."""
    with reading(clusters, tmp_path) as job:
        brokers.kill(TARGET, signal.SIGSTOP)
        try:
            with pytest.raises(TimeoutError):
                job.result(60)
        finally:
            brokers.kill(TARGET, signal.SIGCONT)
        ended, result = job.result(GIVEN_UP_S + SPARK_S)
    lines = "\n".join(told(ended))

    assert (0, True) == (ended.returncode, result.exists()), lines
    assert "has not answered since" in lines
    assert "answers again" in lines


def test_records_that_are_deleted_while_they_are_read_are_a_finding(clusters: Clusters, tmp_path: Path) -> None:
    """Records that the target deletes ahead of the reading leave their partition unread; the other one is compared."""
    with reading(clusters, tmp_path) as job:
        clusters.target.purge("big", len(BIG))
        ended, result = job.result(GIVEN_UP_S + SPARK_S)
    assert (0, True) == (ended.returncode, result.exists()), told(ended)
    purged, whole = ValidationResult.from_document(json.loads(result.read_text())).partitions

    assert ("OffsetOutOfRange" in str(purged.unreadable), False) == (True, purged.has_bad_record)
    assert (True, len(BIG), len(BIG)) == (whole.equal, whole.source.records, whole.target.records)


def test_target_that_is_down_from_the_start_is_a_finding(brokers: Sandbox, clusters: Clusters, tmp_path: Path) -> None:
    """A target that does not answer the first question is named with its address and a code."""
    brokers.kill(TARGET)
    with reading(clusters, tmp_path, limit=None) as job:
        ended, result = job.result(GIVEN_UP_S + SPARK_S)
    brokers.restart(TARGET)

    assert (1, False) == (ended.returncode, result.exists())
    assert re.match(
        rf"validate_topics: CLUSTER_UNREACHABLE: asking the target cluster \({re.escape(clusters.target.bootstrap)}\)",
        told(ended)[-1],
    )
