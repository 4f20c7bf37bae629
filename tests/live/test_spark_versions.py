"""The Spark jobs on each supported combination of Spark, Scala and Python, with two real clusters.

Each combination must give the same results as the project's own Spark, down to the digests: the ledger compares nights,
and a cluster's Spark may be replaced between them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.validation.judging import judge_topics
from kafka_migration.core.validation.validation_contract import KEY_DIGEST, ValidationResult
from kafka_migration.orchestration.operators.spark_submission import zip_package
from sandbox.environment import base_environment
from sandbox.jars import PROJECT
from sandbox.kafka import SHORT_LIVED
from sandbox.sandbox import Sandbox
from sandbox.spark import JOB, run_spark, submit_job
from tests.conftest import MIGRATION_TEXT
from tests.live.spark_matrix import Cell, python
from tests.live.validating_task import NAME
from tests.live.validation_cases import RECORDS, Scene, filled_scene, request_of_all
from tests.live.validation_scene import TIMEOUT_S

pytestmark = [pytest.mark.live, pytest.mark.campaign]

CELLS = [
    *(Cell("3.5.1", "2.12", python) for python in ("3.9", "3.10", "3.11")),
    *(Cell("3.5.1", "2.13", python) for python in ("3.9", "3.11")),
    *(Cell("4.0.0", "2.13", python) for python in ("3.9", "3.10", "3.11", "3.12", "3.13")),
    *(Cell("4.1.1", "2.13", python) for python in ("3.10", "3.11", "3.12", "3.13")),
]
BY_KEY = {"equal", "damaged", "compacted", "transactions", "uncommitted"}
ALL_JOBS = PROJECT / "tests" / "live" / "all_jobs.py"
# Little data needs neither 200 tasks per shuffle nor the JVM's second compiler.
SMALL = {"spark.driver.extraJavaOptions": " ".join(SHORT_LIVED), "spark.sql.shuffle.partitions": "4"}
# What differs between two runs on the same data.
OF_THE_RUN = {"started_at", "finished_at", "spark_version"}
Result = Mapping[str, Any]


def requests(scene: Scene) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """Return a request of each kind with the name of its job."""
    everything = request_of_all(scene)
    # The brokers abort the open transaction after 15 minutes, which is shorter than this test.
    by_position = replace(everything, windows=tuple(w for w in everything.windows if w.topic != "open"))
    # By key all windows of a generation are one comparison, which names every partition.
    whole = tuple(w for w in scene.windows if w.generation == 1 and w.topic in BY_KEY)
    by_key = replace(by_position, windows=whole, digest=KEY_DIGEST, schema_ids={})
    return {
        "by-position": ("validate_topics", by_position.to_document()),
        "by-key": ("validate_topics", by_key.to_document()),
        "translation": ("translate_offsets", translation()),
    }


def results(scene: Scene, folder: Path, cell: Cell | None = None) -> dict[str, Result]:
    """Run all jobs; without a cell with the project's own Spark and Python. Return their results."""
    places = {name: folder / name for name in requests(scene)}
    for name, (job, request) in requests(scene).items():
        places[name].mkdir()
        (places[name] / "job").write_text(job)
        (places[name] / "request.json").write_text(json.dumps(request))
        (places[name] / "clients.json").write_text(json.dumps(scene.clients))
    ended = run_spark(
        folder,
        ALL_JOBS,
        [str(place) for place in places.values()],
        zip_package(JOB.parent / "kafka_digest", folder),
        cell.jars if cell else scene.jars,
        conf=SMALL,
        environment=cell.environment() if cell else {},
        timeout_s=TIMEOUT_S,
    )
    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    assert "Traceback" not in ended.stdout + ended.stderr
    return {name: json.loads((place / "result.json").read_text()) for name, place in places.items()}


def translation() -> dict[str, Any]:
    """Return a request to translate offsets: by position with a lost record, by key with aborted transactions."""

    def topic(name: str, source_end: int, target_end: int, *, by_key: bool) -> dict[str, Any]:
        return {
            "topic": name,
            "target_topic": name,
            "by_key": by_key,
            "is_compacted": False,
            "has_timestamps": True,
            "source": {"0": [0, source_end]},
            "target": {"0": [0, target_end]},
            "read": [],
            "vectors": [{"0": 0}, {"0": 12}, {"0": source_end}],
        }

    count = len(RECORDS)
    return {
        "schema": 2,
        "kind": "translation-request",
        "id": "versions",
        "isolation_level": "read_committed",
        "is_back": False,
        "max_bytes_per_s": None,
        "topics": [topic("damaged", count, count - 1, by_key=False), topic("transactions", 30, 15, by_key=True)],
    }


@pytest.fixture(scope="module")
def scene(brokers: Sandbox) -> Iterator[Scene]:
    """Two clusters filled with every case."""
    with filled_scene(brokers) as scene:
        yield scene


@pytest.fixture(scope="module")
def expected(scene: Scene, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    """What the project's own Spark says."""
    return results(scene, tmp_path_factory.mktemp("expected"))


def lasting(result: Result) -> Result:
    """Return what must not depend on the version."""
    return {name: value for name, value in result.items() if name not in OF_THE_RUN}


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_results_do_not_depend_on_the_version(
    scene: Scene, expected: dict[str, Result], cell: Cell, tmp_path: Path
) -> None:
    """Each version finds the same by position, by key and for offsets, with the same digests; none lets damage pass."""
    found = results(scene, tmp_path, cell)

    assert {cell.spark} == {result["spark_version"] for result in found.values()}
    for name, result in found.items():
        assert lasting(expected[name]) == lasting(result), name
    judged = {t.topic: t.verdict for t in judge_topics(ValidationResult.from_document(found["by-position"]))}
    assert (Verdict.PASS, Verdict.FAIL) == (judged["equal"], judged["damaged"])
    by_key = {t.topic: t.verdict for t in judge_topics(ValidationResult.from_document(found["by-key"]))}
    assert (Verdict.PASS, Verdict.FAIL) == (by_key["equal"], by_key["damaged"])


@dataclass(frozen=True)
class Unfit:
    """A submission with versions that do not fit, and what its one line says."""

    cell: Cell
    said: str
    jars_of: Cell | None = None


OLD, NEW = Cell("3.5.1", "2.12", "3.9"), Cell("4.0.0", "2.13", "3.9")
UNFIT = {
    "connector of another Scala": Unfit(
        OLD, "connector is spark-sql-kafka-0-10_2.13-3.5.1.jar", Cell("3.5.1", "2.13", "")
    ),
    "connector of another Spark": Unfit(OLD, "connector is spark-sql-kafka-0-10_2.13-4.0.0.jar", NEW),
    "Python that Spark does not know": Unfit(Cell("4.1.1", "2.13", "3.9"), "Python 3.9"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_versions_that_do_not_fit_are_one_line(name: str, tmp_path: Path) -> None:
    """The job ends before it asks a cluster, with one coded line that names what was found and expected."""
    unfit = UNFIT[name]
    clients = {side: {"kafka.bootstrap.servers": "127.0.0.1:1"} for side in ("source", "target")}
    ended, path = submit_job(
        tmp_path,
        {"request": {}, "clients": clients},
        zip_package(JOB.parent / "kafka_digest", tmp_path),
        (unfit.jars_of or unfit.cell).jars,
        environment=unfit.cell.environment(),
    )

    assert (1, False) == (ended.returncode, path.exists())
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("validate_topics: ")]
    assert line.startswith("validate_topics: SPARK_VERSION_MISMATCH: ")
    assert unfit.said in line
    assert "expected" in line
    assert "Traceback" not in ended.stdout + ended.stderr


def test_workers_with_another_python_are_one_line(scene: Scene, tmp_path: Path) -> None:
    """Executors whose Python is not the driver's end the job with one line that names both."""
    _, request = requests(scene)["by-key"]
    ended, path = submit_job(
        tmp_path,
        {"request": request, "clients": scene.clients},
        zip_package(JOB.parent / "kafka_digest", tmp_path),
        OLD.jars,
        environment={**OLD.environment(), "PYSPARK_DRIVER_PYTHON": str(python("3.10"))},
    )

    assert (1, False) == (ended.returncode, path.exists())
    line = [line for line in ended.stdout.splitlines() if line.startswith("validate_topics: ")][-1]
    assert line.startswith("validate_topics: SPARK_VERSION_MISMATCH: ")
    assert ("3.9" in line or "(3, 9)" in line, "3.10" in line) == (True, True)


def test_airflow_submits_with_the_spark_of_spark_home(scene: Scene, tmp_path: Path) -> None:
    """The task's own `spark-submit` runs the Spark of `SPARK_HOME` and the Python of `PYSPARK_PYTHON`."""
    (tmp_path / f"{NAME}.yaml").write_text(MIGRATION_TEXT)
    whole = tuple(window for window in scene.windows if window.topic == "equal")
    request = replace(request_of_all(scene), windows=whole, compacted_topics={}, schema_ids={})
    (tmp_path / "request.json").write_text(json.dumps(request.to_document()))
    kafka = {"OLD_KAFKA": scene.source.bootstrap, "NEW_KAFKA": scene.target.bootstrap}
    connections = {
        **{name: {"conn_type": "kafka", "extra": {"bootstrap.servers": at}} for name, at in kafka.items()},
        "SPARK": {"conn_type": "spark", "host": "local[2]", "extra": {"deploy-mode": "client"}},
    }
    ended = subprocess.run(
        [sys.executable, "-m", "tests.live.validating_task", str(tmp_path)],
        env={
            **base_environment("versions"),
            **{f"AIRFLOW_CONN_{name}": json.dumps(value) for name, value in connections.items()},
            "AIRFLOW_HOME": str(tmp_path / "airflow"),
            "AIRFLOW__KAFKA_MIGRATION__EVIDENCE_ROOT": str(tmp_path / "evidence"),
            "AIRFLOW__KAFKA_MIGRATION__SPARK_JARS": ",".join(map(str, OLD.jars)),
            "PYTHONPATH": os.pathsep.join((str(PROJECT), str(PROJECT / "plugins"))),
            "SPARK_LOCAL_IP": "127.0.0.1",
            **OLD.environment(),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
    results = [json.loads(path.read_text()) for path in (tmp_path / "evidence").rglob("*.json")]
    (result,) = [each for each in results if each.get("kind") == "validation-result"]
    assert OLD.spark == result["spark_version"]
    assert [True] * len(whole) == [partition["equal"] for partition in result["partitions"]]
