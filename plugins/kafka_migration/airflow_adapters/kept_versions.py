"""The versions of Spark: what `spark-submit --version` said, kept for the same Spark and the same Java.

The question starts two JVMs, and each run asks it. The answer depends on the files of Spark and Java alone, so it is
kept beside the class archives, in a folder that no other user may change, under a key of these files. Of a command that
is not Spark's own script, such as a vendor's, the files are unknown, so it is asked each time.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from kafka_migration.adapters.system.archive_keys import jars_in, java_build, key_of, seen
from kafka_migration.adapters.system.class_archives import folder_problem, new_archive
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.installed_spark import asked_spark, spark_conf_folder, spark_home
from kafka_migration.core.spark.spark_versions import SparkVersions, parsed_versions

log = logging.getLogger(__name__)

# What decides which Python, Java and files the scripts of Spark find.
_DECIDING = ("PATH", "JAVA_HOME", "SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON")


def spark_versions(binary: str) -> SparkVersions:
    """Return the versions of Spark and Scala behind a command; if none are kept, it starts Java for some seconds."""
    command = f"{binary} --version"
    file = _file_of(binary)
    kept = parsed_versions(command, _text_of(file) if file else "")
    if not kept.unknown:
        return kept
    answer, problem = asked_spark(binary)
    found = SparkVersions(command, unknown=problem) if problem else parsed_versions(command, answer)
    if file and not found.unknown:
        _keep(file, answer)
    return found


def _file_of(binary: str) -> Path | None:
    """Return the path of the kept answer; `None` if the files of Spark or Java are unknown, or there is no folder."""
    folder = settings.class_archives()
    try:
        return folder / f"{_key_of(binary)}.txt" if folder is not None else None
    except OSError as error:
        log.debug("The answer of %s is not kept: %s", binary, error)
        return None


def _key_of(binary: str) -> str:
    """Return the key of an answer. Raises `OSError` if it may depend on files that are unknown."""
    home, command = spark_home(binary), shutil.which(binary)
    if home is None or command is None:
        raise FileNotFoundError(f"the place of Spark ({binary}) is unknown")
    own = Path(home, "bin", "spark-submit")
    if Path(command).read_bytes() != own.read_bytes():
        raise FileNotFoundError(f"{command} is not the script of the Spark in {home}")
    variables = [os.environ.get(name) for name in _DECIDING]
    return key_of("versions", home, java_build(), jars_in(Path(home, "jars")), variables, list(_scripts(binary, own)))


def _scripts(binary: str, own: Path) -> Iterator[list[object]]:
    """Yield what changes with each file that Spark's script reads before it starts Java."""
    conf = spark_conf_folder(binary)
    environment = [conf / "spark-env.sh"] if conf else []
    for path in (*sorted(own.parent.iterdir()), *environment):
        with suppress(FileNotFoundError):
            yield [str(path), *seen(path)]


def _text_of(file: Path) -> str:
    """Return a kept answer; empty without one, or if another user could have written it."""
    with suppress(OSError, RuntimeError, UnicodeDecodeError):
        return "" if folder_problem(file.parent) else file.read_text()
    return ""


def _keep(file: Path, answer: str) -> None:
    """Keep an answer instead of the older ones of the same Spark; what prevents that is no error."""
    with suppress(OSError, RuntimeError), new_archive(file.parent) as path:
        if folder_problem(file.parent):
            return
        path.write_text(answer)
        path.rename(file)
        for old in file.parent.glob(f"{file.stem.rpartition('-')[0]}-*.txt"):
            if old.name != file.name:
                old.unlink()
