"""The class archive that the bootstrap has made with `kafka-migration spark-archive`, and the real Spark."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_migration.core.spark.driver_java import DEFAULT_OPTIONS, driver_settings
from kafka_migration.core.spark.spark_target import SparkTarget
from sandbox.shared_classes import FOLDER, spark_options

pytestmark = pytest.mark.live

LOADED = "org.apache.spark.deploy.SparkSubmit source: shared objects file (top)"


@pytest.fixture
def archive() -> tuple[str, ...]:
    """The Java options for the archive of this checkout's Spark."""
    if not spark_options():
        pytest.fail(f"{FOLDER} has no class archive of Spark; `make bootstrap` makes it, or says why it cannot.")
    return spark_options()


def versions(*options: str, **environment: str) -> str:
    """Return what `spark-submit --version` prints with these Java options of the driver."""
    command = [str(Path(sys.executable).parent / "spark-submit"), "--conf", f"{DEFAULT_OPTIONS}={' '.join(options)}"]
    own = {**os.environ, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", **environment}
    done = subprocess.run(
        [*command, "--version"], env=own, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    )
    return done.stdout


def test_driver_takes_its_classes_from_the_archive(archive: tuple[str, ...]) -> None:
    """The JVM of `spark-submit` uses the archive."""
    assert LOADED in versions(*archive, "-Xlog:class+load")


def test_path_with_spaces_and_quotes_is_understood(archive: tuple[str, ...], tmp_path: Path) -> None:
    """Spark splits our options so that any path of the archive is one option."""
    folder = tmp_path / 'it\'s a "folder"'
    folder.mkdir()
    copied = shutil.copy(archive[0].partition("=")[2], folder / "a.jsa")
    setting = driver_settings(SparkTarget("spark", "local"), {}, records=0, archive=str(copied))

    assert LOADED in versions(setting[DEFAULT_OPTIONS], "-Xlog:class+load")


def test_archive_of_another_class_path_is_ignored(archive: tuple[str, ...], tmp_path: Path) -> None:
    """With another folder of settings on the class path Spark starts without the archive, and says nothing of it."""
    (tmp_path / "spark-defaults.conf").touch()
    other = {"SPARK_CONF_DIR": str(tmp_path)}

    assert LOADED not in versions(*archive, "-Xlog:class+load", **other)
    assert versions(**other) == versions(*archive, **other)
