"""Rules of what Airflow asks of Spark's versions: by real commands, in preflight, and before a submission."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook

from kafka_migration.airflow_adapters.installed_spark import installed_packages, python_versions
from kafka_migration.airflow_adapters.kept_versions import spark_versions
from kafka_migration.core.evidence.evidence_documents import Kind
from kafka_migration.core.spark.spark_target import SparkTarget
from kafka_migration.core.spark.spark_versions import PythonVersions, SparkVersions
from tests.airflow.world import World
from tests.steps.world import P0, RECORD


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Make a command of this name on the PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def make(name: str, text: str) -> Path:
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
        return tmp_path / name

    return make


def test_the_installed_spark_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real `spark-submit` of this environment tells Spark 4.0.0 and Scala 2.13."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")

    assert SparkVersions("spark-submit --version", "4.0.0", "2.13") == spark_versions("spark-submit")


@pytest.mark.parametrize(
    ("text", "unknown"),
    [("echo no Java >&2; exit 3", "exit code 3: no Java"), ("exit 4", "exit code 4: no output"), ("true", "names no")],
)
def test_spark_that_does_not_answer_is_unknown(command: Any, text: str, unknown: str) -> None:
    """A command that fails gives no version, but its last line."""
    command("spark-submit", text)

    assert unknown in spark_versions("spark-submit").unknown


def test_version_is_asked_quickly(command: Any) -> None:
    """Spark is asked for its version with the quick compiler of the JVM."""
    command("spark-submit", 'echo version 4.0.0; echo Using Scala version 2.13.16; test -n "$SPARK_SUBMIT_OPTS"')

    assert ("4.0.0", "") == (spark_versions("spark-submit").spark, spark_versions("spark-submit").unknown)


def test_missing_command_is_unknown() -> None:
    """A command that does not exist gives no version."""
    assert "FileNotFoundError" in spark_versions("spark3-submit-of-nobody").unknown


def test_driver_python_is_the_one_that_spark_takes(command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The connection's settings come before the environment, the driver's before those of all."""
    answers = {name: str(command(name, f"echo '[[3, {n}], []]'")) for n, name in enumerate(["a", "b", "c", "d"])}
    settings: dict[str, str] = {}
    found = []
    for place, name in ((None, "d"), (None, "c"), ("spark.pyspark.python", "b"), ("spark.pyspark.driver.python", "a")):
        if place:
            settings[place] = answers[name]
        else:
            monkeypatch.setenv("PYSPARK_PYTHON" if name == "d" else "PYSPARK_DRIVER_PYTHON", answers[name])
        found.append(python_versions(SparkTarget("spark", "local[2]", own=settings)))

    assert [PythonVersions(answers[name], (3, n)) for n, name in ((3, "d"), (2, "c"), (1, "b"), (0, "a"))] == found


def test_real_python_tells_its_libraries(monkeypatch: pytest.MonkeyPatch) -> None:
    """This interpreter tells its version, and that it has numpy and pyarrow."""
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.delenv("PYSPARK_DRIVER_PYTHON", raising=False)

    assert PythonVersions(sys.executable, sys.version_info[:2]) == python_versions(SparkTarget("spark", "local[2]"))


@pytest.mark.parametrize("text", ["true", "echo hello"])
def test_python_that_prints_something_else_is_unknown(command: Any, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """An answer that cannot be read is no version, and no error."""
    monkeypatch.setenv("PYSPARK_PYTHON", str(command("odd-python", text)))
    monkeypatch.delenv("PYSPARK_DRIVER_PYTHON", raising=False)
    found = python_versions(SparkTarget("spark", "local[2]"))

    assert found is not None
    assert found.unknown.startswith("it printed")


def test_installed_packages_have_versions() -> None:
    """Both packages of Spark are installed here, in one version."""
    assert {"pyspark": "4.0.0", "pyspark-client": "4.0.0"} == installed_packages()


def test_python_in_the_cluster_is_not_asked() -> None:
    """With deploy mode `cluster` the worker's Python says nothing."""
    assert python_versions(SparkTarget("spark", "yarn", "cluster")) is None


@pytest.mark.parametrize(
    ("spark", "python", "jars", "said"),
    [
        ("3.3.1", None, "", r"Spark 3\.3\.1"),
        ("3.5.1", None, "/j/spark-sql-kafka-0-10_2.12-3.5.1.jar", r"2\.12-3\.5\.1\.jar.*with Scala 2\.13"),
        ("4.0.0", PythonVersions("python3", (3, 8)), "", r"Python 3\.8"),
    ],
)
def test_preflight_refuses_versions_that_do_not_fit(
    world: World, monkeypatch: pytest.MonkeyPatch, spark: str, python: PythonVersions | None, jars: str, said: str
) -> None:
    """Nothing starts with versions that cannot work together."""
    monkeypatch.setenv("AIRFLOW__KAFKA_MIGRATION__SPARK_JARS", jars)
    world.spark_versions, world.python_versions = SparkVersions("spark-submit", spark, "2.13"), python

    world.refuses("preflight", match=f"SPARK_VERSION_MISMATCH (?s:.*){said}")


def test_preflight_warns_of_an_unknown_version(world: World) -> None:
    """A Spark that does not tell its version is not refused, but named; the job checks it."""
    world.spark_versions = SparkVersions("spark-submit", unknown="exit code 1: no Java")
    world.do("preflight")

    (warning,) = world.run.evidence.require(Kind.PREFLIGHT)["warnings"]
    assert ("SPARK_VERSION_MISMATCH", "unknown version: exit code 1: no Java") == (warning["code"], warning["found"])


def test_no_connector_is_guessed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without `spark_jars` and with an unknown Spark nothing is submitted: its connector is unknown too."""
    world.source.produce("orders", 0, RECORD)
    world.copy({P0: 1})
    world.spark_versions = SparkVersions("spark-submit", unknown="exit code 1: no Java")
    monkeypatch.setattr(SparkSubmitHook, "submit", lambda *_: pytest.fail("Spark was started"))

    world.refuses("validate_topics", match="SPARK_VERSION_MISMATCH")
