"""Asks `spark-submit` and the driver's Python for their versions."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from kafka_migration.core.spark.spark_target import SparkTarget
from kafka_migration.core.spark.spark_versions import (
    LIBRARIES,
    PACKAGES,
    PythonVersions,
    SparkVersions,
    parsed_versions,
)
from kafka_migration.core.text.shortened import brief

_TIMEOUT_S = 60
# Each Python 3 can run it.
_QUESTION = f"""
import importlib.util, json, sys
lacking = [name for name in {LIBRARIES} if importlib.util.find_spec(name) is None]
print(json.dumps([list(sys.version_info[:2]), lacking]))
"""


def spark_versions(binary: str) -> SparkVersions:
    """Return the versions of Spark and Scala behind a command; it starts Java for some seconds."""
    command = f"{binary} --version"
    answer, problem = _answer([binary, "--version"])
    return SparkVersions(command, unknown=problem) if problem else parsed_versions(command, answer)


def installed_packages() -> dict[str, str | None]:
    """Return the version of each package of Spark in Airflow's environment; `None` if it is not installed."""
    return {name: _installed(name) for name in PACKAGES}


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def python_versions(target: SparkTarget) -> PythonVersions | None:
    """Return the versions of the driver's Python; `None` if the driver runs in the cluster."""
    if target.ships_files:
        return None
    python = _driver_python(target)
    answer, problem = _answer([python, "-c", _QUESTION])
    if problem:
        return PythonVersions(python, unknown=problem)
    try:
        numbers, lacking = json.loads(answer.splitlines()[-1])
    except (IndexError, ValueError):
        return PythonVersions(python, unknown=f"it printed {brief(answer) or 'nothing'}")
    return PythonVersions(python, tuple(numbers), tuple(lacking))


def _driver_python(target: SparkTarget) -> str:
    """Return the command that Spark runs the driver's Python with."""
    names = ("spark.pyspark.driver.python", "spark.pyspark.python")
    own = [target.settings.get(name, "") for name in names]
    environment = [os.environ.get(name, "") for name in ("PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON")]
    return next(filter(None, (*own, *environment)), "python3")


def _answer(command: Sequence[str]) -> tuple[str, str]:
    """Return what a command prints, or why it does not."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"{type(error).__name__}: {error}"
    if ended.returncode == 0:
        return ended.stdout + ended.stderr, ""
    *_, last = ("no output", *ended.stderr.strip().splitlines())
    return "", f"exit code {ended.returncode}: {last}"
