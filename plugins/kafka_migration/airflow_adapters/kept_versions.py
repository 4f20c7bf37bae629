"""The versions of Spark: what `spark-submit --version` said, kept for the same Spark and the same Java.

The question starts two JVMs, and each run asks it. The answer depends on the files of Spark and Java alone, so it is
kept beside the class archives, in a folder that no other user may change, under a key of these files. Of a command that
is not Spark's own script, such as a vendor's, the files are unknown, so it is asked each time.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
from contextlib import suppress
from pathlib import Path

from kafka_migration.adapters.system.archive_keys import jars_in, java_build, key_of, seen
from kafka_migration.adapters.system.class_archives import folder_problem, new_archive, own_file
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.installed_spark import asked_spark, spark_conf_folder, spark_home
from kafka_migration.core.spark.driver_java import OPTION_VARIABLES
from kafka_migration.core.spark.spark_versions import SparkVersions, parsed_versions

log = logging.getLogger(__name__)

# Asks a Python for the place of a Spark that pip installed.
_FINDER = "find_spark_home.py"
# Far more than Spark says.
_MOST_BYTES = 1 << 16
# What decides which Python, Java and files the scripts of Spark find, and whether Java starts.
_DECIDING = (
    *("PATH", "JAVA_HOME", "SPARK_HOME", "SPARK_CONF_DIR", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"),
    *OPTION_VARIABLES,
)


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
    """Return the path of the kept answer; `None` if it may depend on unknown files, or if there is no folder."""
    folder = settings.class_archives()
    try:
        return folder / f"{_key_of(binary)}.txt" if folder is not None else None
    except (OSError, RuntimeError, ValueError) as error:
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
    if not os.environ.get("SPARK_HOME") and Path(command).with_name(_FINDER).is_file():
        _require_this_python()
    conf = spark_conf_folder(binary)
    if conf and (conf / "spark-env.sh").exists():
        raise FileExistsError(f"{conf / 'spark-env.sh'} may lead to any Spark and Java")
    variables = [os.environ.get(name) for name in _DECIDING]
    scripts = [*sorted(own.parent.iterdir()), *sorted(Path(command).parent.glob("find?spark?home*"))]
    files = [[str(path), *seen(path)] for path in scripts]
    return key_of("versions", home, java_build(), jars_in(Path(home, "jars")), variables, files)


def _require_this_python() -> None:
    """Raise `OSError` if the script of a Spark that pip installed asks another Python for the place of Spark."""
    named = next(filter(None, map(os.environ.get, ("PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON"))), "python3")
    asked = shutil.which(named)
    if asked is None or Path(asked).parent != Path(sys.executable).parent:
        raise FileNotFoundError(f"{named} is not the Python of this process")


def _text_of(file: Path) -> str:
    """Return a kept answer; empty without one, or if another user could have written it."""
    with suppress(OSError, RuntimeError, UnicodeDecodeError):
        if not folder_problem(file.parent):
            with own_file(file, _MOST_BYTES) as opened:
                return opened.read().decode()
    return ""


def _keep(file: Path, answer: str) -> None:
    """Keep an answer instead of the older ones of the same Spark; what prevents that is no error."""
    with suppress(OSError, RuntimeError), new_archive(file.parent) as path:
        if folder_problem(file.parent):
            return
        path.write_text(answer)
        path.chmod(0o400)
        path.rename(file)
        for old in file.parent.glob(f"{file.stem.rpartition('-')[0]}-*.txt"):
            if old.name != file.name:
                old.unlink()
