"""Tasks that validate on a real YARN, each a process of its own, and what is left of them."""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kafka_migration.core.validation.validation_contract import ValidationRequest
from sandbox.environment import base_environment
from sandbox.processes import belonging, end_all
from sandbox.yarn import YarnCluster
from tests.conftest import MIGRATION_TEXT
from tests.live.spark_cluster import ACCEPTED, SparkCluster
from tests.live.test_validate_place import task_settings
from tests.live.validating_task import LOGIN, NAME
from tests.live.validation_scene import Clusters
from tests.waiting import wait_until

# A login that nothing uses, so that only a search finds it.
CANARY = "canary-kafka-login-8f31c2d0"
BEGUN = re.compile(r"validate_topics: Spark \S+ runs this job on yarn as (application_\w+): (http://\S+)")
START_LIMIT = "AIRFLOW__KAFKA_MIGRATION__SPARK_START_LIMIT"
# A busy machine needs minutes to start a driver and its executor.
PATIENCE_S = 900
ENDED = ("FINISHED", "FAILED", "KILLED")


@dataclass(frozen=True)
class Yarn:
    """A running YARN, the clusters to compare, and the marker of all its processes."""

    cluster: YarnCluster
    clusters: Clusters
    marker: str

    def running(self) -> list[str]:
        """Return the applications that have not ended."""
        return [each["id"] for each in self.cluster.applications() if each["state"] not in ENDED]

    def containers(self, words: str) -> list[int]:
        """Return the JVMs in containers whose command line has these words."""
        found = (process.pid for process in belonging(self.marker))
        return [pid for pid in found if words in _command_line(pid) and "/bin/bash" not in _command_line(pid)]

    def staged(self) -> list[str]:
        """Return what was shipped and not removed."""
        return [str(path) for path in (self.cluster.folder / "staging").rglob("*") if path.is_file()]


@dataclass(frozen=True)
class Task:
    """A task `validate_topics`, and its folder."""

    process: subprocess.Popen[bytes]
    folder: Path
    marker: str

    @property
    def log(self) -> str:
        """What it has logged."""
        return (self.folder / "task.log").read_text()

    @property
    def result(self) -> dict[str, Any]:
        """The result in the evidence root."""
        (path,) = (self.folder / "evidence").rglob("*-validation-result-*.json")
        found: dict[str, Any] = json.loads(path.read_text())
        return found

    @property
    def has_result(self) -> bool:
        """Whether the job came to its end."""
        return any((self.folder / "evidence").rglob("*-validation-result-*.json"))

    def letters(self) -> list[str]:
        """Return the letters in the evidence root."""
        return [path.name for path in (self.folder / "evidence").rglob("*.letter")]

    def application(self) -> str:
        """Wait for the application and return its id."""
        wait_until(
            lambda: BEGUN.search(self.log) or self.process.poll() is not None, PATIENCE_S, "the start of the job"
        )
        found = BEGUN.search(self.log)
        assert found, self.log[-4000:]
        return found[1]

    def ended(self) -> int:
        """Wait for the end and return the exit code."""
        return self.process.wait(2 * PATIENCE_S)


@contextmanager
def yarn_task(
    yarn: Yarn, folder: Path, request: ValidationRequest, extra: Mapping[str, str | None], **environment: str
) -> Iterator[Task]:
    """Run a task whose Spark connection has this extra besides YARN's settings; what is left of it is ended."""
    (folder / f"{NAME}.yaml").write_text(MIGRATION_TEXT + ACCEPTED)
    (folder / "request.json").write_text(json.dumps(request.to_document()))
    login = {"sasl.mechanism": "PLAIN", "sasl.username": "somebody", "sasl.password": CANARY}
    (folder / LOGIN).write_text(json.dumps({**login, "security.protocol": "PLAINTEXT"}))
    marker = secrets.token_hex(8)
    with (folder / "task.log").open("w") as output:
        task = subprocess.Popen(
            [sys.executable, "-m", "tests.live.validating_task", str(folder)],
            env={**base_environment(marker), **_settings(yarn, folder, extra), **environment},
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield Task(task, folder, marker)
        finally:
            end_all(marker)
            task.wait()


def _settings(yarn: Yarn, folder: Path, extra: Mapping[str, str | None]) -> dict[str, str]:
    (folder / "tmp").mkdir(exist_ok=True)
    given = {**yarn.cluster.spark_settings, **extra}
    on_yarn = SparkCluster("yarn", "", {name: value for name, value in given.items() if value is not None})
    return {
        **task_settings(yarn.clusters, on_yarn, folder),
        "AIRFLOW__KAFKA_MIGRATION__SPARK_EVIDENCE_ROOT": (folder / "evidence").as_uri(),
        "HADOOP_CONF_DIR": str(yarn.cluster.conf),
        "TMPDIR": str(folder / "tmp"),
    }


def _command_line(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
