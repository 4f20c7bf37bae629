"""The class archive of a Spark installation: for which JVM and jars it is, and where it is."""

from __future__ import annotations

import logging
import os
from pathlib import Path

from kafka_migration.adapters.system.archive_keys import jars_in, java_build, key_of
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
    """Return the key of the archive for the driver of a Spark; empty if the place of Spark or of Java is unknown."""
    home = spark_home(target.binary)
    if home is None:
        return ""
    added = [*(os.environ.get(name, "") for name in _CLASS_PATH), target.settings.get(_EXTRA_CLASS_PATH, "")]
    try:
        jars = jars_in(Path(home, "jars"))
        return key_of("spark", home, java_build(), jars, added, str(spark_conf_folder(target.binary)))
    except OSError as error:
        log.info("Spark starts without a class archive: %s", error)
        return ""
