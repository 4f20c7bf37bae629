"""Class archives in `.cache/class-archives`, with which the JVMs of Kafka and of Spark's driver start sooner.

The bootstrap makes them once for each build of Java and each set of jars. Kafka's archive has the classes of a broker,
of its tools and of MirrorMaker; `kafka-migration spark-archive` makes Spark's. A JVM ignores an archive that does not
fit, and without one everything starts as before.

`python -m sandbox.shared_classes` makes Kafka's archive.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from sandbox import jars

PROJECT = jars.PROJECT
# The product's own store of archives and Java options; nothing is installed where the sandbox runs.
sys.path.append(str(PROJECT / "plugins"))

from kafka_migration.adapters.system.archive_keys import jars_in, java_build, key_of  # noqa: E402
from kafka_migration.adapters.system.class_archives import folder_problem, keep, new_archive, usable_archive  # noqa: E402
from kafka_migration.core.spark.driver_java import SILENT_SHARING  # noqa: E402

FOLDER = PROJECT / ".cache" / "class-archives"
TIMEOUT_S = 1800
CONNECTION = "sandbox_spark"
_WORD = re.compile(r"[^\s:'\"\\]+")
# A class, whose number newer JVMs add, or what a JVM wants to know of a lambda.
_CLASS = re.compile(r"[^\s@#]+(?=( id: \d+)?$)|@.+")


def kafka_options(version: str = jars.KAFKA_VERSION) -> tuple[str, ...]:
    """Return the Java options for a JVM with the class path `libs/*` of a Kafka; none without an archive for it."""
    try:
        return _options(_archive(_kafka_key())) if version == jars.KAFKA_VERSION else ()
    except OSError:
        return ()


def spark_options() -> tuple[str, ...]:
    """Return the Java options for the driver of the Spark in `.venv`; none without an archive for it."""
    return _options(spark_archive())


def spark_archive() -> Path | None:
    """Return the path of the newest archive of a Spark in this checkout; `None` without one."""
    keys = {path.name.rpartition("-")[0] for path in FOLDER.glob(f"{key_of('spark', _spark_home(), '')[:19]}*.jsa")}
    return next(filter(None, map(_archive, keys)), None)


def _spark_home() -> str:
    return str(next(PROJECT.glob(".venv/lib/python*/site-packages/pyspark"), PROJECT))


def _options(archive: Path | None) -> tuple[str, ...]:
    """Return the options for an archive; none if its path could not be a word of `JAVA_TOOL_OPTIONS`."""
    return (f"-XX:SharedArchiveFile={archive}", *SILENT_SHARING) if archive and _WORD.fullmatch(str(archive)) else ()


@functools.cache
def _archive(key: str) -> Path | None:
    return usable_archive(FOLDER, key)


def _kafka_key() -> str:
    libs = jars.kafka_home() / "libs"
    return key_of("kafka", str(libs), java_build(), jars_in(libs))


def ensure(say: Callable[[str], None], python: Path, environment: str) -> None:
    """Make the archives that are missing; prints nothing if there is nothing to do.

    What failed is not tried again before something changes: the sandbox works without archives.

    :param python: of the virtual environment
    :param environment: the stamp of the virtual environment
    """
    try:
        wanted = key_of("tried", str(PROJECT), java_build(), environment, jars.LOCK.read_text(), _REHEARSAL.read_text())
    except OSError as error:
        say(f"class archives: none are made: {error}")
        return
    done = FOLDER / wanted.rpartition("-")[0]
    if done.is_file() and done.read_text() == wanted:
        return
    say("class archives: making them, so that Kafka and Spark start sooner (takes a minute or two)")
    for what, command in _commands(python).items():
        problem = _run(command)
        say(f"class archives: {what}: {problem or 'done'}")
    FOLDER.mkdir(mode=0o700, exist_ok=True)
    done.write_text(wanted)


_REHEARSAL = PROJECT / "spark_jobs" / "kafka_digest" / "rehearsal.py"


def _commands(python: Path) -> Mapping[str, tuple[str, ...]]:
    return {
        "Kafka": (str(python), "-m", "sandbox.shared_classes"),
        "Spark": (str(python), "-m", "kafka_migration", "spark-archive", CONNECTION),
    }


def _run(command: tuple[str, ...]) -> str:
    """Run a command that makes an archive; return the end of its output if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        own = {
            "AIRFLOW_HOME": folder,
            "PATH": f"{Path(command[0]).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "PYTHONPATH": os.pathsep.join((str(PROJECT), str(PROJECT / "plugins"))),
            "PYSPARK_PYTHON": command[0],
            "SPARK_LOCAL_IP": "127.0.0.1",
            f"AIRFLOW_CONN_{CONNECTION.upper()}": json.dumps({"conn_type": "spark", "host": "local[2]"}),
            "AIRFLOW__KAFKA_MIGRATION__CLASS_ARCHIVES": str(FOLDER),
            "AIRFLOW__KAFKA_MIGRATION__SPARK_JARS": ",".join(map(str, jars.spark_jars())),
        }
        try:
            done = subprocess.run(
                command,
                cwd=PROJECT,
                env={**os.environ, **own},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=TIMEOUT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return str(error)
    return "" if done.returncode == 0 else " ".join(done.stdout.split())[-500:] or f"exit code {done.returncode}"


def merged(lists: Iterable[str]) -> str:
    """Return one list of the classes in several lists of a JVM, without the numbers, which differ from list to list.

    Classes that a program's own class loader has loaded are left out.
    """
    found = (match[0] for text in lists for line in text.splitlines() if (match := _CLASS.match(line)))
    return "".join(f"{name}\n" for name in dict.fromkeys(found))


def make_kafka_archive() -> Path:
    """Make Kafka's archive and return its path."""
    from sandbox.class_lists import class_lists

    with tempfile.TemporaryDirectory() as name, new_archive(FOLDER) as archive:
        if problem := folder_problem(FOLDER):
            sys.exit(f"no archive of this folder would be used: {problem}")
        listed = Path(name) / "all.classes"
        listed.write_text(merged(class_lists(Path(name))))
        command = ("java", "-Xshare:dump", f"-XX:SharedClassListFile={listed}", f"-XX:SharedArchiveFile={archive}")
        libs = ("-cp", f"{jars.kafka_home() / 'libs'}/*")
        subprocess.run((*command, *libs), capture_output=True, check=True, timeout=TIMEOUT_S)
        return keep(archive, _kafka_key())[0]


if __name__ == "__main__":
    print(make_kafka_archive())
