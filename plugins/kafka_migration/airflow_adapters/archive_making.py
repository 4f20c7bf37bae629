"""Makes the class archive of a Spark installation: a rehearsal of the jobs, whose JVM writes it when it ends."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kafka_migration.adapters.system.class_archives import folder_problem, keep, new_archive
from kafka_migration.adapters.system.private_folder import private_folder, write_private
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.installed_spark import spark_target
from kafka_migration.airflow_adapters.kept_versions import spark_versions
from kafka_migration.airflow_adapters.spark_archive import archive_key
from kafka_migration.core.findings.codes import Code
from kafka_migration.core.findings.errors import Finding, Refused
from kafka_migration.core.spark.driver_java import DEFAULT_OPTIONS, QUICK_COMPILER, quoted, shares_classes, user_options
from kafka_migration.core.spark.spark_target import SparkTarget, properties_text, protecting_settings

_TIMEOUT_S = 1800
# Characters of the end of an output, which has the reason.
_SHOWN = 300
_LOCAL = "local[2]"
# The settings of the connection that decide which JVM, classes and Python the driver has.
_KEPT = (
    *("spark.driver.memory", "spark.driver.extraJavaOptions", "spark.driver.extraClassPath"),
    *("spark.driver.extraLibraryPath", "spark.pyspark.python", "spark.pyspark.driver.python"),
)
_QUIET = {"spark.ui.enabled": "false", "spark.log.level": "ERROR"}


@dataclass(frozen=True, slots=True)
class MadeArchive:
    """A class archive that was made, and the older ones that were removed."""

    path: Path
    removed: tuple[Path, ...]


def make_archive(connection_id: str) -> MadeArchive:
    """Make the class archive for the Spark of a connection; it takes some minutes of processor time.

    Raises `Refused` (`CLASS_ARCHIVE_NOT_MADE`) if the worker or the JVM cannot have one, or `CONNECTION_INVALID`.
    """
    target = spark_target(connection_id)
    folder = settings.class_archives()
    if problem := _problem(target, folder):
        raise _refused(connection_id, problem)
    assert folder is not None
    try:
        with new_archive(folder) as path:
            if problem := folder_problem(folder):
                raise _refused(connection_id, problem)
            _rehearse(target, path)
            kept, removed = keep(path, archive_key(target))
    except (OSError, subprocess.SubprocessError) as error:
        raise _refused(connection_id, str(error)) from error
    return MadeArchive(kept, tuple(removed))


def _problem(target: SparkTarget, folder: Path | None) -> str:
    """Return why no archive can be made or used; empty if one can."""
    if folder is None:
        return "[kafka_migration] class_archives names no folder, or this user has no home"
    if ":" in str(folder.resolve()):
        return f"the path {folder.resolve()} has a colon, which separates two archives"
    if target.ships_files:
        return "the driver runs in the cluster (deploy mode cluster)"
    if DEFAULT_OPTIONS in target.settings or shares_classes(user_options(target, os.environ)):
        return f"the Java options of the driver already decide about class sharing, or {DEFAULT_OPTIONS} is set"
    return "" if archive_key(target) else f"the folders of Spark ({target.binary}) and of its Java are unknown"


def _rehearse(target: SparkTarget, path: Path) -> None:
    """Write an archive, and check that the same JVM uses it. Raises `Refused`."""
    with private_folder() as folder:
        kept = {name: value for name, value in target.settings.items() if name in _KEPT}
        properties = write_private(folder / "spark.properties", properties_text("", kept))
        jobs = settings.spark_jobs_folder()
        rehearsal = [*_connector(target), str(jobs / "rehearse.py")]
        making = f"{quoted(f'-XX:ArchiveClassesAtExit={path}')} {QUICK_COMPILER}"
        said = _submitted(target, properties, making, rehearsal)
        if not path.is_file():
            raise _refused(target.connection, f"the JVM wrote none: {said}")
        _submitted(target, properties, f"-Xshare:on {quoted(f'-XX:SharedArchiveFile={path}')}", ["--version"])


def _connector(target: SparkTarget) -> Iterator[str]:
    if jars := settings.spark_jars():
        yield from ("--jars", jars)
    elif packages := spark_versions(target.binary).packages:
        yield from ("--packages", packages)


def _submitted(target: SparkTarget, properties: str, options: str, arguments: Sequence[str]) -> str:
    """Run `spark-submit` with Java options and return the end of its output. Raises `Refused` if it fails."""
    conf = {**_QUIET, **protecting_settings(replace(target, master=_LOCAL)), DEFAULT_OPTIONS: options}
    ended = subprocess.run(
        [
            *(target.binary, "--master", _LOCAL, "--deploy-mode", "client", "--properties-file", properties),
            *(word for name, value in conf.items() for word in ("--conf", f"{name}={value}")),
            *arguments,
        ],
        env={**os.environ, "PYTHONPATH": _python_path()},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=_TIMEOUT_S,
        check=False,
    )
    said = " ".join(ended.stdout.split())[-_SHOWN:]
    if ended.returncode:
        raise _refused(target.connection, f"spark-submit ended with code {ended.returncode}: {said}")
    return said


def _python_path() -> str:
    """Return the path of Python on which the rehearsal finds its package."""
    return os.pathsep.join(filter(None, (str(settings.spark_jobs_folder()), os.environ.get("PYTHONPATH"))))


def _refused(connection_id: str, reason: str) -> Refused:
    return Refused(
        [
            Finding(
                Code.CLASS_ARCHIVE_NOT_MADE,
                f"connection {connection_id}",
                reason,
                "a class archive for the JVM of Spark's driver",
                "Correct what the reason names, then run the command again as the user of the worker.",
                happened=f"No class archive was made for the Spark of the connection {connection_id}: {reason}.",
                matters="Spark jobs start without one, which takes some seconds longer.",
            )
        ]
    )
