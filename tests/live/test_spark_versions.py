"""The Spark jobs on each supported combination of Spark, Scala and Python, with two real clusters.

Each combination must give the same results as the project's own Spark, down to the digests: the ledger compares nights,
and a cluster's Spark may be replaced between them.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from kafka_migration.core.findings.verdict import Verdict
from kafka_migration.core.validation.contract import KEY_DIGEST, ValidationResult
from kafka_migration.core.validation.judging import judge_topics
from kafka_migration.orchestration.operators.spark_job import zip_package
from sandbox.kafka import SHORT_LIVED
from sandbox.sandbox import Sandbox
from sandbox.spark import JOB, submit_job
from tests.live.spark_matrix import Cell
from tests.live.validation_cases import RECORDS, Scene, filled_scene, request_of_all
from tests.live.validation_scene import TIMEOUT_S

pytestmark = [pytest.mark.live, pytest.mark.campaign]

CELLS = [
    *(Cell("3.5.1", "2.12", python) for python in ("3.9", "3.10", "3.11", "3.12")),
    *(Cell("3.5.1", "2.13", python) for python in ("3.9", "3.11")),
    *(Cell("4.0.0", "2.13", python) for python in ("3.9", "3.10", "3.11", "3.12", "3.13")),
    *(Cell("4.1.1", "2.13", python) for python in ("3.10", "3.11", "3.12", "3.13")),
]
BY_KEY = {"equal", "damaged", "compacted", "transactions", "uncommitted"}
TRANSLATE = JOB.with_name("translate_offsets.py")
# What differs between two runs on the same data.
OF_THE_RUN = {"started_at", "finished_at", "spark_version"}
Result = Mapping[str, Any]


@dataclass(frozen=True)
class Jobs:
    """Runs the jobs on the scene's clusters."""

    scene: Scene

    def __call__(
        self, folder: Path, request: Mapping[str, Any], job: Path, cell: Cell | None
    ) -> tuple[subprocess.CompletedProcess[str], Path]:
        """Run a job; without a cell with the project's own Spark and Python."""
        folder.mkdir(parents=True)
        return submit_job(
            folder,
            {"request": request, "clients": self.scene.clients},
            zip_package(JOB.parent / "kafka_digest", folder),
            cell.jars if cell else self.scene.jars,
            conf={"spark.driver.extraJavaOptions": " ".join(SHORT_LIVED)},
            environment=cell.environment() if cell else {},
            job=job,
            timeout_s=TIMEOUT_S,
        )

    def results(self, folder: Path, cell: Cell | None = None) -> dict[str, Result]:
        """Return what both comparisons and the translation say of the scene."""
        found = {}
        for name, (job, request) in self.requests().items():
            ended, path = self(folder / name.replace(" ", "-"), request, job, cell)
            assert ended.returncode == 0, ended.stdout[-4000:] + ended.stderr[-4000:]
            assert "Traceback" not in ended.stdout + ended.stderr
            found[name] = json.loads(path.read_text())
        return found

    def requests(self) -> dict[str, tuple[Path, Mapping[str, Any]]]:
        """Return the requests of all jobs."""
        by_position = request_of_all(self.scene)
        # By key all windows of a generation are one comparison, which names every partition.
        whole = tuple(w for w in self.scene.windows if w.generation == 1 and w.topic in BY_KEY)
        by_key = replace(by_position, windows=whole, digest=KEY_DIGEST, schema_ids={})
        return {
            "by position": (JOB, by_position.to_document()),
            "by key": (JOB, by_key.to_document()),
            "translation": (TRANSLATE, translation()),
        }


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
    return Jobs(scene).results(tmp_path_factory.mktemp("expected") / "jobs")


def lasting(result: Result) -> Result:
    """Return what must not depend on the version."""
    return {name: value for name, value in result.items() if name not in OF_THE_RUN}


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_results_do_not_depend_on_the_version(
    scene: Scene, expected: dict[str, Result], cell: Cell, tmp_path: Path
) -> None:
    """Each version finds the same by position, by key and for offsets, with the same digests; none lets damage pass."""
    found = Jobs(scene).results(tmp_path / "jobs", cell)

    assert {cell.spark} == {result["spark_version"] for result in found.values()}
    for name, result in found.items():
        assert lasting(expected[name]) == lasting(result), name
    judged = {t.topic: t.verdict for t in judge_topics(ValidationResult.from_document(found["by position"]))}
    assert (Verdict.PASS, Verdict.FAIL) == (judged["equal"], judged["damaged"])
    by_key = {t.topic: t.verdict for t in judge_topics(ValidationResult.from_document(found["by key"]))}
    assert (Verdict.PASS, Verdict.FAIL) == (by_key["equal"], by_key["damaged"])
