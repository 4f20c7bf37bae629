"""The validation on a real YARN in both deploy modes: its end, its kills, queues without resources, and its logins."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.validation.judging import judge_topics
from kafka_migration.core.validation.validation_contract import ValidationRequest, ValidationResult
from sandbox.sandbox import Sandbox
from sandbox.yarn import running_yarn
from tests.live.brought_spark import VERSION, BroughtSpark
from tests.live.canaries import Canaries
from tests.live.test_validate_place import BIG, DAMAGED, LIMIT, PARTITIONS, PROGRESS, RECORDS, request_of
from tests.live.validation_scene import Clusters
from tests.live.yarn_scene import BEGUN, CANARY, PATIENCE_S, START_LIMIT, Task, Yarn, yarn_task
from tests.waiting import wait_until

pytestmark = [pytest.mark.live, pytest.mark.campaign]

MODES = ("client", "cluster")
# The process of the driver in a container, that which stands for a driver elsewhere, and that of an executor.
DRIVER, KEEPER, EXECUTOR = "deploy.yarn.ApplicationMaster", "deploy.yarn.ExecutorLauncher", "YarnCoarseGrainedExecutor"


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
def yarn(clusters: Clusters, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yarn]:
    """A YARN of one node."""
    with running_yarn(tmp_path_factory.mktemp("yarn")) as running:
        yield Yarn(running.cluster, clusters, running.marker)


def slowly(bytes_per_s: int) -> ValidationRequest:
    """Ask for a topic that is read for so long that something can happen meanwhile."""
    return request_of(["big"], max_bytes_per_s=bytes_per_s)


def verdicts(task: Task) -> dict[str, Verdict]:
    """Return the verdict on each topic of a task's result."""
    return {topic.topic: topic.verdict for topic in judge_topics(ValidationResult.from_document(task.result))}


def assert_nothing_is_left(yarn: Yarn, task: Task) -> None:
    """No application runs, nothing that was shipped is left, and no disk has a login."""
    wait_until(lambda: not yarn.running(), PATIENCE_S, "the end of the application")
    wait_until(lambda: not task.letters(), 100, f"the end of the letters {task.letters()}")
    wait_until(lambda: not yarn.staged(), 100, "the end of what was shipped")
    wait_until(lambda: not any(map(yarn.containers, (DRIVER, KEEPER, EXECUTOR))), 100, "the end of the containers")
    canaries = Canaries({"login": CANARY})
    read = canaries.look_below(yarn.cluster.folder) + canaries.look_below(task.folder)

    assert set() == canaries.hits
    # Without a container there are only the files of YARN itself and of the task.
    assert read > 8


@pytest.mark.parametrize("mode", MODES)
def test_validation_ends_with_a_result_and_leaves_nothing(yarn: Yarn, tmp_path: Path, mode: str) -> None:
    """Wherever the driver runs, the result is whole, the log names YARN's page, and no login is on any disk."""
    with yarn_task(yarn, tmp_path, request_of(["orders", "bad"]), {"deploy-mode": mode}) as task:
        assert task.ended() == 0, task.log[-6000:]

    assert {"orders": Verdict.PASS, "bad": Verdict.FAIL} == verdicts(task)
    found = BEGUN.search(task.log)
    assert found
    assert f"{yarn.cluster.url.replace('127.0.0.1', 'localhost')}/cluster/app/{found[1]}" == found[2]
    assert_nothing_is_left(yarn, task)


@pytest.mark.parametrize("mode", MODES)
def test_killed_task_ends_its_application(yarn: Yarn, tmp_path: Path, mode: str) -> None:
    """A task that Airflow ends, with SIGKILL soon after SIGTERM, leaves no application, no letter and no login."""
    with yarn_task(yarn, tmp_path, slowly(LIMIT // 2), {"deploy-mode": mode}) as task:
        wait_until(
            lambda: PROGRESS.search(task.log) or task.process.poll() is not None, PATIENCE_S, "the first progress"
        )
        assert [task.application()] == yarn.running()
        task.process.send_signal(signal.SIGTERM)
        done = "Sending kill signal to spark-submit" if mode == "client" else "YARN is asked to end"
        wait_until(lambda: done in task.log, 60, "the work of on_kill")
        task.process.kill()

        assert_nothing_is_left(yarn, task)
        assert not task.has_result


@pytest.mark.parametrize("mode", MODES)
def test_application_whose_task_is_gone_ends_by_itself(yarn: Yarn, tmp_path: Path, mode: str) -> None:
    """A task that is killed without a word is missed by its driver, which ends the application."""
    with yarn_task(yarn, tmp_path, slowly(LIMIT // 8), {"deploy-mode": mode}, TEST_LEASE_S="40") as task:
        application = task.application()
        task.process.kill()

        assert [application] == yarn.running()
        assert_nothing_is_left(yarn, task)
        assert not task.has_result


def test_killed_driver_is_a_finding(yarn: Yarn, tmp_path: Path) -> None:
    """A driver that is killed in its container is not started again by YARN, and the task names the application."""
    with yarn_task(yarn, tmp_path, slowly(LIMIT // 2), {"deploy-mode": "cluster"}) as task:
        application = task.application()
        for pid in yarn.containers(DRIVER):
            os.kill(pid, signal.SIGKILL)

        assert task.ended() != 0
    assert "SPARK_FAILED" in task.log
    assert f"YARN: {application} is FAILED" in task.log
    assert_nothing_is_left(yarn, task)


@pytest.mark.parametrize("mode", MODES)
def test_killed_executor_is_replaced(yarn: Yarn, tmp_path: Path, mode: str) -> None:
    """A lost container costs time, and changes nothing of the result."""
    with yarn_task(yarn, tmp_path, slowly(LIMIT), {"deploy-mode": mode}) as task:
        wait_until(
            lambda: PROGRESS.search(task.log) or task.process.poll() is not None, PATIENCE_S, "the first progress"
        )
        (lost,) = yarn.containers(EXECUTOR)
        os.kill(lost, signal.SIGKILL)

        assert task.ended() == 0, task.log[-6000:]
    assert {"big": Verdict.PASS} == verdicts(task)
    assert_nothing_is_left(yarn, task)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("queue", ["starved", "narrow"])
def test_queue_without_resources_is_a_finding(yarn: Yarn, tmp_path: Path, queue: str, mode: str) -> None:
    """A queue that starts no driver, or gives it no executor, ends the task with a code in a time that is set."""
    with yarn_task(
        yarn, tmp_path, request_of(["orders"]), {"deploy-mode": mode, "queue": queue}, **{START_LIMIT: "120"}
    ) as task:
        assert task.ended() != 0
        assert_nothing_is_left(yarn, task)

    assert "SPARK_NO_RESOURCES" in task.log
    assert "application_" in task.log


@pytest.fixture(scope="module")
def brought(tmp_path_factory: pytest.TempPathFactory) -> BroughtSpark:
    """Spark 3.5 with its Python, ready for YARN."""
    return BroughtSpark.made_in(tmp_path_factory.mktemp("brought"))


@pytest.mark.parametrize("mode", MODES)
def test_spark_35_is_brought_to_yarn(yarn: Yarn, tmp_path: Path, brought: BroughtSpark, mode: str) -> None:
    """With the documented archive, Python and connection, Spark 3.5 validates on a YARN that knows nothing of it."""
    request = request_of(["orders", "bad"])
    with yarn_task(yarn, tmp_path, request, brought.extra(mode), **brought.environment) as task:
        assert task.ended() == 0, task.log[-6000:]

    assert {"orders": Verdict.PASS, "bad": Verdict.FAIL} == verdicts(task)
    assert VERSION == task.result["spark_version"]
    assert_nothing_is_left(yarn, task)
