"""Spark as `spark-submit` starts it: its versions, the connection's settings, `spark-defaults.conf`, and the jars."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.sdk.bases.hook import BaseHook

from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.task_thread import in_task_thread
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.spark.driver_java import quick_launcher
from kafka_migration.core.spark.spark_target import (
    SparkTarget,
    kafka_client_findings,
    own_settings,
    parsed_properties,
)
from kafka_migration.core.spark.spark_versions import (
    LIBRARIES,
    PACKAGES,
    PythonVersions,
)
from kafka_migration.core.text.shortened import brief

_TIMEOUT_S = 60
# Each Python 3 can run it.
_QUESTION = f"""
import importlib.util, json, sys
lacking = [name for name in {LIBRARIES} if importlib.util.find_spec(name) is None]
print(json.dumps([list(sys.version_info[:2]), lacking]))
"""


def asked_spark(binary: str) -> tuple[str, str]:
    """Return what Spark says of its versions, or why it does not; it starts Java for some seconds."""
    return _answer([binary, "--version"], {**os.environ, **quick_launcher(os.environ)})


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


def _answer(command: Sequence[str], environment: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Return what a command prints, or why it does not; by default it gets this process's environment."""
    try:
        ended = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return "", f"{type(error).__name__}: {error}"
    if ended.returncode == 0:
        return ended.stdout + ended.stderr, ""
    *_, last = ("no output", *ended.stderr.strip().splitlines())
    return "", f"exit code {ended.returncode}: {last}"


_VERSION_FILE = "kafka/kafka-version.properties"
_NAMED_VERSION = re.compile(r"kafka-clients-(\d[\w.]*?)(?:-[a-z]\w*)?\.jar")


@in_task_thread
def spark_target(connection_id: str) -> SparkTarget:
    """Return the Spark cluster of a connection. Raises `Refused` (`CONNECTION_INVALID`) if its hook fails."""
    try:
        found = SparkSubmitHook(conn_id=connection_id)._connection
        own = own_settings(BaseHook.get_connection(connection_id).extra_dejson)
    except Exception as error:
        raise Refused([_invalid(connection_id, error)]) from error
    defaults = _defaults_file(found["spark_binary"])
    text = defaults.read_text(errors="replace") if defaults and defaults.is_file() else ""
    mode = found["deploy_mode"] or _deploy_mode({**parsed_properties(text), **own})
    return SparkTarget(connection_id, found["master"], mode, own, text, found["spark_binary"])


def _deploy_mode(settings: Mapping[str, str]) -> str | None:
    """Return the deploy mode that `spark-submit` uses without `--deploy-mode`."""
    return settings.get("spark.submit.deployMode", "").strip() or os.environ.get("DEPLOY_MODE") or None


def _invalid(connection_id: str, error: Exception) -> Finding:
    return Finding(
        Code.CONNECTION_INVALID,
        f"connection {connection_id} (validation.spark_connection)",
        f"{type(error).__name__}: {error}",
        "a valid connection for the Spark provider",
        "Correct the setting of this connection that the message names. Then clear the task with its downstream tasks.",
        happened=f"Airflow's Spark provider cannot use the connection {connection_id}: {type(error).__name__}: "
        f"{error}.",
        matters="No Spark job can be started, so no copy can be validated.",
    )


def _defaults_file(binary: str) -> Path | None:
    """Return the path of the defaults file that `spark-submit` uses."""
    folder = spark_conf_folder(binary)
    return folder / "spark-defaults.conf" if folder else None


def spark_conf_folder(binary: str) -> Path | None:
    """Return the folder of Spark's configuration; `None` if the place of Spark is unknown."""
    if folder := os.environ.get("SPARK_CONF_DIR"):
        return Path(folder)
    home = spark_home(binary)
    return Path(home) / "conf" if home else None


def spark_home(binary: str) -> str | None:
    """Return the folder of the Spark that a command starts; `None` if it is unknown."""
    if home := os.environ.get("SPARK_HOME"):
        return home
    found = shutil.which(binary)
    if found is None:
        return None
    if not Path(found).with_name("find_spark_home.py").is_file():
        return str(Path(found).parent.parent)
    # Installed by pip: the scripts are in the environment's `bin`, Spark in its package.
    package = importlib.util.find_spec("pyspark")
    return str(Path(package.origin).parent) if package and package.origin else None


def spark_client_findings() -> tuple[Finding, ...]:
    """Return findings about the Kafka client of `spark_jars` if a login is used; the default client is safe."""
    jars = settings.spark_jars()
    return kafka_client_findings(kafka_client_versions(jars)) if jars else ()


def kafka_client_versions(jars: str) -> dict[str, str]:
    """Return the version of each Kafka client among comma-separated jars; for remote jars, from the file name."""
    places = [Path(jar.strip().removeprefix("file:")) for jar in jars.split(",")]
    versions = {place.name: _version(place) for place in places}
    return {name: version for name, version in versions.items() if version}


def _version(jar: Path) -> str | None:
    try:
        with zipfile.ZipFile(jar) as archive:
            text = archive.read(_VERSION_FILE).decode()
    except KeyError:
        return None
    except (OSError, zipfile.BadZipFile):
        named = _NAMED_VERSION.fullmatch(jar.name)
        return named[1] if named else None
    found = re.search(r"^version=(\S+)", text, re.MULTILINE)
    return found[1] if found else "unknown"
