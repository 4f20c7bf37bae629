"""The class archive of a Spark installation: where it is, for which JVM and jars it is, and how it is made."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from kafka_migration.adapters.system.class_archives import usable_archive
from kafka_migration.airflow_adapters import airflow_settings as settings
from kafka_migration.airflow_adapters.installed_spark import spark_conf_folder, spark_home
from kafka_migration.core.spark.spark_target import SparkTarget

log = logging.getLogger(__name__)

# What Spark's scripts add to the class path of the driver.
_CLASS_PATH = ("SPARK_DIST_CLASSPATH", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
_EXTRA_CLASS_PATH = "spark.driver.extraClassPath"


def archive_of(key: str) -> str | None:
    """Return the path of the class archive with this key; `None` without a usable one.

    It takes about a tenth of a second. Whatever is wrong with an archive or its folder, the job starts without it.
    """
    folder = settings.class_archives()
    found = usable_archive(folder, key) if folder is not None else None
    # A colon separates two archives.
    return str(found) if found is not None and ":" not in str(found) else None


def archive_key(target: SparkTarget) -> str:
    """Return the beginning of the archive's name: digests of Spark's place, and of its jars with the JVM's build.

    Empty if the place of Spark or of Java is unknown.
    """
    home, java = spark_home(target.binary), _java_home()
    try:
        build = [*_java_build(java), *_class_path(target, home)] if home and java else []
    except OSError as error:
        log.info("No class archive is used: %s", error)
        return ""
    return f"spark-{_digest([home])[:12]}-{_digest(build)[:24]}" if build else ""


def _digest(values: object) -> str:
    return hashlib.sha256(json.dumps(values).encode()).hexdigest()


def _java_home() -> str | None:
    """Return the folder of the Java that `spark-class` starts."""
    java = Path(home, "bin", "java") if (home := os.environ.get("JAVA_HOME")) else shutil.which("java")
    return str(Path(java).resolve().parents[1]) if java else None


def _java_build(home: str) -> Iterator[object]:
    """Yield what changes with each build of a JVM."""
    yield home
    for name in ("release", "lib/modules", "lib/server/libjvm.so"):
        yield _seen(Path(home, name))


def _class_path(target: SparkTarget, home: str) -> Iterator[object]:
    """Yield what decides about the class path. The order of the jars is that of the folder, as for the JVM."""
    yield [os.environ.get(name, "") for name in _CLASS_PATH]
    yield target.settings.get(_EXTRA_CLASS_PATH, "")
    yield str(spark_conf_folder(target.binary))
    with os.scandir(Path(home, "jars")) as entries:
        yield from ([entry.name, *_seen(Path(entry.path))] for entry in entries)


def _seen(path: Path) -> list[int]:
    """Return size and time of a file in whole seconds, by which a JVM recognizes a jar."""
    found = path.stat()
    return [found.st_size, int(found.st_mtime)]
